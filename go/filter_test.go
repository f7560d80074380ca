package deja

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t testing.TB, err, target error, text string) {
	t.Helper()
	if !errors.Is(err, target) || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %v with %q", err, target, text)
	}
}

func check(t testing.TB, ok bool, format string, args ...interface{}) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

func keyOf(i int) string { return fmt.Sprintf("https://example.com/page/%d", i) }

func keysOf(from, to int) (text []string, raw [][]byte) {
	for i := from; i < to; i++ {
		text = append(text, keyOf(i))
		raw = append(raw, []byte(keyOf(i)))
	}
	return text, raw
}

func made(t testing.TB, o Options) *Filter {
	t.Helper()
	f, err := New(o)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func trues(some []bool) (n int) {
	for _, yes := range some {
		if yes {
			n++
		}
	}
	return n
}

func TestEveryOptionOfTheTableHasAField(t *testing.T) {
	names := optionNames()
	check(t, len(names) > 20, "the table has %d rows", len(names))
	for _, name := range names {
		check(t, fieldOf[name] != "", "Options has no field for %q", name)
	}
	check(t, len(fieldOf) == len(names), "%d fields for %d rows", len(fieldOf), len(names))
}

func TestEveryStatisticHasAField(t *testing.T) {
	s := made(t, Options{Capacity: 10})
	stats, err := s.Stats(true)
	must(t, err)
	text := fmt.Sprintf("%+v", *stats)
	for _, name := range libraryStats() {
		if name == "size" {
			continue
		}
		words := strings.Split(name, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		field := strings.NewReplacer("Fp", "FP", "Fn", "FN", "Url", "URL").Replace(strings.Join(words, ""))
		check(t, strings.Contains(text, field+":"), "Stats has no field %s", field)
	}
}

func TestSingleKeys(t *testing.T) {
	f := made(t, Options{Capacity: 1000, FPRate: 1e-9, Seed: 1})
	for i := 0; i < 1000; i++ {
		isNew, err := f.AddString(keyOf(i))
		must(t, err)
		check(t, isNew, "key %d is not new", i)
		isNew, err = f.Add([]byte(keyOf(i)))
		must(t, err)
		check(t, !isNew, "key %d is new again", i)
	}
	for i := 0; i < 2000; i++ {
		check(t, f.ContainsString(keyOf(i)) == (i < 1000), "ContainsString(%d)", i)
		check(t, f.Contains([]byte(keyOf(i))) == (i < 1000), "Contains(%d)", i)
	}
	isNew, err := f.Add(nil)
	must(t, err)
	check(t, isNew && f.ContainsString("") && f.Contains([]byte{}), "the empty key")
}

func TestSingleCallsDoNotAllocate(t *testing.T) {
	f := made(t, Options{Capacity: 1000})
	key, raw := keyOf(1), []byte(keyOf(2))
	n := testing.AllocsPerRun(100, func() {
		f.AddString(key)
		f.Add(raw)
		f.ContainsString(key)
		f.Contains(raw)
	})
	// Go 1.19 puts the result of each call of C on the heap.
	check(t, n == 0 || strings.HasPrefix(runtime.Version(), "go1.19"), "%g allocations", n)
}

func TestBatchesAreLoops(t *testing.T) {
	const n = 20000 // several portions
	text, raw := keysOf(0, n)
	f, g := made(t, Options{Capacity: n, Seed: 2}), made(t, Options{Capacity: n, Seed: 2})
	text[n-1], raw[n-1] = text[0], raw[0]
	a, err := f.AddStrings(text)
	must(t, err)
	b, err := g.AddBatch(raw)
	must(t, err)
	check(t, len(a) == n && trues(a) == n-1 && !a[n-1] && a[0], "AddStrings: %d", trues(a))
	for i := range a {
		check(t, a[i] == b[i], "answers differ at %d", i)
	}
	more, _ := keysOf(n-1, 2*n)
	check(t, trues(f.ContainsStrings(text)) == n && trues(g.ContainsBatch(raw)) == n, "ContainsBatch")
	check(t, trues(f.ContainsStrings(more)) == 0, "absent keys are found")
	none, err := f.AddBatch(nil)
	check(t, err == nil && len(none) == 0 && len(f.ContainsBatch(nil)) == 0, "an empty batch")
	long := strings.Repeat("x", 3<<20)
	a, err = f.AddStrings([]string{"", long, long, ""})
	must(t, err)
	check(t, a[0] && a[1] && !a[2] && !a[3], "long keys: %v", a)
	s, _ := f.Stats(false)
	r, _ := g.Stats(false)
	check(t, s.Keys == n+1 && r.Keys == n-1 && s.Offered == n+4, "%d %d keys", s.Keys, r.Keys)
}

func TestAFullFilterReportsWhatWasAdded(t *testing.T) {
	f := made(t, Options{Kind: Exact, Capacity: 100, Fixed: true, Seed: 1})
	text, _ := keysOf(0, 5000)
	isNew, err := f.AddStrings(text)
	wants(t, err, ErrFull, "")
	check(t, len(isNew) >= 100 && len(isNew) < 5000 && trues(isNew) == len(isNew), "%d answers", len(isNew))
	check(t, trues(f.ContainsStrings(text)) == len(isNew), "a key that was not added is found")
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.deja")
	_, err := Open(path, Options{})
	wants(t, err, fs.ErrNotExist, path)
	check(t, errors.Is(err, ErrIO), "not ErrIO: %v", err)
	f, err := OpenOrCreate(path, Options{Capacity: 1000, Mode: 0640})
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	check(t, info.Mode().Perm() == 0640, "mode %v", info.Mode())
	_, err = f.AddString("a")
	must(t, err)
	_, err = Open(path, Options{})
	wants(t, err, ErrBusy, path)
	reader, err := OpenReader(path, Options{})
	must(t, err)
	check(t, reader.ContainsString("a"), "a reader does not see an added key")
	_, err = reader.AddString("b")
	wants(t, err, ErrInvalid, "")
	must(t, reader.Close())
	must(t, f.Close())
	must(t, f.Close())
	must(t, VerifyFile(path))
	_, err = Create(path, Options{})
	wants(t, err, ErrInvalid, path)
	f, err = OpenOrCreate(path, Options{})
	must(t, err)
	check(t, f.ContainsString("a") && f.Path() == path, "the key is lost")
	want := "deja filter (" + path + ", scalable of blocked, 1 keys, rate 1e-06)"
	check(t, f.String() == want, "%s", f)
	must(t, f.Close())
	check(t, strings.Contains(f.String(), "closed"), "%s", f)
	_, err = Open(path, Options{Kind: Exact})
	wants(t, err, ErrMismatch, "")
	g, err := Create(path, Options{Capacity: 5, Replace: true})
	must(t, err)
	check(t, !g.ContainsString("a"), "the old file is still there")
	must(t, g.Close())
	must(t, os.WriteFile(path, []byte("hello"), 0600))
	_, err = Open(path, Options{})
	wants(t, err, ErrFormat, path)
}

func TestClosedFilters(t *testing.T) {
	f := made(t, Options{Capacity: 10})
	must(t, f.Close())
	_, err := f.AddString("a")
	wants(t, err, ErrClosed, "closed")
	_, err = f.AddBatch([][]byte{{1}})
	wants(t, err, ErrClosed, "closed")
	wants(t, f.Sync(), ErrClosed, "closed")
	wants(t, f.Merge(f), ErrClosed, "closed")
	_, err = f.WriteTo(&bytes.Buffer{})
	wants(t, err, ErrClosed, "closed")
	defer func() { check(t, recover() == ErrClosed, "Contains did not panic") }()
	f.ContainsString("a")
}

func TestErrorsNameTheFields(t *testing.T) {
	_, err := New(Options{Capacity: 10, FPRate: 2})
	wants(t, err, ErrInvalid, "Options.FPRate")
	_, err = New(Options{Kind: Blocked, Capacity: 10, CounterBits: 4})
	wants(t, err, ErrInvalid, "Options.CounterBits")
	_, err = New(Options{Key: make([]byte, 31)})
	wants(t, err, ErrInvalid, "Options.Key has 31 bytes")
	_, err = New(Options{Fixed: true})
	wants(t, err, ErrInvalid, "Options.Fixed")
	_, err = New(Options{Kind: 77})
	wants(t, err, ErrNotSupported, "77")
	_, err = New(Options{Kind: Spectral, Capacity: 10, CounterBits: 5})
	wants(t, err, ErrInvalid, "Options.CounterBits")
	_, err = New(Options{Hashes: 1 << 31, Capacity: 10})
	wants(t, err, ErrInvalid, "Options.Hashes")
	_, err = New(Options{URL: 99})
	wants(t, err, ErrInvalid, "profile")
	_, err = ParseKind("round")
	wants(t, err, ErrInvalid, "round")
	f := made(t, Options{Capacity: 10})
	_, err = f.Remove([]byte("a"))
	wants(t, err, ErrNotSupported, "spectral")
	_, err = f.CountBatch([][]byte{{1}})
	wants(t, err, ErrNotSupported, "spectral")
	check(t, ErrBusy.Error() != "deja: " && ErrBusy.Error() != ErrFull.Error(), "%v", ErrBusy)
}

func TestNames(t *testing.T) {
	kinds := Kinds()
	check(t, len(kinds) >= 9 && kinds[0] == Classic, "%v", kinds)
	for _, k := range kinds {
		again, err := ParseKind(k.String())
		check(t, err == nil && again == k && k.Help() != "", "%v", k)
	}
	h, err := ParseHash("siphash")
	check(t, err == nil && h == SipHash && Hash(99).String() == "hash 99", "%v", h)
	p, err := ParseProfile("crawl")
	check(t, err == nil && p == URLCrawl, "%v", p)
	check(t, Spectral.Can(CanRemove|CanCount) && !Blocked.Can(CanRemove), "Can")
	check(t, strings.HasPrefix(Version(), "0.") && SIMD() != "", "%s %s", Version(), SIMD())
}

func TestURLs(t *testing.T) {
	f := made(t, Options{Capacity: 1000, URL: URLCrawl})
	isNew, err := f.AddStrings([]string{
		"http://Example.com:80/a/../b#top", "http://example.com/b", "http://example.com/b?utm_source=mail",
		"not a URL", "http://example.com/" + strings.Repeat("long%7e/", 20000)})
	must(t, err)
	check(t, fmt.Sprint(isNew) == "[true false false true true]", "%v", isNew)
	check(t, f.NotURLs() == 1, "%d", f.NotURLs())
	check(t, f.ContainsString("HTTP://EXAMPLE.com/b?utm_campaign=1"), "another spelling")
	check(t, f.ContainsString("http://example.com/"+strings.Repeat("long~/", 20000)), "a long one")
	form, err := Canonical(URLSafe, "HTTP://Example.com:80/a/../b#top")
	check(t, err == nil && form == "http://example.com/b", "%q %v", form, err)
	_, err = Canonical(URLSafe, "not a URL")
	wants(t, err, ErrNotURL, "")

	rules, err := CustomRules(URLCrawl, []string{"ref", "x_*"}, []string{"utm_source"}, true)
	must(t, err)
	form, err = rules.Canonical("http://a.example/?utm_source=x&ref=y&x_1=2&b=1&a=2")
	check(t, err == nil && form == "http://a.example/?a=2&b=1&utm_source=x", "%q %v", form, err)
	path := filepath.Join(t.TempDir(), "custom.deja")
	g, err := Create(path, Options{Rules: rules})
	must(t, err)
	must(t, g.Close())
	_, err = Open(path, Options{})
	wants(t, err, ErrMismatch, "Options.Rules")
	_, err = Open(path, Options{URL: URLCrawl})
	wants(t, err, ErrMismatch, "")
	g, err = OpenReader(path, Options{Rules: rules})
	must(t, err)
	must(t, g.Close())
	_, err = New(Options{URL: URLSafe, Rules: rules})
	wants(t, err, ErrInvalid, "Options.Rules")
}

func TestOldURLRulesAreRecognized(t *testing.T) {
	for _, o := range []Options{{}, {URL: URLCrawl}} {
		f, err := OpenReader("../tests/format/golden/hosts/crawl.deja", o)
		must(t, err)
		current, err := Rules(URLCrawl)
		must(t, err)
		check(t, f.Rules().Profile() == URLCrawl && f.Rules().ID() != current.ID(), "not the old rules")
		must(t, f.Close())
	}
}

func TestBlockLists(t *testing.T) {
	f := made(t, Options{Capacity: 100, URL: URLGSB})
	_, err := f.AddStrings([]string{"http://evil.example/", "http://half.example/bad/", "mailto:x"})
	must(t, err)
	found := f.ContainsStrings([]string{"http://sub.evil.example/x?y", "https://half.example/bad/z", "http://half.example/good", "mailto:x"})
	check(t, fmt.Sprint(found) == "[true true false false]", "%v", found)
	check(t, f.ContainsString("http://www.evil.example/") && !f.ContainsString("mailto:x"), "single")
}

func TestCountingAndRemoval(t *testing.T) {
	f := made(t, Options{Kind: Spectral, Capacity: 1000, CounterBits: 8})
	_, raw := keysOf(0, 100)
	for i := 0; i < 3; i++ {
		_, err := f.AddBatch(raw)
		must(t, err)
	}
	n, err := f.Count(raw[5])
	check(t, err == nil && n == 3, "%d %v", n, err)
	removed, err := f.RemoveBatch(raw[:50])
	check(t, err == nil && trues(removed) == 50, "%v", err)
	yes, err := f.Remove(raw[0])
	check(t, err == nil && yes, "%v", err)
	counts, err := f.CountBatch(raw)
	must(t, err)
	check(t, counts[0] == 1 && counts[1] == 2 && counts[99] == 3, "%v", counts)
	yes, err = f.Remove([]byte("absent"))
	check(t, err == nil && !yes, "%v", err)
}

func TestPrefixesAndLayers(t *testing.T) {
	f := made(t, Options{Kind: Layered, Capacity: 100, FPRate: 1e-3})
	_, err := f.AddString("http://h/a/b")
	must(t, err)
	found, err := f.HasPrefixBatch([][]byte{[]byte("http://h/a"), []byte("http://h/"), []byte("http://g/")})
	check(t, err == nil && fmt.Sprint(found) == "[true true false]", "%v %v", found, err)
	yes, err := f.HasPrefix([]byte("http://h/a/"))
	check(t, err == nil && yes, "%v", err)
	l, err := f.Layer(1)
	check(t, err == nil && l.Segments == 1, "%+v %v", l, err)
	_, err = f.Layer(99)
	wants(t, err, ErrInvalid, "")
	_, err = f.Layer(-1)
	wants(t, err, ErrInvalid, "")
}

func TestDates(t *testing.T) {
	f := made(t, Options{Dates: true, Capacity: 100})
	monday := time.Date(2024, 1, 1, 10, 0, 0, 0, time.UTC)
	must(t, f.SetClock(monday))
	f.AddString("a")
	f.AddString("b")
	must(t, f.SetClock(monday.AddDate(0, 0, 7)))
	f.AddString("b")
	first, last, found, err := f.Days([]byte("b"))
	check(t, err == nil && found && first.Format("0102") == "0101" && last.Format("0102") == "0108", "%v %v", first, last)
	_, _, found, err = f.Days([]byte("c"))
	check(t, err == nil && !found, "%v", err)
	n, err := f.Older(monday.AddDate(0, 0, 1))
	check(t, err == nil && n == 1, "%d %v", n, err)
	n, err = f.Expire(monday.AddDate(0, 0, 1))
	check(t, err == nil && n == 1 && !f.ContainsString("a") && f.ContainsString("b"), "%d %v", n, err)
	must(t, f.SetClock(time.Time{}))
	wants(t, f.SetClock(time.Unix(-5, 0)), ErrInvalid, "1970")
}

func TestSetOperations(t *testing.T) {
	fixed := Options{Memory: 1 << 13, Capacity: 1000, Fixed: true, CacheLines: 1, Seed: 3}
	f, g := made(t, fixed), made(t, fixed)
	a, _ := keysOf(0, 500)
	b, _ := keysOf(250, 750)
	f.AddStrings(a)
	g.AddStrings(b)
	keys, sigma, err := f.Overlap(g)
	check(t, err == nil && math.Abs(keys-250) < 50 && sigma > 0, "%g %g %v", keys, sigma, err)
	must(t, f.Merge(g))
	must(t, f.Merge(f))
	check(t, trues(f.ContainsStrings(b)) == 500, "keys are missing")
	other := made(t, Options{Kind: Classic, Capacity: 1000, Fixed: true})
	wants(t, f.Merge(other), ErrMismatch, "")
	why, err := f.Difference(other)
	check(t, err == nil && len(why) > 1 && strings.Contains(why[0], "kind"), "%v %v", why, err)
	before, _ := f.Stats(false)
	must(t, f.Fold(1))
	after, _ := f.Stats(false)
	check(t, after.Bytes*2 == before.Bytes && trues(f.ContainsStrings(a)) == 500, "%d %d", before.Bytes, after.Bytes)
	wants(t, f.Fold(0), ErrInvalid, "")
	like, err := f.Like()
	must(t, err)
	must(t, like.Merge(f))
	check(t, trues(like.ContainsStrings(a)) == 500, "Like")
	must(t, like.Close())
	must(t, f.Rotate(Options{Capacity: 5000}))
	s, _ := f.Stats(false)
	check(t, s.Visit == 2 && s.Capacity == 5000 && trues(f.ContainsStrings(a)) == 0, "%+v", s)
	must(t, f.Rotate(Options{}))
}

func TestSavingAndImporting(t *testing.T) {
	dir := t.TempDir()
	f := made(t, Options{Capacity: 1000, URL: URLSafe})
	f.AddString("http://example.com/")
	path := filepath.Join(dir, "saved.deja")
	must(t, f.Save(path, Options{}))
	wants(t, f.Save(path, Options{}), ErrInvalid, path)
	must(t, f.Save(path, Options{Replace: true}))
	must(t, VerifyFile(path))
	data, err := f.Bytes()
	must(t, err)
	g, err := Import(data, Options{})
	must(t, err)
	check(t, g.ContainsString("HTTP://example.com:80") && g.Rules().Profile() == URLSafe, "import")
	must(t, g.Close())
	data[5000] ^= 1
	_, err = Import(data, Options{})
	wants(t, err, ErrFormat, "")
	_, err = Import(nil, Options{})
	wants(t, err, ErrFormat, "")
	must(t, os.WriteFile(path, data, 0600))
	wants(t, VerifyFile(path), ErrFormat, path)
	c, err := f.CopyTo(filepath.Join(dir, "copy.deja"), Options{})
	must(t, err)
	c.AddString("http://example.com/2")
	check(t, !f.ContainsString("http://example.com/2"), "the copy is not a copy")
	must(t, c.Close())
}

func TestSecretKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keyed.deja")
	key := bytes.Repeat([]byte{7}, KeyLen)
	f, err := Create(path, Options{Capacity: 10, Key: key})
	must(t, err)
	f.AddString("a")
	must(t, f.Close())
	_, err = OpenReader(path, Options{})
	wants(t, err, ErrMismatch, "Options.Key")
	f, err = OpenReader(path, Options{Key: key})
	must(t, err)
	check(t, f.ContainsString("a"), "lost")
	must(t, f.Close())
}

func TestBuilder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.deja")
	b, err := NewBuilder(Options{FingerprintBits: 8})
	must(t, err)
	text, raw := keysOf(0, 10000)
	must(t, b.AddStrings(text))
	must(t, b.Add(raw[:10]...))
	_, allowed := keysOf(9999, 30000)
	must(t, b.Except(allowed...))
	f, err := b.Finish(path, Options{})
	must(t, err)
	check(t, trues(f.ContainsBatch(raw)) == 9999 && trues(f.ContainsBatch(allowed)) == 0, "static")
	_, err = f.AddString("x")
	wants(t, err, ErrNotSupported, "")
	must(t, f.Close())
	must(t, VerifyFile(path))
	wants(t, b.Add(raw[0]), errBuilt, "finished")
	b.Close()
	b, err = NewBuilder(Options{})
	must(t, err)
	b.Close()
}

