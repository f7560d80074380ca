// Package benchcompare compares filters for Go.
package benchcompare

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	deja "example.com/deja/go"
	"example.com/deja/go/purefile"
	"github.com/bits-and-blooms/bloom/v3"
)

func number(name string, standard float64) float64 {
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return n
}

var (
	n      = int(number("N", 1e6))
	p      = number("P", 0.01)
	keys   = urls(0, n)
	absent = urls(n, 2*n)
)

// URLs of 50 to 60 bytes, in one piece of memory.
func urls(from, to int) [][]byte {
	var text []byte
	ends := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		text = append(text, fmt.Sprintf("https://www.example.com/category/%d/article-%d.html", i%997, i)...)
		ends = append(ends, len(text))
	}
	keys, start := make([][]byte, len(ends)), 0
	for i, end := range ends {
		keys[i] = text[start:end:end]
		start = end
	}
	return keys
}

const batch = 1024

// A subject adds keys, reporting how many were new, and looks them up.
type subject struct {
	name  string
	make  func(b *testing.B) (filter interface{}, bits float64)
	add   func(b *testing.B, filter interface{}, keys [][]byte) (isNew int)
	count func(filter interface{}, keys [][]byte) (found int)
	free  func(filter interface{})
}

func newDeja(b *testing.B) (interface{}, float64) {
	f, err := deja.New(deja.Options{Capacity: uint64(n), FPRate: p, Fixed: true})
	if err != nil {
		b.Fatal(err)
	}
	s, err := f.Stats(false)
	if err != nil {
		b.Fatal(err)
	}
	return f, 8 * float64(s.Bytes)
}

func freeDeja(f interface{}) { f.(*deja.Filter).Close() }

func newBloom(*testing.B) (interface{}, float64) {
	f := bloom.NewWithEstimates(uint(n), p)
	return f, float64(f.Cap())
}

func trues(some []bool) (n int) {
	for _, yes := range some {
		if yes {
			n++
		}
	}
	return n
}

func portions(keys [][]byte, call func([][]byte)) {
	for at := 0; at < len(keys); at += batch {
		end := at + batch
		if end > len(keys) {
			end = len(keys)
		}
		call(keys[at:end])
	}
}

var subjects = []subject{
	{"deja-batch", newDeja, func(b *testing.B, f interface{}, keys [][]byte) (isNew int) {
		portions(keys, func(some [][]byte) {
			answers, err := f.(*deja.Filter).AddBatch(some)
			if err != nil {
				b.Fatal(err)
			}
			isNew += trues(answers)
		})
		return isNew
	}, func(f interface{}, keys [][]byte) (found int) {
		portions(keys, func(some [][]byte) { found += trues(f.(*deja.Filter).ContainsBatch(some)) })
		return found
	}, freeDeja},
	{"deja-single", newDeja, func(b *testing.B, f interface{}, keys [][]byte) (isNew int) {
		for _, key := range keys {
			yes, err := f.(*deja.Filter).Add(key)
			if err != nil {
				b.Fatal(err)
			}
			if yes {
				isNew++
			}
		}
		return isNew
	}, func(f interface{}, keys [][]byte) (found int) {
		for _, key := range keys {
			if f.(*deja.Filter).Contains(key) {
				found++
			}
		}
		return found
	}, freeDeja},
	{"bits-and-blooms", newBloom, func(_ *testing.B, f interface{}, keys [][]byte) (isNew int) {
		for _, key := range keys {
			if !f.(*bloom.BloomFilter).TestOrAdd(key) {
				isNew++
			}
		}
		return isNew
	}, func(f interface{}, keys [][]byte) (found int) {
		for _, key := range keys {
			if f.(*bloom.BloomFilter).Test(key) {
				found++
			}
		}
		return found
	}, func(interface{}) {}},
}

func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports the processor time of b.N rounds over all keys.
func measure(b *testing.B, before func(), round func()) {
	total := 0.0
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		before()
		b.StartTimer()
		start := cpu()
		round()
		total += cpu() - start
	}
	b.ReportMetric(total/float64(b.N)/float64(n), "cpu-ns/key")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAdd adds n new keys to an empty filter and asks which were new.
func BenchmarkAdd(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			var f interface{}
			measure(b, func() {
				if f != nil {
					s.free(f)
				}
				f, _ = s.make(b)
				s.add(b, f, keys[:1])
			}, func() {
				if got := s.add(b, f, keys); float64(got) < float64(n)*(1-2*p)-100 {
					b.Fatalf("%d of %d keys were new", got, n)
				}
			})
			s.free(f)
		})
	}
}

// BenchmarkContains looks up n keys that were added.
func BenchmarkContains(b *testing.B) { lookUp(b, keys, true) }

// BenchmarkAbsent looks up n keys that were not added, and reports the rate of false positives.
func BenchmarkAbsent(b *testing.B) { lookUp(b, absent, false) }

func lookUp(b *testing.B, asked [][]byte, added bool) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			f, bits := s.make(b)
			s.add(b, f, keys)
			found := 0
			measure(b, func() {}, func() { found = s.count(f, asked) })
			if added && found != n {
				b.Fatalf("%d of %d keys were found", found, n)
			}
			if !added {
				b.ReportMetric(float64(found)/float64(n), "measured-p")
				b.ReportMetric(bits/float64(n), "bits/key")
			}
			s.free(f)
		})
	}
}

// BenchmarkPureFile looks up keys in a file with the pure-Go reader.
func BenchmarkPureFile(b *testing.B) {
	path := b.TempDir() + "/f.deja"
	f, err := deja.Create(path, deja.Options{Capacity: uint64(n), FPRate: p, Fixed: true})
	if err != nil {
		b.Fatal(err)
	}
	if _, err = f.AddBatch(keys); err == nil {
		err = f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	file, err := purefile.Open(path, purefile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	measure(b, func() {}, func() {
		for _, key := range keys {
			if !file.Contains(key) {
				b.Fatal("a key is missing")
			}
		}
	})
}
