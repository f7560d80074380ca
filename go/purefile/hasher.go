package purefile

import (
	"encoding/binary"
	"math/bits"
)

// The hashes of docs/format/hashes.md.
const (
	hashXXH3 = 1 + iota
	hashSip
	hashJenkins
	hashMurmur2
	hashMurmur3
	hashMD5
	hashSHA1
	hashMixed
)

const shortKey = 16 // longest key of the short-key function

// A hasher turns keys into numbers, with one secret key, visit and rules.
type hasher struct {
	key     [32]byte
	base    uint64 // visit * 2^16
	rules   uint32
	hash    uint32
	layered bool
	secret  xxhSecret
	sip     sipKey
	short   [38]uint64
	salts   []uint64 // hashes 3 to 8: one per number
}

func newHasher(key []byte, visit uint64, rules, hash uint32, numbers int, layered bool) *hasher {
	x := &hasher{base: visit << 16, rules: rules, hash: hash, layered: layered}
	copy(x.key[:], key)
	for i := 0; i < secretLen/8; i++ {
		binary.LittleEndian.PutUint64(x.secret[8*i:], x.derive(1, x.base+uint64(i)))
	}
	x.sip = sipKey{x.derive(3, x.base), x.derive(3, x.base+1)}
	for i := range x.short {
		x.short[i] = x.derive(9, x.base+uint64(i))
	}
	if hash > hashSip {
		for w := 0; w < numbers; w++ {
			x.salts = append(x.salts, x.derive(2, x.base+uint64(w)))
		}
	}
	return x
}

func (x *hasher) derive(stream, index uint64) uint64 {
	var m [32]byte
	copy(m[:], x.key[16:])
	binary.LittleEndian.PutUint64(m[16:], stream)
	binary.LittleEndian.PutUint64(m[24:], index)
	return siphash(sipKey{u64(x.key[:]), u64(x.key[8:])}, m[:])
}

func (x *hasher) check() uint64          { return x.derive(5, 0) }
func (x *hasher) partSalt(i int) uint64  { return x.derive(4, x.base+uint64(i)) | 1 }
func (x *hasher) layerSalt(i int) uint64 { return x.derive(6, x.base+uint64(i)) }
func (x *hasher) placeSalt(i int) uint64 { return x.derive(6, x.base+32+uint64(i)) }
func (x *hasher) several() bool          { return len(x.salts) > 1 }

// number returns the only number of a key.
func (x *hasher) number(key []byte) uint64 {
	switch {
	case len(x.salts) > 0:
		return x.salted(0, key)
	case x.hash == hashSip:
		return siphash(x.sip, key)
	case x.rules == 0:
		return xxh3With(key, &x.secret, 0)
	case len(key) <= shortKey:
		return x.shortNumber(key)
	case x.layered:
		return siphash(x.sip, key)
	}
	return xxh3With(key, &x.secret, 0)
}

// shortNumber multiplies the two words of a key by secrets of 128 bits.
func (x *hasher) shortNumber(key []byte) uint64 {
	n := len(key)
	var a, b uint64
	switch {
	case n >= 8:
		a, b = u64(key), u64(key[n-8:])
	case n >= 4:
		a, b = uint64(u32(key)), uint64(u32(key[n-4:]))
	case n > 0:
		b = uint64(key[0]) | uint64(key[n/2])<<8 | uint64(key[n-1])<<16
	}
	lo, hi := x.short[2*(2+n)], x.short[2*(2+n)+1]
	for i, word := range [2]uint64{a, b} {
		h, l := bits.Mul64(x.short[2*i], word)
		h += x.short[2*i+1] * word
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	return mix(hi)
}

// salted returns number w of a key, for hashes 3 to 8.
func (x *hasher) salted(w int, key []byte) uint64 {
	salt := x.salts[w]
	in := make([]byte, 8, 8+len(key))
	binary.LittleEndian.PutUint64(in, salt)
	in = append(in, key...)
	switch x.hash {
	case hashJenkins:
		return x.widen(jenkins(in))
	case hashMurmur2:
		return x.widen(murmur2(in))
	case hashMurmur3:
		return murmur3(in)
	case hashMD5:
		return md5Word(in)
	case hashSHA1:
		return sha1Word(in)
	}
	switch w % 6 {
	case 0:
		return x.widen(jenkins(in))
	case 1:
		return x.widen(murmur2(in))
	case 2:
		return x.widen(uint32(sha1Word(in)))
	case 3:
		return x.widen(uint32(md5Word(in)))
	case 4:
		return x.widen(uint32(murmur3(in)))
	}
	return x.widen(uint32(xxh3Seed(key, salt)))
}

// widen puts 32 bits into the high half, where positions come from.
func (x *hasher) widen(v uint32) uint64 {
	if x.rules > 0 {
		v = scramble(v)
	}
	return uint64(v) << 32
}