func TestPlan(t *testing.T) {
	p, err := Plan(Options{Capacity: 1e9, FPRate: 0.01, Fixed: true})
	check(t, err == nil && p.Kind == Blocked && p.BitsPerKey > 9.5 && p.BitsPerKey < 10.5, "%+v %v", p, err)
	_, err = Plan(Options{Capacity: 10, FPRate: 3})
	wants(t, err, ErrInvalid, "Options.FPRate")
}

func TestFiltersGrowUnlessFixed(t *testing.T) {
	f := made(t, Options{Capacity: 100, FPRate: 0.01})
	g := made(t, Options{Capacity: 100, FPRate: 0.01, Fixed: true})
	text, _ := keysOf(0, 10000)
	f.AddStrings(text)
	g.AddStrings(text)
	s, _ := f.Stats(false)
	r, _ := g.Stats(false)
	check(t, s.Kind == Scalable && s.Excess == 0 && s.Parts > 3, "%+v", s)
	check(t, r.Kind == Blocked && r.Excess > 0, "%+v", r)
}

// Keys in a file survive a filter that nobody closes.
func TestFinalizer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.deja")
	func() {
		f, err := Create(path, Options{Capacity: 10})
		must(t, err)
		f.AddString("a")
	}()
	for i := 0; i < 100; i++ {
		runtime.GC()
		f, err := Open(path, Options{}) // the lock is free again
		if err == nil {
			check(t, f.ContainsString("a"), "lost")
			must(t, f.Close())
			return
		}
		wants(t, err, ErrBusy, path)
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the finalizer did not run")
}

