package deja_test

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	deja "example.com/deja/go"
)

func Example() {
	dir, err := os.MkdirTemp("", "deja")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	seen, err := deja.OpenOrCreate(filepath.Join(dir, "seen.deja"), deja.Options{Capacity: 100_000})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	for _, url := range []string{"http://example.com/", "http://example.com/a", "http://example.com/"} {
		isNew, err := seen.AddString(url)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(url, isNew)
	}
	// Output:
	// http://example.com/ true
	// http://example.com/a true
	// http://example.com/ false
}

// Spellings that no server can tell apart are one key.
func ExampleOptions_url() {
	seen, err := deja.New(deja.Options{Capacity: 1000, URL: deja.URLCrawl})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	isNew, err := seen.AddStrings([]string{
		"http://Example.com:80/a/../b#top",
		"http://example.com/b",
		"http://example.com/b?utm_source=mail",
	})
	fmt.Println(isNew, err)
	// Output: [true false false] <nil>
}

// A batch overlaps the cache misses of its keys.
func ExampleFilter_AddBatch() {
	seen, err := deja.New(deja.Options{Capacity: 1000, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer seen.Close()
	lines := bufio.NewScanner(strings.NewReader("a\nb\na\nc\n"))
	var keys [][]byte
	for lines.Scan() {
		keys = append(keys, append([]byte(nil), lines.Bytes()...))
	}
	isNew, err := seen.AddBatch(keys)
	fmt.Println(isNew, err)
	fmt.Println(seen)
	// Output:
	// [true true false true] <nil>
	// deja filter (filter in memory, scalable of blocked, 3 keys, rate 1e-06)
}

func ExampleFilter_Count() {
	f, err := deja.New(deja.Options{Kind: deja.Spectral, Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	key := []byte("http://example.com/")
	f.Add(key)
	f.Add(key)
	n, _ := f.Count(key)
	removed, _ := f.Remove(key)
	left, _ := f.Count(key)
	fmt.Println(n, removed, left)
	// Output: 2 true 1
}

func ExampleStatus() {
	f, err := deja.New(deja.Options{Capacity: 1000})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	_, err = f.Remove([]byte("a"))
	fmt.Println(errors.Is(err, deja.ErrNotSupported))
	_, err = deja.New(deja.Options{Capacity: 1000, FPRate: 1.5})
	fmt.Println(err)
	// Output:
	// true
	// deja: Options.FPRate is 1.5: it must lie between 0 and 1
}

func ExampleCanonical() {
	form, err := deja.Canonical(deja.URLSafe, "HTTP://Example.com:80/a/../b#top")
	fmt.Println(form, err)
	// Output: http://example.com/b <nil>
}

func ExampleBuilder() {
	b, err := deja.NewBuilder(deja.Options{FingerprintBits: 16})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	if err := b.AddStrings([]string{"evil.example/", "bad.example/"}); err != nil {
		log.Fatal(err)
	}
	list, err := b.Finish("", deja.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer list.Close()
	fmt.Println(list.ContainsString("bad.example/"), list.ContainsString("good.example/"))
	// Output: true false
}
