package purefile

import (
	"bytes"
	"fmt"
	"math"
)

const (
	headerLen  = 4096
	fixedLen   = 512
	entryLen   = 64
	mostParts  = 32
	checkedLen = 2560 // bytes before the header's checksum
	otherAt    = 2568
	otherLen   = 48
	recordAt   = 3072
	recordLen  = 512
	pieceLen   = 65536
	mostBits   = 1 << 53
	mostVisit  = 1<<47 - 1
)

const (
	flagApart = 1 << iota
	flagSeeded
	flagMinimal
	flagPaper
	flagWords
	flagKeptK
	flagDates
	flagMerged
	flagPieces
	flagLines
	flagMarks
	flagSpread
	flagMachine
	flagsEnd
)

var magic = [8]byte{0x44, 0x45, 0x4a, 0x41, 0x0d, 0x0a, 0x1a, 0x0a}

type header struct {
	version, kind, partKind, hash, filters uint32
	capacity                               uint64
	rate                                   float64
	growth, profile                        uint32
	tightening                             float64
	visit                                  uint64
	flags, parts                           uint32
	keyCheck                               uint64
	key                                    []byte
	fileLen, urlRules                      uint64
	counterBits, rules                     uint32
	width, segLog, segments, exceptions    uint32
	seed, keys                             uint64
	layers, delimiter, generations         uint32
	seconds, deletions                     uint64
	others, machine                        uint32
	checksum                               uint64
	part                                   []part
	other                                  []otherKey
}

// An otherKey is the secret key of merged parts.
type otherKey struct {
	key   []byte
	visit uint64
	rules uint32
}

func f64(b []byte) float64 { return math.Float64frombits(u64(b)) }

func isZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

func damaged(format string, args ...interface{}) error {
	return &Error{ErrFormat, fmt.Sprintf(format, args...)}
}

func newer(format string, args ...interface{}) error {
	return &Error{ErrVersion, fmt.Sprintf(format, args...)}
}

// A ranges collects the first field that is out of its range.
type ranges struct{ err error }

func (r *ranges) need(ok bool, format string, args ...interface{}) {
	if !ok && r.err == nil {
		r.err = damaged(format, args...)
	}
}

func (r *ranges) known(ok bool, format string, args ...interface{}) {
	if !ok && r.err == nil {
		r.err = newer(format, args...)
	}
}

// parseHeader runs steps 1 to 5 of docs/format.md#checking-a-file.
func parseHeader(b []byte) (*header, error) {
	if !bytes.HasPrefix(b, magic[:]) {
		return nil, damaged("not a deja filter file (bad magic)")
	}
	if len(b) < headerLen {
		return nil, damaged("cut short: %d bytes, and the header alone has %d", len(b), headerLen)
	}
	h := &header{version: u32(b[8:])}
	if h.version > 2 {
		return nil, newer("version %d: this reader knows 1 and 2", h.version)
	}
	if h.version == 0 || u32(b[12:]) != headerLen {
		return nil, damaged("version %d, header length %d", h.version, u32(b[12:]))
	}
	h.checksum = u64(b[checkedLen:])
	if h.checksum != xxh3(b[:checkedLen]) {
		return nil, damaged("the checksum of the header is wrong")
	}
	h.read(b)
	if err := h.checkFields(b); err != nil {
		return nil, err
	}
	if err := h.readOthers(b); err != nil {
		return nil, err
	}
	return h, h.readParts(b)
}