// A part of a struct with pointers may be a key: cgo checks only the slice.
func TestKeysInStructsWithPointers(t *testing.T) {
	type page struct {
		url  [16]byte
		next *page
	}
	p := &page{next: &page{}}
	f := made(t, Options{Capacity: 10})
	isNew, err := f.Add(p.url[:])
	check(t, err == nil && isNew && f.Contains(p.url[:]), "%v", err)
}

// A truncated file is an error after GuardFiles, and no lookup calls a known key new.
func TestTruncatedFiles(t *testing.T) {
	must(t, GuardFiles())
	path := filepath.Join(t.TempDir(), "cut.deja")
	f, err := Create(path, Options{Capacity: 1 << 20, Fixed: true})
	must(t, err)
	defer f.Close()
	text, _ := keysOf(0, 1000)
	_, err = f.AddStrings(text)
	must(t, err)
	must(t, f.Sync())
	r, err := OpenReader(path, Options{})
	must(t, err)
	defer r.Close()
	must(t, r.CheckFile())
	must(t, os.Truncate(path, 4096))
	check(t, trues(r.ContainsStrings(text)) == 1000, "a known key is new")
	wants(t, r.CheckFile(), ErrIO, path)
	_, err = f.AddStrings(text)
	check(t, err != nil, "adds to a truncated file succeed")
}
