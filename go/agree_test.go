package deja_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	deja "example.com/deja/go"
	"example.com/deja/go/purefile"
)

// The library and the pure-Go reader, which share no code, give the same answers.

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func check(t testing.TB, ok bool, format string, args ...interface{}) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

// mixedKeys makes keys of all lengths and shapes: URLs with many segments, words, bytes.
func mixedKeys(n int, seed int64) [][]byte {
	r := rand.New(rand.NewSource(seed))
	seen := map[string]bool{}
	var keys [][]byte
	for len(keys) < n {
		key := oneKey(r)
		if !seen[string(key)] {
			seen[string(key)] = true
			keys = append(keys, key)
		}
	}
	return keys
}

func oneKey(r *rand.Rand) []byte {
	switch r.Intn(4) {
	case 0:
		b := make([]byte, r.Intn(40))
		r.Read(b)
		return b
	case 1:
		b := make([]byte, r.Intn(700))
		r.Read(b)
		return b
	case 2:
		var b bytes.Buffer
		for i := r.Intn(20); i >= 0; i-- {
			fmt.Fprintf(&b, "w%d ", r.Intn(200))
		}
		return b.Bytes()
	}
	var b bytes.Buffer
	b.WriteString([]string{"http://", "HTTPS+x.-1://", "", "/", "9http://", "h:/"}[r.Intn(6)])
	fmt.Fprintf(&b, "host%d.example", r.Intn(1000))
	for i := r.Intn(12); i > 0; i-- {
		b.WriteByte('/')
		if r.Intn(5) > 0 {
			fmt.Fprintf(&b, "s%d", r.Intn(300))
		}
	}
	b.WriteString([]string{"", "", "?q=/1", "#/f", "/?/#"}[r.Intn(5)])
	return b.Bytes()
}

const agreeKeys = 100000

