package purefile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const golden_ = "../../tests/format/golden"

// The secret key of the golden files that do not contain theirs.
var keyApart = []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f" +
	"\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff")

func check(t testing.TB, ok bool, format string, args ...interface{}) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err == nil, "%v", err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func at(seconds int64) func() time.Time {
	return func() time.Time { return time.Unix(seconds, 0) }
}

func goldenOptions(path string) Options {
	o := Options{CanonicalKeys: true, Now: at(1700000000)}
	if filepath.Base(path) == "key_apart.deja" {
		o.Key = keyApart
	}
	return o
}

func found(f *File, keys []string) (n int) {
	for _, key := range keys {
		if f.ContainsString(key) {
			n++
		}
	}
	return n
}

func TestGoldenFiles(t *testing.T) {
	for _, folder := range []string{"v1", "v2"} {
		members := lines(t, filepath.Join(golden_, folder, "members.txt"))
		strangers := lines(t, filepath.Join(golden_, folder, "strangers.txt"))
		paths, _ := filepath.Glob(filepath.Join(golden_, folder, "*.deja"))
		check(t, len(paths) >= 20, "%d files", len(paths))
		for _, path := range paths {
			for _, copied := range []bool{false, true} {
				o := goldenOptions(path)
				o.InMemory = copied
				f, err := Open(path, o)
				check(t, err == nil, "%v", err)
				want := 120
				switch name := strings.TrimSuffix(filepath.Base(path), ".deja"); name {
				case "tiny":
					want = 1
				case "paired": // the last 30 were removed
					want = 90
				}
				check(t, found(f, members) == want, "%s: %d members found", path, found(f, members))
				check(t, found(f, strangers) == 0, "%s: %d strangers found", path, found(f, strangers))
				err = f.Verify()
				if strings.HasSuffix(path, "open.deja") {
					check(t, errors.Is(err, ErrNotSynced), "%v", err)
				} else {
					check(t, err == nil, "%s: %v", path, err)
				}
				check(t, f.Info().Kind != "" && f.Info().Bytes > 0, "%+v", f.Info())
				for i := 0; i < 2; i++ {
					check(t, f.Close() == nil, "Close")
				}
			}
		}
	}
}