func (h *header) read(b []byte) {
	h.kind, h.partKind, h.hash, h.filters = u32(b[16:]), u32(b[20:]), u32(b[24:]), u32(b[28:])
	h.capacity, h.rate = u64(b[32:]), f64(b[40:])
	h.growth, h.profile, h.tightening = u32(b[48:]), u32(b[52:]), f64(b[56:])
	h.visit, h.flags, h.parts = u64(b[64:]), u32(b[72:]), u32(b[76:])
	h.keyCheck, h.key = u64(b[80:]), append([]byte(nil), b[88:120]...)
	h.fileLen, h.urlRules = u64(b[120:]), u64(b[128:])
	h.counterBits, h.rules = u32(b[136:]), u32(b[140:])
	h.width, h.segLog, h.segments, h.exceptions = u32(b[144:]), u32(b[148:]), u32(b[152:]), u32(b[156:])
	h.seed, h.keys = u64(b[160:]), u64(b[168:])
	h.layers, h.delimiter = u32(b[212:]), u32(b[216:])
	h.generations, h.seconds = u32(b[304:]), u64(b[312:])
	h.deletions = u64(b[328:])
	if h.flags&flagMerged != 0 {
		h.others = u32(b[336:])
	}
	if h.flags&flagMachine != 0 {
		h.machine = u32(b[504:])
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func within(x, least, most uint64) bool { return least <= x && x <= most }

func (h *header) has(flag uint32) bool { return h.flags&flag != 0 }

// ownPartKind says whether the kind of the parts fits the kind.
func (h *header) ownPartKind() bool {
	switch h.kind {
	case layered:
		return h.partKind == classic
	case paired:
		return h.partKind == blocked
	case scalable:
		return h.partKind == classic || h.partKind == blocked || h.partKind == exact
	}
	return h.partKind == h.kind
}

// checkFields compares every field with its range in docs/format/header.md.
func (h *header) checkFields(b []byte) error {
	var r ranges
	r.known(h.rules <= 1, "rules %d", h.rules)
	r.need(h.version == 1+h.rules, "version %d with rules %d", h.version, h.rules)
	r.need(h.kind > 0, "kind 0")
	r.known(h.kind <= exact, "kind %d", h.kind)
	r.known(h.partKind <= exact, "part kind %d", h.partKind)
	r.need(h.ownPartKind(), "kind %d with parts of kind %d", h.kind, h.partKind)
	r.need(h.hash > 0, "hash 0")
	r.known(h.hash <= hashMixed, "hash %d", h.hash)
	r.need(h.hash <= hashSip || h.kind == classic, "hash %d with kind %d", h.hash, h.kind)
	r.known(h.flags < flagsEnd, "flags %#x", h.flags)
	h.checkFlags(&r)
	single := h.kind == layered || h.kind == paired || h.kind == scalable || h.kind == window || h.kind == static
	r.need(within(uint64(h.filters), 1, 16) && (!single || h.filters == 1), "%d filters", h.filters)
	most := uint64(mostBits)
	if h.kind == window {
		most *= 7
	}
	r.need(within(h.capacity, 1, most), "capacity %d", h.capacity)
	r.need(h.rate > 0 && h.rate < 1, "rate %g", h.rate)
	r.need(within(uint64(h.growth), 1, 1024), "growth %d", h.growth)
	r.known(h.profile <= 5, "profile %d", h.profile)
	r.need(h.profile != 0 || h.urlRules == 0, "URL rules without a profile")
	r.need(h.tightening > 0 && h.tightening < 1, "tightening %g", h.tightening)
	r.need(within(h.visit, 1, mostVisit), "visit %d", h.visit)
	r.need(within(uint64(h.parts), 1, mostParts), "%d parts", h.parts)
	r.need(h.partsFit(), "%d parts of kind %d", h.parts, h.kind)
	r.need(!h.has(flagApart) || isZero(h.key), "a key in a file that does not contain it")
	h.checkKinds(&r, b)
	h.checkHistory(&r, b)
	return r.err
}

func (h *header) checkFlags(r *ranges) {
	only := func(flag uint32, ok bool) {
		r.need(!h.has(flag) || ok, "flag %#x with kind %d, rules %d", flag, h.kind, h.rules)
	}
	rules1 := h.rules == 1
	only(flagMinimal, h.kind == spectral)
	only(flagPaper|flagWords, h.kind == layered)
	only(flagKeptK, rules1 && h.kind != static)
	only(flagDates, rules1 && h.partKind == exact)
	only(flagMerged, h.kind == scalable)
	only(flagPieces|flagLines|flagMarks, rules1)
	only(flagSpread, rules1 && h.kind == spectral)
	only(flagMachine, rules1 && (h.kind == classic || h.kind == blocked || h.kind == spectral))
	r.need(h.has(flagMachine) == (h.machine > 0) && h.machine <= h.filters && (h.machine == 0 || h.filters > 1),
		"filter %d of %d", h.machine, h.filters)
}

func (h *header) partsFit() bool {
	switch h.kind {
	case scalable, layered:
		return true
	case paired:
		return h.parts == 2
	case static:
		return (h.parts == 2) == (h.exceptions > 0) && h.parts <= 2
	}
	if h.has(flagMachine) {
		return h.parts == 1
	}
	return h.parts == h.filters
}

// checkKinds checks the fields that only some kinds have.
func (h *header) checkKinds(r *ranges, b []byte) {
	if h.kind == spectral {
		r.need(h.counterBits == 4 || h.counterBits == 8 || h.counterBits == 16 || h.counterBits == 32,
			"counters of %d bits", h.counterBits)
	} else {
		r.need(h.counterBits == 0, "counter bits with kind %d", h.kind)
	}
	if h.kind == static {
		r.need(h.width == 8 || h.width == 16 || h.width == 32, "fingerprints of %d bits", h.width)
		r.need(h.segLog <= 18, "segment length 2^%d", h.segLog)
		r.need(h.segments >= 1, "no segments")
		r.need(h.exceptions == 0 || h.rules == 1, "exceptions with rules 0")
		r.need(h.slots() <= 1<<32 && h.keys <= h.slots(), "%d keys in %d slots", h.keys, h.slots())
	} else {
		r.need(isZero(b[144:176]), "fields of kind static with kind %d", h.kind)
	}
	if h.kind == layered {
		least := uint32(2)
		if h.has(flagWords) {
			least = 0
			r.need(within(uint64(h.delimiter), 1, 255), "delimiter %d", h.delimiter)
		} else {
			r.need(h.delimiter == 0, "delimiter %d without words", h.delimiter)
		}
		r.need(h.layers >= least && h.layers <= 10, "%d layers", h.layers)
		for i := 0; i < 10; i++ {
			r.need(u64(b[224+8*i:]) <= mostBits, "first capacity of layer %d", i+1)
		}
	} else {
		r.need(isZero(b[212:304]), "fields of kind layered with kind %d", h.kind)
	}
	if h.kind == window {
		r.need(within(uint64(h.generations), 1, 7) && u32(b[308:]) == 0, "%d generations", h.generations)
		r.need(h.seconds <= 1<<40, "a window of %d seconds", h.seconds)
	} else {
		r.need(isZero(b[304:320]), "fields of kind window with kind %d", h.kind)
	}
	if h.kind == paired {
		r.need(within(h.deletions, 1, mostBits), "%d deletions", h.deletions)
	} else {
		r.need(h.deletions == 0, "deletions with kind %d", h.kind)
	}
}

// slots is the number of slots of a static filter.
func (h *header) slots() uint64 { return (uint64(h.segments) + 2) << h.segLog }

// checkHistory checks fields that no lookup needs.
func (h *header) checkHistory(r *ranges, b []byte) {
	earlier, missed, lost, last := u64(b[176:]), f64(b[184:]), f64(b[192:]), u64(b[200:])
	r.need(earlier < h.visit, "%d visits before visit %d", earlier, h.visit)
	r.need(missed >= 0 && missed <= 1, "missed: %g", missed)
	r.need(finite(lost) && lost >= 0, "lost in the last visit: %g", lost)
	r.need(last <= mostBits, "keys of the last visit: %d", last)
	r.need(earlier > 0 || missed == 0 && lost == 0 && last == 0, "a history without earlier visits")
	folds, multiplier := u32(b[208:]), f64(b[320:])
	folding := h.partKind == classic && h.kind != layered || h.partKind == blocked && h.kind != paired
	r.need(folds == 0 || folding && folds <= 53, "%d folds with kind %d", folds, h.kind)
	if multiplier != 0 {
		k := h.kind
		fits := k == classic || k == blocked || k == spectral || k == paired || k == layered && h.has(flagPaper)
		r.need(multiplier > 0 && multiplier < 1e9 && h.has(flagKeptK) && fits, "multiplier %g", multiplier)
	}
}

// readOthers reads the keys of merged parts.
func (h *header) readOthers(b []byte) error {
	rest, n := b[otherAt:recordAt], int(h.others)
	if n > 7 {
		return damaged("%d other keys", n)
	}
	sum := u64(b[344:])
	if n == 0 {
		if !isZero(rest) || h.has(flagMerged) && sum != 0 {
			return damaged("bytes %d .. %d are not zero", otherAt, recordAt-1)
		}
		return nil
	}
	if h.has(flagApart) {
		return damaged("other keys in a file that does not contain its own")
	}
	if xxh3(rest) != sum || !isZero(rest[n*otherLen:]) {
		return damaged("the checksum of the other keys is wrong")
	}
	for i := 0; i < n; i++ {
		o := rest[i*otherLen:]
		key := otherKey{append([]byte(nil), o[:32]...), u64(o[32:]), u32(o[40:])}
		if key.rules > 1 {
			return newer("rules %d of other key %d", key.rules, i+1)
		}
		if !within(key.visit, 1, mostVisit) || u32(o[44:]) > 1 {
			return damaged("other key %d", i+1)
		}
		h.other = append(h.other, key)
	}
	return nil
}

// readParts reads the part table.
func (h *header) readParts(b []byte) error {
	var r ranges
	end, merged, lined, marked := uint64(headerLen), false, false, false
	pieces := uint64(0)
	for i := 0; i < int(h.parts) && r.err == nil; i++ {
		p := h.entry(b[fixedLen+entryLen*i:], i)
		h.checkPart(&r, &p, i)
		r.need(p.offset == end, "part %d begins at %d, not %d", i, p.offset, end)
		r.need(p.length == (p.bits+511)/512*64, "part %d: %d bytes for %d bits", i, p.length, p.bits)
		end += p.length
		pieces += (p.length + pieceLen - 1) / pieceLen
		merged = merged || p.origin > 0
		lined = lined || u32(b[fixedLen+entryLen*i+52:]) != 0 && h.has(flagLines)
		marked = marked || p.marks
		h.part = append(h.part, p)
	}
	r.need(merged == h.has(flagMerged), "merged parts and their flag do not agree")
	r.need(lined == h.has(flagLines), "lines and their flag do not agree")
	r.need(marked == h.has(flagMarks), "marks and their flag do not agree")
	r.need(isZero(b[fixedLen+entryLen*int(h.parts):checkedLen]), "unused entries of the part table")
	if h.has(flagPieces) {
		end += 16 * pieces
	}
	r.need(end == h.fileLen, "the parts end at %d, the file at %d", end, h.fileLen)
	return r.err
}

func (h *header) entry(e []byte, i int) part {
	p := part{
		kind: h.partKind, bits: u64(e), k: int(u32(e[8:])), layer: int(u32(e[12:])),
		capacity: u64(e[16:]), rate: f64(e[24:]), offset: u64(e[32:]), length: u64(e[40:]), lines: 1,
		counterBits: int(h.counterBits), spread: h.has(flagSpread), dates: h.has(flagDates),
		rows: uint64(h.generations) + 1, width: h.width, segLog: h.segLog, segments: uint64(h.segments),
		seed: h.seed, empty: h.keys == 0,
	}
	if h.kind == static && i == 1 {
		p.kind = exact
	}
	if h.kind == layered && i > 0 && !h.has(flagPaper) {
		p.kind = blocked
	}
	if h.has(flagMerged) {
		p.origin = int(u32(e[48:]) & 0xffff)
		if u32(e[48:]) > 0xffff {
			p.origin = 0xffff
		}
	}
	if h.has(flagLines) {
		if n := u32(e[52:]); n != 0 {
			p.lines = int(n & 0xffff)
			if n > 0xffff || n == 1 {
				p.lines = 0xffff
			}
		}
	}
	if h.has(flagMarks) {
		p.marks = u32(e[56:]) != 0
	}
	return p
}

// checkPart checks the sizes of a part: lookups rely on them to stay inside its body.
func (h *header) checkPart(r *ranges, p *part, i int) {
	r.need(within(p.bits, 1, mostBits), "part %d has %d bits", i, p.bits)
	r.need(p.lines == 1 || p.kind == blocked && p.lines <= 3, "part %d: lines", i)
	unit, most, least := uint64(512), 16, 1
	switch p.kind {
	case classic:
		unit, most = 64, 64
	case blocked:
		unit = 512 * uint64(p.lines)
		most = 16 * p.lines
		r.need(p.lines > 0 && p.k%p.lines == 0, "part %d: %d positions in %d lines", i, p.k, p.lines)
	case spectral:
		if h.has(flagSpread) {
			most = 64
		}
	case window:
		unit *= p.rows
	case static:
		unit, least, most = 1, 3, 3
		r.need(p.bits == uint64(h.width)*h.slots(), "part %d has %d bits for %d slots", i, p.bits, h.slots())
	case exact:
		most = 1
	}
	if r.err != nil {
		return
	}
	r.need(p.bits%unit == 0, "part %d has %d bits, not a multiple of %d", i, p.bits, unit)
	r.need(p.k >= least && p.k <= most, "part %d has %d positions per key", i, p.k)
	r.need(h.hash <= hashSip || uint64(h.filters)*uint64(p.k) <= 512, "part %d: too many positions", i)
	r.need(p.capacity > 0, "part %d has no capacity", i)
	r.need(p.rate > 0 && p.rate <= 1, "part %d has the rate %g", i, p.rate)
	r.need(!p.marks || p.kind == exact && !p.dates && p.bits >= 1024, "part %d: marks", i)
	r.need(p.origin <= 1+int(h.others) && (i > 0 || p.origin == 0), "part %d: origin", i)
	layers := int(h.layers)
	if layers == 0 {
		layers = 8
	}
	if h.kind != layered || i == 0 {
		layers = 0
	}
	r.need(p.layer <= layers && (p.layer > 0 || layers == 0), "part %d is of layer %d", i, p.layer)
	if h.filters > 1 && i > 0 {
		q := h.part[0]
		r.need(p.bits == q.bits && p.k == q.k && p.lines == q.lines, "part %d differs from part 0", i)
	}
}
