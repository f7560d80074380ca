package purefile

import (
	"encoding/binary"
	"math/bits"
)

// XXH3 with 64 bits, from its specification.

const (
	prime32x1 = 0x9E3779B1
	prime32x2 = 0x85EBCA77
	prime32x3 = 0xC2B2AE3D
	prime64x1 = 0x9E3779B185EBCA87
	prime64x2 = 0xC2B2AE3D27D4EB4F
	prime64x3 = 0x165667B19E3779F9
	prime64x4 = 0x85EBCA77C2B2AE63
	prime64x5 = 0x27D4EB2F165667C5
	primeMx1  = 0x165667919E3779F9
	primeMx2  = 0x9FB21C651E98DF25

	secretLen  = 192
	stripeLen  = 64
	perBlock   = (secretLen - stripeLen) / 8 // stripes, each with the secret 8 bytes further on
	blockLen   = perBlock * stripeLen
	midMost    = 240
	midSecret  = 136 - 17
	lastSecret = secretLen - stripeLen - 7
)

type xxhSecret [secretLen]byte

var defaultSecret = xxhSecret{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
	0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
	0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
	0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
	0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
	0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
	0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
	0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
	0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
	0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
	0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func u64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func foldMul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func avalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= primeMx1
	return h ^ h>>32
}

func avalanche64(h uint64) uint64 {
	h ^= h >> 33
	h *= prime64x2
	h ^= h >> 29
	h *= prime64x3
	return h ^ h>>32
}

// xxh3 is XXH3_64bits: seed 0, default secret.
func xxh3(in []byte) uint64 { return xxh3With(in, &defaultSecret, 0) }

// xxh3Seed is XXH3_64bits_withSeed.
func xxh3Seed(in []byte, seed uint64) uint64 {
	if len(in) <= midMost || seed == 0 {
		return xxh3With(in, &defaultSecret, seed)
	}
	var s xxhSecret
	for i := 0; i < secretLen; i += 16 {
		binary.LittleEndian.PutUint64(s[i:], u64(defaultSecret[i:])+seed)
		binary.LittleEndian.PutUint64(s[i+8:], u64(defaultSecret[i+8:])-seed)
	}
	return xxh3Long(in, &s)
}

// xxh3With is XXH3_64bits_withSecret if the seed is 0. The seed is for inputs of up to 240 bytes.
func xxh3With(in []byte, s *xxhSecret, seed uint64) uint64 {
	switch n := len(in); {
	case n == 0:
		return avalanche64(seed ^ u64(s[56:]) ^ u64(s[64:]))
	case n <= 3:
		word := uint32(in[0])<<16 | uint32(in[n>>1])<<24 | uint32(in[n-1]) | uint32(n)<<8
		return avalanche64(uint64(word) ^ (uint64(u32(s[0:])^u32(s[4:])) + seed))
	case n <= 8:
		return xxh3Word(in, s, seed)
	case n <= 16:
		lo := u64(in) ^ ((u64(s[24:]) ^ u64(s[32:])) + seed)
		hi := u64(in[n-8:]) ^ ((u64(s[40:]) ^ u64(s[48:])) - seed)
		return avalanche(uint64(n) + bits.ReverseBytes64(lo) + hi + foldMul(lo, hi))
	case n <= 128:
		return xxh3Short(in, s, seed)
	case n <= midMost:
		return xxh3Mid(in, s, seed)
	}
	return xxh3Long(in, s)
}

func xxh3Word(in []byte, s *xxhSecret, seed uint64) uint64 {
	seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
	word := uint64(u32(in[len(in)-4:])) + uint64(u32(in))<<32
	h := word ^ ((u64(s[8:]) ^ u64(s[16:])) - seed)
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= primeMx2
	h ^= h>>35 + uint64(len(in))
	h *= primeMx2
	return h ^ h>>28
}

func mix16(in, secret []byte, seed uint64) uint64 {
	return foldMul(u64(in)^(u64(secret)+seed), u64(in[8:])^(u64(secret[8:])-seed))
}

func xxh3Short(in []byte, s *xxhSecret, seed uint64) uint64 {
	n := len(in)
	acc := uint64(n) * prime64x1
	for i := (n - 1) / 32; i >= 0; i-- {
		acc += mix16(in[16*i:], s[32*i:], seed)
		acc += mix16(in[n-16*(i+1):], s[32*i+16:], seed)
	}
	return avalanche(acc)
}

func xxh3Mid(in []byte, s *xxhSecret, seed uint64) uint64 {
	n := len(in)
	acc := uint64(n) * prime64x1
	for i := 0; i < 8; i++ {
		acc += mix16(in[16*i:], s[16*i:], seed)
	}
	acc = avalanche(acc)
	for i := 8; i < n/16; i++ {
		acc += mix16(in[16*i:], s[16*(i-8)+3:], seed)
	}
	return avalanche(acc + mix16(in[n-16:], s[midSecret:], seed))
}

func accumulate(acc *[8]uint64, in, secret []byte) {
	in, secret = in[:stripeLen], secret[:stripeLen]
	for i := 0; i < 8; i++ {
		v := u64(in[8*i:])
		key := v ^ u64(secret[8*i:])
		acc[i^1] += v
		acc[i] += (key & 0xffffffff) * (key >> 32)
	}
}

func xxh3Long(in []byte, s *xxhSecret) uint64 {
	acc := [8]uint64{prime32x3, prime64x1, prime64x2, prime64x3, prime64x4, prime32x2, prime64x5, prime32x1}
	n := len(in)
	rest := in
	for len(rest) > blockLen {
		for i := 0; i < perBlock; i++ {
			accumulate(&acc, rest[stripeLen*i:], s[8*i:])
		}
		for i := range acc {
			acc[i] = (acc[i] ^ acc[i]>>47 ^ u64(s[secretLen-stripeLen+8*i:])) * prime32x1
		}
		rest = rest[blockLen:]
	}
	for i := 0; i < (len(rest)-1)/stripeLen; i++ {
		accumulate(&acc, rest[stripeLen*i:], s[8*i:])
	}
	accumulate(&acc, in[n-stripeLen:], s[lastSecret:])
	h := uint64(n) * prime64x1
	for i := 0; i < 4; i++ {
		h += foldMul(acc[2*i]^u64(s[11+16*i:]), acc[2*i+1]^u64(s[11+16*i+8:]))
	}
	return avalanche(h)
}
