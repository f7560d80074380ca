// peer_bits_and_blooms.go - github.com/bits-and-blooms/bloom; README.md has the arguments and the
// output.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"github.com/bits-and-blooms/bloom/v3"
)

const (
	repeats      = 3
	rusageThread = 1
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func read(path string) [][]byte {
	text, err := os.ReadFile(path)
	check(err)
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

// Processor time of this thread.
func cpu() int64 {
	var used syscall.Rusage
	check(syscall.Getrusage(rusageThread, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

// Calls with every key and counts the answers true; keeps the least time per key.
func timed(keys [][]byte, least *float64, call func([]byte) bool) (count int) {
	begin := cpu()
	for _, key := range keys {
		if call(key) {
			count++
		}
	}
	ns := float64(cpu()-begin) / float64(len(keys))
	if *least == 0 || ns < *least {
		*least = ns
	}
	return count
}

func main() {
	runtime.LockOSThread()
	members, absent, mixed := read(os.Args[1]), read(os.Args[2]), read(os.Args[3])
	p, err := strconv.ParseFloat(os.Args[4], 64)
	check(err)
	var least [4]float64
	var bits uint
	var found, hits, fresh int
	for i := 0; i < repeats; i++ {
		filter := bloom.NewWithEstimates(uint(len(members)), p)
		bits = filter.Cap()
		timed(members, &least[0], func(key []byte) bool { filter.Add(key); return true })
		hits = timed(absent, &least[1], filter.Test)
		found = timed(members, &least[2], filter.Test)
		filter = bloom.NewWithEstimates(uint(len(members)), p)
		fresh = timed(mixed, &least[3], func(key []byte) bool { return !filter.TestAndAdd(key) })
	}
	fmt.Printf("%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f\n", len(members), bits, found, hits, fresh,
		least[0], least[1], least[2], least[3])
}
