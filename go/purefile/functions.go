package purefile

import (
	"crypto/md5"
	"crypto/sha1"
	"math/bits"
)

// golden is 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

func mulhi(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// scramble is the finalizer of the 32-bit MurmurHash3.
func scramble(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

type sipKey [2]uint64

// siphash is SipHash-2-4 with 64 bits of output.
func siphash(key sipKey, in []byte) uint64 {
	v0, v1 := key[0]^0x736f6d6570736575, key[1]^0x646f72616e646f6d
	v2, v3 := key[0]^0x6c7967656e657261, key[1]^0x7465646279746573
	round := func() {
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	last := uint64(len(in)) << 56
	for ; len(in) >= 8; in = in[8:] {
		m := u64(in)
		v3 ^= m
		round()
		round()
		v0 ^= m
	}
	for i, b := range in {
		last |= uint64(b) << (8 * uint(i))
	}
	v3 ^= last
	round()
	round()
	v0 ^= last
	v2 ^= 0xff
	for i := 0; i < 4; i++ {
		round()
	}
	return v0 ^ v1 ^ v2 ^ v3
}

// jenkins is lookup2 with the initial value 0.
func jenkins(in []byte) uint32 {
	a, b, c := uint32(golden>>32), uint32(golden>>32), uint32(0)
	stir := func() {
		for _, s := range [3][3]uint{{13, 8, 13}, {12, 16, 5}, {3, 10, 15}} {
			a = (a - b - c) ^ c>>s[0]
			b = (b - c - a) ^ a<<s[1]
			c = (c - a - b) ^ b>>s[2]
		}
	}
	n := len(in)
	for ; len(in) >= 12; in = in[12:] {
		a += u32(in)
		b += u32(in[4:])
		c += u32(in[8:])
		stir()
	}
	var tail [12]byte
	copy(tail[:], in)
	a += u32(tail[:])
	b += u32(tail[4:])
	c += uint32(n) + u32(tail[8:])<<8 // the lowest byte of c is for the length
	stir()
	return c
}

// murmur2 is the 32-bit MurmurHash2 with seed 0.
func murmur2(in []byte) uint32 {
	const m = 0x5bd1e995
	h := uint32(len(in))
	for ; len(in) >= 4; in = in[4:] {
		k := u32(in) * m
		h = h*m ^ (k^k>>24)*m
	}
	if len(in) > 0 {
		for i, b := range in {
			h ^= uint32(b) << (8 * uint(i))
		}
		h *= m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// murmur3 is the first half of MurmurHash3_x64_128 with seed 0.
func murmur3(in []byte) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	n := uint64(len(in))
	var h1, h2 uint64
	first := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	second := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	for ; len(in) >= 16; in = in[16:] {
		h1 = (bits.RotateLeft64(h1^first(u64(in)), 27)+h2)*5 + 0x52dce729
		h2 = (bits.RotateLeft64(h2^second(u64(in[8:])), 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], in)
	h2 ^= second(u64(tail[8:]))
	h1 ^= first(u64(tail[:]))
	h1 ^= n
	h2 ^= n
	h1 += h2
	h2 += h1
	finish := func(k uint64) uint64 {
		k = (k ^ k>>33) * 0xff51afd7ed558ccd
		k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
		return k ^ k>>33
	}
	return finish(h1) + finish(h2)
}

func md5Word(in []byte) uint64 {
	sum := md5.Sum(in)
	return u64(sum[:])
}

func sha1Word(in []byte) uint64 {
	sum := sha1.Sum(in)
	return u64(sum[:])
}
