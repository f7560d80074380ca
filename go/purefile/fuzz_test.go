package purefile

import (
	"encoding/binary"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// seal gives a changed header and its records their checksums, so that checks behind these run.
func seal(b []byte) {
	if len(b) < headerLen {
		return
	}
	put := binary.LittleEndian.PutUint64
	if u32(b[336:]) != 0 {
		put(b[344:], xxh3(b[otherAt:recordAt]))
	}
	put(b[checkedLen:], xxh3(b[:checkedLen]))
	for _, at := range []int{recordAt, recordAt + recordLen} {
		if r := b[at : at+recordLen]; !isZero(r) {
			put(r[296:], u64(b[checkedLen:]))
			put(r[504:], xxh3(r[:504]))
		}
	}
}

// useAll makes every call on a file.
func useAll(data []byte, o Options) bool {
	f, err := Parse(data, o)
	if err != nil {
		return false
	}
	for _, key := range []string{"", "a", "https://example.com/a//b?c/d", "two words and more",
		"a key that is longer than sixteen bytes"} {
		f.ContainsString(key)
		f.Count([]byte(key))
		f.Days([]byte(key))
		f.HasPrefix([]byte(key))
	}
	f.Info()
	f.Verify()
	return true
}

func goldenData(t testing.TB, most int64) (all [][]byte) {
	for _, folder := range []string{"v1", "v2", "hosts"} {
		paths, _ := filepath.Glob(filepath.Join(golden_, folder, "*.deja"))
		for _, path := range paths {
			info, err := os.Stat(path)
			check(t, err == nil, "%v", err)
			if info.Size() <= most {
				data, err := os.ReadFile(path)
				check(t, err == nil, "%v", err)
				all = append(all, data)
			}
		}
	}
	check(t, len(all) > 50, "%d golden files", len(all))
	return all
}

var anyKey = []Options{{CanonicalKeys: true, Repair: true}, {CanonicalKeys: true, Key: keyApart, Now: at(1700000000)}}

func FuzzParse(f *testing.F) {
	for _, data := range goldenData(f, 16384) {
		f.Add(data, false)
		f.Add(data, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed {
			data = append([]byte(nil), data...)
			seal(data)
		}
		for _, o := range anyKey {
			useAll(data, o)
		}
	})
}

// Every field of every golden file gets extreme values, under right checksums.
func TestExtremeFields(t *testing.T) {
	accepted, tried := 0, 0
	for _, sound := range goldenData(t, 16384) {
		for at := 8; at < fixedLen+3*entryLen; at += 4 {
			for _, v := range []uint64{0, 1, 2, 3, 9, 16, 64, 512, 1 << 31, 1<<32 - 1, 1 << 53, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
				data := append([]byte(nil), sound...)
				if at%8 == 0 {
					binary.LittleEndian.PutUint64(data[at:], v)
				} else {
					binary.LittleEndian.PutUint32(data[at:], uint32(v))
				}
				seal(data)
				tried++
				if useAll(data, anyKey[0]) {
					accepted++
				}
			}
		}
	}
	check(t, accepted > 100 && accepted < tried, "%d of %d accepted", accepted, tried)
}

// Random changes under right checksums, also of the key check, so that lookups run on them.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	all, accepted := goldenData(t, 16384), 0
	for i := 0; i < 100000; i++ {
		data := append([]byte(nil), all[r.Intn(len(all))]...)
		for n := 1 + r.Intn(3); n > 0; n-- {
			at := r.Intn(len(data))
			if r.Intn(3) > 0 {
				at = r.Intn(fixedLen + 4*entryLen)
			}
			data[at] ^= byte(1 << uint(r.Intn(8)))
		}
		if u64(data[64:]) <= mostVisit && r.Intn(2) == 0 {
			x := newHasher(data[88:120], u64(data[64:]), 1, hashSip, 0, false)
			binary.LittleEndian.PutUint64(data[80:], x.check())
		}
		seal(data)
		if useAll(data, anyKey[i%2]) {
			accepted++
		}
	}
	check(t, accepted > 1000, "%d accepted", accepted)
}

// A file of a few thousand bytes that claims to be huge costs no memory.
func TestNoLengthDrivesAnAllocation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.deja")
	for _, sound := range goldenData(t, 16384) {
		for _, at := range []int{32, 120, 168, fixedLen, fixedLen + 16, fixedLen + 32, fixedLen + 40} {
			data := append([]byte(nil), sound...)
			binary.LittleEndian.PutUint64(data[at:], 1<<50)
			if at == fixedLen { // a consistent lie
				binary.LittleEndian.PutUint64(data[fixedLen+40:], 1<<47)
				binary.LittleEndian.PutUint64(data[120:], headerLen+1<<47)
			}
			seal(data)
			check(t, os.WriteFile(path, data, 0600) == nil, "WriteFile")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, o := range anyKey {
				o.InMemory = true
				if f, err := Open(path, o); err == nil {
					f.Close()
				}
			}
			runtime.ReadMemStats(&after)
			grown := after.TotalAlloc - before.TotalAlloc
			check(t, grown < 1<<20, "field at %d: %d bytes allocated", at, grown)
		}
	}
}
