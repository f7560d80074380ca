package purefile_test

import (
	"fmt"
	"log"

	"example.com/deja/go/purefile"
)

func ExampleOpen() {
	f, err := purefile.Open("../../tests/format/golden/v2/tiny.deja", purefile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.ContainsString("https://example.com/"), f.ContainsString("https://example.org/"))
	i := f.Info()
	fmt.Println(i.Kind, i.Hash, i.Keys, f.Verify())
	// Output:
	// true false
	// blocked xxh3 1 <nil>
}
