package purefile

import "time"

var (
	kinds = [...]string{classic: "classic", blocked: "blocked", layered: "layered", spectral: "spectral",
		paired: "paired", scalable: "scalable", window: "window", static: "static", exact: "exact"}
	hashes = [...]string{hashXXH3: "xxh3", hashSip: "siphash", hashJenkins: "jenkins", hashMurmur2: "murmur2",
		hashMurmur3: "murmur3", hashMD5: "md5", hashSHA1: "sha1", hashMixed: "mixed"}
	profiles = [...]string{"", "safe", "crawl", "gsb", "scrapy", "shape"}
)

// Info describes a filter.
type Info struct {
	Version      uint32 // of the format
	Kind         string
	PartKind     string // of its bodies
	Hash         string
	Profile      string // of its URLs; "": keys are any bytes
	URLRules     uint64 // identifies the rules of the profile
	Filters      int    // how many must agree
	Machine      int    // the file holds only this one of them; 0: all
	Capacity     uint64 // keys that it (scalable: its first part) is sized for
	Rate         float64
	Visit        uint64
	Offered      uint64 // keys passed to add, at the last record
	Keys         uint64 // of these, new ones that were not removed; static: distinct ones
	Syncs        uint64
	Synced       bool // not changed since the last sync
	Time         time.Time
	Dates        bool // Days works
	KeyInFile    bool
	Seeded       bool // made from a seed: not secret
	CounterBits  int
	Generations  int
	WindowLength time.Duration // 0: by keys
	Parts        []PartInfo
	Bytes        uint64 // of the bodies
}

// PartInfo describes one body.
type PartInfo struct {
	Kind     string
	Bits     uint64
	Hashes   int
	Layer    int
	Capacity uint64
	Rate     float64
	Bytes    uint64
	Keys     uint64
}

// Info describes the filter at its last sync record.
func (f *File) Info() Info {
	h := f.h
	r := f.last.Load().(*record)
	if now, err := f.readRecord(f.opt.Repair); err == nil {
		r = now
	}
	i := Info{
		Version: h.version, Kind: kinds[h.kind], PartKind: kinds[h.partKind], Hash: hashes[h.hash],
		Profile: profiles[h.profile], URLRules: h.urlRules, Filters: int(h.filters), Machine: int(h.machine),
		Capacity: h.capacity, Rate: h.rate, Visit: h.visit, Offered: r.offered, Syncs: r.syncs,
		Synced: r.sealed, Time: time.Unix(int64(r.time&(1<<40-1)), 0).UTC(), Dates: h.has(flagDates),
		KeyInFile: !h.has(flagApart), Seeded: h.has(flagSeeded), CounterBits: int(h.counterBits),
		Generations: int(h.generations), WindowLength: time.Duration(h.seconds) * time.Second,
	}
	for n := range h.part {
		p := &h.part[n]
		i.Parts = append(i.Parts, PartInfo{kinds[p.kind], p.bits, p.k, p.layer, p.capacity, p.rate, p.length, r.keys[n]})
		i.Bytes += p.length
		if h.kind == scalable {
			i.Keys += r.keys[n]
		}
	}
	switch h.kind {
	case scalable:
	case paired:
		if r.keys[0] > r.keys[1] {
			i.Keys = r.keys[0] - r.keys[1]
		}
	case window:
		i.Parts[0].Keys, i.Keys = r.keys[8], r.keys[8]
	default:
		i.Keys = r.keys[0]
	}
	return i
}
