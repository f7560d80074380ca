module example.com/deja/go/benchcompare

go 1.19

require (
	github.com/bits-and-blooms/bloom/v3 v3.7.1
	example.com/deja/go v0.0.0
)

require github.com/bits-and-blooms/bitset v1.24.2 // indirect

replace example.com/deja/go => ../