var agreements = []struct {
	name string
	o    deja.Options
}{
	{"blocked", deja.Options{Kind: deja.Blocked, FPRate: 0.01}},
	{"blocked_2_lines", deja.Options{Kind: deja.Blocked, FPRate: 1e-3, CacheLines: 2}},
	{"blocked_3_lines", deja.Options{Kind: deja.Blocked, FPRate: 1e-3, CacheLines: 3, Filters: 2}},
	{"blocked_k1", deja.Options{Kind: deja.Blocked, FPRate: 0.2, Hashes: 1}},
	{"blocked_siphash", deja.Options{Kind: deja.Blocked, FPRate: 0.01, Hash: deja.SipHash}},
	{"blocked_format_1", deja.Options{Kind: deja.Blocked, FPRate: 0.01, Format: 1}},
	{"blocked_machine", deja.Options{Kind: deja.Blocked, FPRate: 1e-3, Filters: 3, Machine: 2}},
	{"classic", deja.Options{Kind: deja.Classic, FPRate: 0.01}},
	{"classic_3_filters", deja.Options{Kind: deja.Classic, FPRate: 0.01, Filters: 3}},
	{"classic_jenkins", deja.Options{Kind: deja.Classic, FPRate: 0.05, Hash: deja.Jenkins}},
	{"classic_jenkins_format_1", deja.Options{Kind: deja.Classic, FPRate: 0.05, Hash: deja.Jenkins, Format: 1}},
	{"classic_murmur2", deja.Options{Kind: deja.Classic, FPRate: 0.05, Hash: deja.Murmur2, Filters: 2}},
	{"classic_murmur3", deja.Options{Kind: deja.Classic, FPRate: 0.05, Hash: deja.Murmur3}},
	{"classic_murmur3_machine", deja.Options{Kind: deja.Classic, FPRate: 0.05, Hash: deja.Murmur3, Filters: 3, Machine: 3}},
	{"classic_md5_k1", deja.Options{Kind: deja.Classic, FPRate: 0.2, Hash: deja.MD5, Hashes: 1}},
	{"classic_sha1", deja.Options{Kind: deja.Classic, FPRate: 0.05, Hash: deja.SHA1}},
	{"classic_mixed", deja.Options{Kind: deja.Classic, FPRate: 0.02, Hash: deja.Mixed, Hashes: 6}},
	{"scalable", deja.Options{Kind: deja.Scalable, Capacity: 3000, FPRate: 0.02}},
	{"scalable_classic", deja.Options{Kind: deja.Scalable, PartKind: deja.Classic, Capacity: 3000, FPRate: 0.02}},
	{"scalable_exact", deja.Options{Kind: deja.Scalable, PartKind: deja.Exact, Capacity: 3000}},
	{"spectral_4", deja.Options{Kind: deja.Spectral, FPRate: 0.02}},
	{"spectral_8", deja.Options{Kind: deja.Spectral, FPRate: 0.02, CounterBits: 8, Filters: 2}},
	{"spectral_16", deja.Options{Kind: deja.Spectral, FPRate: 0.02, CounterBits: 16, MinimalIncrease: true}},
	{"spectral_32", deja.Options{Kind: deja.Spectral, FPRate: 0.02, CounterBits: 32}},
	{"spectral_spread", deja.Options{Kind: deja.Spectral, FPRate: 0.02, CounterBits: 8, Spread: true}},
	{"paired", deja.Options{Kind: deja.Paired, FPRate: 0.02}},
	{"window_keys", deja.Options{Kind: deja.Window, FPRate: 0.02, Generations: 3, Capacity: 20000}},
	{"window_time", deja.Options{Kind: deja.Window, FPRate: 0.02, Generations: 5, WindowSeconds: 3600}},
	{"exact", deja.Options{Kind: deja.Exact}},
	{"exact_small", deja.Options{Kind: deja.Exact, Format: 1}},
	{"exact_dates", deja.Options{Kind: deja.Exact, Dates: true}},
	{"layered", deja.Options{Kind: deja.Layered, FPRate: 0.05, Layers: 6}},
	{"layered_siphash", deja.Options{Kind: deja.Layered, FPRate: 0.05, Hash: deja.SipHash, Layers: 2}},
	{"layered_paper", deja.Options{Kind: deja.Layered, FPRate: 0.05, LayeredPaper: true}},
	{"layered_paper_format_1", deja.Options{Kind: deja.Layered, FPRate: 0.05, LayeredPaper: true, Format: 1}},
	{"layered_words", deja.Options{Kind: deja.Layered, FPRate: 0.05, LayeredWords: true}},
	{"layered_words_paper", deja.Options{Kind: deja.Layered, FPRate: 0.05, LayeredWords: true, LayeredPaper: true, Delimiter: 'w'}},
	{"key_apart", deja.Options{Kind: deja.Blocked, FPRate: 0.01, Key: bytes.Repeat([]byte{9}, 32)}},
}

func TestReadersAgree(t *testing.T) {
	keys := mixedKeys(agreeKeys, 1)
	for i, a := range agreements {
		a := a
		a.o.Fixed = a.o.Kind != deja.Scalable
		if a.o.Capacity == 0 {
			a.o.Capacity = agreeKeys / 2
		}
		if a.o.Key == nil {
			a.o.Seed = uint64(i + 1)
		}
		t.Run(a.name, func(t *testing.T) { agreeOn(t, a.o, keys) })
	}
}

