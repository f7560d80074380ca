module github.com/deja-url/deja/go/benchcompare

go 1.19

require (
	github.com/bits-and-blooms/bloom/v3 v3.7.1
	github.com/deja-url/deja/go v0.0.0
)

require github.com/bits-and-blooms/bitset v1.24.2 // indirect

replace github.com/deja-url/deja/go => ../