func TestExceptionsAreNotFound(t *testing.T) {
	f, err := Open(filepath.Join(golden_, "v2/static_except.deja"), Options{})
	check(t, err == nil, "%v", err)
	parts := f.h.part
	n := 0
	for i := 0; i < 2000; i++ {
		key := []byte("https://allowed.example/" + itoa(i))
		check(t, !f.Contains(key), "%s is found", key)
		if parts[0].has(f.hasher.number(key)) {
			n++
		}
	}
	check(t, n == int(f.h.exceptions) && n > 0, "%d exceptions, %d in the header", n, f.h.exceptions)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestWindowsForgetInTime(t *testing.T) {
	path := filepath.Join(golden_, "v2/window_time.deja")
	members := lines(t, filepath.Join(golden_, "v2/members.txt"))
	for _, c := range []struct {
		later int64
		want  int
	}{{0, 120}, {7199, 120}, {7200, 0}, {1 << 40, 0}} {
		f, err := Open(path, Options{Now: at(1700000000 + c.later)})
		check(t, err == nil, "%v", err)
		check(t, found(f, members) == c.want, "%d s later: %d", c.later, found(f, members))
	}
}

func TestDays(t *testing.T) {
	for _, name := range []string{"exact_dates", "scalable_dates"} {
		f, err := Open(filepath.Join(golden_, "v2", name+".deja"), Options{})
		check(t, err == nil, "%v", err)
		for i, key := range lines(t, filepath.Join(golden_, "v2/members.txt")) {
			first, last, err := f.Days([]byte(key))
			want := uint16(19675)
			if i < 40 {
				want += 10
			}
			check(t, err == nil && first == 19675 && last == want, "%s: key %d: %d %d", name, i, first, last)
		}
		first, last, err := f.Days([]byte("absent"))
		check(t, err == nil && first == 0 && last == 0, "%d %d %v", first, last, err)
	}
}

func TestWhatAFileCannotDo(t *testing.T) {
	f, err := Open(filepath.Join(golden_, "v2/blocked.deja"), Options{})
	check(t, err == nil, "%v", err)
	_, err = f.Count([]byte("a"))
	check(t, errors.Is(err, ErrNotSupported) && strings.Contains(err.Error(), "spectral"), "%v", err)
	_, _, err = f.Days([]byte("a"))
	check(t, errors.Is(err, ErrNotSupported), "%v", err)
	_, err = f.HasPrefix([]byte("a"))
	check(t, errors.Is(err, ErrNotSupported), "%v", err)
}

func TestRefusals(t *testing.T) {
	refused := func(want error, text, path string, o Options) {
		t.Helper()
		_, err := Open(path, o)
		check(t, errors.Is(err, want) && strings.Contains(err.Error(), text), "%s: %v", path, err)
	}
	apart := filepath.Join(golden_, "v2/key_apart.deja")
	refused(ErrMismatch, "Options.Key", apart, Options{})
	refused(ErrMismatch, "31 bytes", apart, Options{Key: keyApart[:31]})
	refused(ErrMismatch, "secret key", apart, Options{Key: make([]byte, 32)})
	refused(ErrMismatch, "CanonicalKeys", filepath.Join(golden_, "v2/exact.deja"), Options{})
	refused(os.ErrNotExist, "nothing.deja", "nothing.deja", Options{})
	refused(ErrFormat, "regular", os.DevNull, Options{})
	refused(ErrFormat, "regular", t.TempDir(), Options{})
	refused(ErrFormat, "not a deja filter file", filepath.Join(golden_, "hosts/hosts.txt"), Options{})

	data, _ := os.ReadFile(filepath.Join(golden_, "v2/blocked.deja"))
	path := filepath.Join(t.TempDir(), "changed.deja")
	changed := func(want error, text string, change func(b []byte) []byte) {
		t.Helper()
		os.WriteFile(path, change(append([]byte(nil), data...)), 0600)
		refused(want, text, path, Options{})
	}
	changed(ErrFormat, "magic", func(b []byte) []byte { b[0] = 'd'; return b })
	changed(ErrFormat, "cut short", func(b []byte) []byte { return b[:4095] })
	changed(ErrVersion, "version 3", func(b []byte) []byte { b[8] = 3; return b })
	changed(ErrFormat, "checksum of the header", func(b []byte) []byte { b[40] ^= 1; return b })
	changed(ErrFormat, "not zero", func(b []byte) []byte { b[3000] = 1; return b })
	changed(ErrFormat, "bytes", func(b []byte) []byte { return b[:len(b)-1] })
	changed(ErrFormat, "bytes", func(b []byte) []byte { return append(b, 0) })
	changed(ErrFormat, "record", func(b []byte) []byte { b[recordAt] ^= 1; return b })
}

func TestVerifyFindsEveryFlippedByteOfTheBodies(t *testing.T) {
	for _, name := range []string{"blocked", "pieces"} {
		data, _ := os.ReadFile(filepath.Join(golden_, "v2", name+".deja"))
		step := len(data)/200 + 1
		for i := headerLen; i < len(data); i += step {
			data[i] ^= 4
			f, err := Parse(data, Options{})
			check(t, err == nil, "%v", err)
			check(t, errors.Is(f.Verify(), ErrFormat), "byte %d of %s: %v", i, name, f.Verify())
			data[i] ^= 4
		}
	}
}

func TestRepairUsesTheOtherRecord(t *testing.T) {
	data, _ := os.ReadFile(filepath.Join(golden_, "v2/open.deja"))
	data[recordAt+recordLen] ^= 1
	_, err := Parse(data, Options{})
	check(t, errors.Is(err, ErrFormat), "%v", err)
	f, err := Parse(data, Options{Repair: true})
	check(t, err == nil && found(f, lines(t, filepath.Join(golden_, "v2/members.txt"))) == 120, "%v", err)
	data[recordAt] ^= 1
	_, err = Parse(data, Options{Repair: true})
	check(t, errors.Is(err, ErrFormat), "%v", err)
}

// The values of docs/format/hashes.md.
func TestHashes(t *testing.T) {
	key := []byte("https://example.com/")
	const salt = 0x0123456789abcdef
	salted := append([]byte{0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01}, key...)
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"siphash", siphash(sipKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}, key), 0x77c2a103b2a125c8},
		{"xxh3", xxh3(key), 0x4ca4ca394042cceb},
		{"xxh3 seed", xxh3Seed(key, salt), 0x257e89a9d1f53d01},
		{"jenkins", uint64(jenkins(salted)), 0xc624586e},
		{"murmur2", uint64(murmur2(salted)), 0xfb5f0147},
		{"murmur3", murmur3(salted), 0xc1e958c092d5744d},
		{"md5", md5Word(salted), 0x51442291b289ae6b},
		{"sha1", sha1Word(salted), 0xccf90ddecbf8f492},
	} {
		check(t, c.got == c.want, "%s: %#x, not %#x", c.name, c.got, c.want)
	}
}