func agreeOn(t *testing.T, o deja.Options, keys [][]byte) {
	path := filepath.Join(t.TempDir(), "f.deja")
	f, err := deja.Create(path, o)
	must(t, err)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for wave := 0; wave < 5; wave++ { // of a window
		if o.WindowSeconds > 0 || o.Dates {
			must(t, f.SetClock(now))
		}
		_, err = f.AddBatch(keys[wave*agreeKeys/10 : (wave+1)*agreeKeys/10])
		must(t, err)
		now = now.Add(1200 * time.Second)
	}
	switch o.Kind {
	case deja.Paired:
		_, err = f.RemoveBatch(keys[100:3000])
		must(t, err)
	case deja.Spectral:
		for i := 0; i < 20; i++ {
			_, err = f.AddBatch(keys[i*100 : 3000])
			must(t, err)
		}
	}
	must(t, f.Sync())
	if o.WindowSeconds > 0 {
		must(t, f.SetClock(now))
	}
	p, err := purefile.Open(path, purefile.Options{Key: o.Key, Now: func() time.Time { return now }})
	must(t, err)
	defer p.Close()
	must(t, p.Verify())
	present, absent := 0, 0
	for i, want := range f.ContainsBatch(keys) {
		if got := p.Contains(keys[i]); got != want {
			t.Fatalf("key %d, %q: the library says %v, the reader %v", i, keys[i], want, got)
		}
		if want && i < agreeKeys/2 {
			present++
		} else if want {
			absent++
		}
	}
	if f.Can(deja.CanCount) {
		counts, err := f.CountBatch(keys)
		must(t, err)
		for i, want := range counts {
			got, err := p.Count(keys[i])
			check(t, err == nil && got == want, "count of key %d: %d, not %d (%v)", i, got, want, err)
		}
	}
	if f.Can(deja.CanPrefix) {
		found, err := f.HasPrefixBatch(keys)
		must(t, err)
		for i, want := range found {
			got, err := p.HasPrefix(keys[i])
			check(t, err == nil && got == want, "prefix %q: %v, not %v (%v)", keys[i], got, want, err)
		}
	}
	if f.Can(deja.CanDate) {
		for i := 0; i < agreeKeys; i += 7 {
			sameDays(t, f, p, keys[i])
		}
	}
	s, err := f.Stats(false)
	must(t, err)
	info := p.Info()
	check(t, info.Kind == s.Kind.String() && info.Hash == s.Hash.String() && info.Bytes == s.Bytes &&
		info.Offered == s.Offered && info.Keys == s.Keys && info.Visit == s.Visit && info.Synced,
		"%+v\n%+v", info, *s)
	t.Logf("%d of the keys are found, and %d others", present, absent)
	if o.Kind != deja.Window && o.Kind != deja.Paired {
		check(t, present == agreeKeys/2, "%d keys are found", present)
	}
	if o.Kind != deja.Exact && o.PartKind != deja.Exact {
		check(t, absent > 0, "no false positives: the test does not test them")
	}
	must(t, f.Close())
}

func sameDays(t *testing.T, f *deja.Filter, p *purefile.File, key []byte) {
	t.Helper()
	first, last, found, err := f.Days(key)
	must(t, err)
	from, to, err := p.Days(key)
	must(t, err)
	if !found {
		check(t, from == 0 && to == 0, "%q: %d %d", key, from, to)
		return
	}
	check(t, int64(from) == first.Unix()/86400 && int64(to) == last.Unix()/86400, "%q: %d %d, not %v %v", key, from, to, first, last)
}

func TestReadersAgreeOnStaticFilters(t *testing.T) {
	keys := mixedKeys(agreeKeys, 2)
	for _, width := range []uint32{8, 16, 32} {
		for _, n := range []int{0, 1, 100, agreeKeys / 2} {
			path := filepath.Join(t.TempDir(), "f.deja")
			b, err := deja.NewBuilder(deja.Options{FingerprintBits: width, Seed: uint64(width)})
			must(t, err)
			must(t, b.Add(keys[:n]...))
			must(t, b.Except(keys[n:n+n/2]...))
			f, err := b.Finish(path, deja.Options{})
			must(t, err)
			sameAnswers(t, f, path, keys)
		}
	}
}

func sameAnswers(t *testing.T, f *deja.Filter, path string, keys [][]byte) {
	t.Helper()
	must(t, f.Sync())
	p, err := purefile.Open(path, purefile.Options{})
	must(t, err)
	defer p.Close()
	must(t, p.Verify())
	for i, want := range f.ContainsBatch(keys) {
		check(t, p.Contains(keys[i]) == want, "key %d, %q: not %v", i, keys[i], want)
	}
	must(t, f.Close())
}

