package deja

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Goroutines add the same keys: each key is new to at least one of them, and all are found.  Syncs,
// statistics and growth run in between.
func TestConcurrentCalls(t *testing.T) {
	const n, workers = 4000, 8
	f, err := Create(filepath.Join(t.TempDir(), "f.deja"), Options{Capacity: 500, FPRate: 1e-9})
	must(t, err)
	text, raw := keysOf(0, n)
	news := make([]int32, n)
	var wait sync.WaitGroup
	for w := 0; w < workers; w++ {
		wait.Add(1)
		go func(w int) {
			defer wait.Done()
			for at := 0; at < n; at++ {
				i := (at + w*n/workers) % n
				isNew, err := f.AddString(text[i])
				if err != nil {
					t.Error(err)
					return
				}
				if isNew {
					atomic.AddInt32(&news[i], 1)
				}
				if !f.Contains(raw[i]) {
					t.Error("an added key is absent")
				}
				switch at % 500 {
				case 100:
					f.ContainsBatch(raw[:50])
				case 200:
					if err := f.Sync(); err != nil {
						t.Error(err)
					}
				case 300:
					if _, err := f.Stats(w == 0); err != nil {
						t.Error(err)
					}
				}
			}
		}(w)
	}
	wait.Wait()
	for i, times := range news {
		check(t, times >= 1, "key %d was new to nobody", i)
	}
	s, err := f.Stats(false)
	must(t, err)
	check(t, s.Keys >= n && s.Offered == n*workers, "%d keys, %d offered", s.Keys, s.Offered)
	must(t, f.Close())
	must(t, VerifyFile(f.Path()))
}

func TestConcurrentMergesDoNotDeadlock(t *testing.T) {
	a, b := made(t, Options{Capacity: 100, Seed: 1}), made(t, Options{Capacity: 100, Seed: 1})
	a.AddString("a")
	b.AddString("b")
	var wait sync.WaitGroup
	for i := 0; i < 4; i++ {
		wait.Add(2)
		go func() { defer wait.Done(); a.Overlap(b); a.AddString("x") }()
		go func() { defer wait.Done(); b.Overlap(a); b.AddString("y") }()
	}
	wait.Wait()
}

func TestCountsAndRemovalsRunConcurrently(t *testing.T) {
	f := made(t, Options{Kind: Spectral, Capacity: 1000, CounterBits: 16})
	_, raw := keysOf(0, 100)
	var wait sync.WaitGroup
	for w := 0; w < 4; w++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := 0; i < 50; i++ {
				f.AddBatch(raw)
				f.CountBatch(raw)
				f.RemoveBatch(raw[:50])
			}
		}()
	}
	wait.Wait()
	counts, err := f.CountBatch(raw)
	must(t, err)
	check(t, counts[99] >= 200 && counts[0] < 200, "%d %d", counts[0], counts[99])
}

// A filter may be closed while others use it: they get ErrClosed.
func TestClosingWhileInUse(t *testing.T) {
	f := made(t, Options{Capacity: 10})
	var wait sync.WaitGroup
	for w := 0; w < 4; w++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				if _, err := f.AddString("a"); err != nil {
					wants(t, err, ErrClosed, "")
					return
				}
			}
		}()
	}
	f.Close()
	wait.Wait()
}