func TestReadersAgreeAfterSetOperations(t *testing.T) {
	keys := mixedKeys(agreeKeys, 3)
	dir := t.TempDir()
	for i, dates := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprint("merged", i))
		seed := uint64(0) // three other secret keys; filters with dates need the same one
		if dates {
			seed = 9
		}
		f, err := deja.Create(path, deja.Options{Capacity: 1000, Dates: dates, FPRate: 0.01, Seed: seed})
		must(t, err)
		for j := 0; j < 3; j++ {
			g, err := deja.New(deja.Options{Capacity: 1000, Dates: dates, FPRate: 0.01, Seed: seed})
			must(t, err)
			_, err = g.AddBatch(keys[j*10000 : (j+1)*10000])
			must(t, err)
			must(t, f.Merge(g))
			must(t, g.Close())
		}
		_, err = f.AddBatch(keys[30000:40000])
		must(t, err)
		if dates {
			must(t, f.Sync())
			p, err := purefile.Open(path, purefile.Options{})
			must(t, err)
			for i := 0; i < len(keys); i += 11 {
				sameDays(t, f, p, keys[i])
			}
			must(t, p.Close())
		}
		sameAnswers(t, f, path, keys)
	}
	path := filepath.Join(dir, "folded")
	f, err := deja.Create(path, deja.Options{Kind: deja.Classic, Memory: 1 << 18, Capacity: 50000})
	must(t, err)
	_, err = f.AddBatch(keys[:50000])
	must(t, err)
	must(t, f.Fold(2))
	must(t, f.Rotate(deja.Options{}))
	_, err = f.AddBatch(keys[:50000])
	must(t, err)
	sameAnswers(t, f, path, keys)
}

// A reader of a mapped file sees keys as soon as they are added.
func TestReaderSeesNewKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.deja")
	f, err := deja.Create(path, deja.Options{Capacity: 1000, Fixed: true, URL: deja.URLSafe})
	must(t, err)
	defer f.Close()
	_, err = purefile.Open(path, purefile.Options{})
	check(t, err != nil, "a file with a URL profile is accepted")
	p, err := purefile.Open(path, purefile.Options{CanonicalKeys: true})
	must(t, err)
	check(t, !p.ContainsString("http://example.com/"), "found early")
	_, err = f.AddString("HTTP://example.com:80")
	must(t, err)
	check(t, p.ContainsString("http://example.com/"), "not found")
	must(t, p.Close())
}

// A flipped bit anywhere is refused, or found by Verify, by both.
func TestReadersAgreeOnDamage(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	dir := t.TempDir()
	for i, o := range []deja.Options{
		{Kind: deja.Blocked, Capacity: 500, Fixed: true}, {Kind: deja.Scalable, Capacity: 100},
		{Kind: deja.Layered, Capacity: 100}, {Kind: deja.Window, Capacity: 300, WindowSeconds: 5},
		{Kind: deja.Exact, Dates: true, Capacity: 500, Fixed: true},
	} {
		path := filepath.Join(dir, fmt.Sprint(i))
		f, err := deja.Create(path, o)
		must(t, err)
		_, err = f.AddBatch(mixedKeys(300, 5))
		must(t, err)
		must(t, f.Close())
		sound, err := os.ReadFile(path)
		must(t, err)
		for j := 0; j < 300; j++ {
			data := append([]byte(nil), sound...)
			at := r.Intn(len(data))
			if j%2 == 0 {
				at = r.Intn(4096)
			}
			data[at] ^= 1 << uint(r.Intn(8))
			if j%10 == 0 {
				data = data[:at]
			}
			must(t, os.WriteFile(path, data, 0600))
			verdict := deja.VerifyFile(path) == nil
			p, err := purefile.Open(path, purefile.Options{})
			mine := err == nil && p.Verify() == nil
			if err == nil {
				p.Close()
			}
			check(t, verdict == mine, "byte %d: the library says %v, the reader %v", at, verdict, mine)
		}
	}
}
