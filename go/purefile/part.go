package purefile

import "math/bits"

// The kinds of docs/format/header.md.
const (
	classic = 1 + iota
	blocked
	layered
	spectral
	paired
	scalable
	window
	static
	exact
)

var odd = [16]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
	0xc2b2ae35, 0x85ebca6b, 0x1b873593, 0xcc9e2d51, 0x165667b1, 0x27d4eb2f, 0xe6546b65, 0x9e3779b1,
}

// A part is one body and what says how to read it.
type part struct {
	kind     uint32
	bits     uint64
	k        int
	layer    int
	capacity uint64
	rate     float64
	offset   uint64
	length   uint64
	origin   int
	lines    int // cache lines of a key, at least 1
	marks    bool
	dates    bool
	body     []byte
	sets     *[256]uint16 // of lanes

	counterBits int // spectral
	spread      bool
	rows        uint64 // window: lines in a row, G + 1

	width, segLog  uint32 // static
	segments, seed uint64
	empty          bool
}

// laneSets makes the table S of k lanes out of 16.
func laneSets(k int) *[256]uint16 {
	var sets [256]uint16
	for d := 0; d < 16; d++ {
		var lane [16]int
		for i := range lane {
			lane[i] = i
		}
		state := uint64(16*k+d+1) * golden
		for i := 15; i > 0; i-- {
			state += golden
			j := mix(state) % uint64(i+1)
			lane[i], lane[j] = lane[j], lane[i]
		}
		var set uint16
		for _, l := range lane[:k] {
			set |= 1 << uint(l)
		}
		for r := 0; r < 16; r++ {
			sets[16*d+r] = bits.RotateLeft16(set, r)
		}
	}
	return &sets
}

func (p *part) bit(at uint64) bool { return p.body[at/8]>>(at%8)&1 != 0 }

// has reports whether the part has a key that became one number.
func (p *part) has(h uint64) bool {
	switch p.kind {
	case classic:
		for j := 1; j <= p.k; j++ {
			if !p.bit(mulhi(mix(h+uint64(j)*golden), p.bits)) {
				return false
			}
		}
		return true
	case blocked:
		return p.hasBlocks(h)
	case spectral:
		return p.count(h) > 0
	case static:
		return p.hasPrint(h)
	case exact:
		switch {
		case p.dates:
			first, _ := p.days(h)
			return first != 0
		case p.marks:
			return p.hasMarked(h)
		}
		return p.hasFingerprint(h)
	}
	return false
}

// hasAll is has for a key that became several numbers (kind classic).
func (p *part) hasAll(numbers []uint64) bool {
	for _, n := range numbers {
		if !p.bit(mulhi(n, p.bits)) {
			return false
		}
	}
	return true
}

// --- blocked, window ---

func (p *part) hasBlocks(h uint64) bool {
	blocks := p.bits / 512 / uint64(p.lines)
	for j := 0; j < p.lines; j++ {
		n := h
		if j > 0 {
			n = mix(h + uint64(j)*golden)
		}
		if !p.hasLanes(n, uint64(j)*blocks+mulhi(n, blocks)) {
			return false
		}
	}
	return true
}

// hasLanes reports whether the line has the bits of h.
func (p *part) hasLanes(h, line uint64) bool {
	g := h * golden
	block := p.body[64*line : 64*line+64]
	for lanes := p.sets[byte(g>>24)]; lanes != 0; lanes &= lanes - 1 {
		l := bits.TrailingZeros16(lanes)
		if u32(block[4*l:])>>(uint32(g>>32)*odd[l]>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// inGeneration reports whether generation g of a window has the key.
func (p *part) inGeneration(h uint64, g uint64) bool {
	return p.hasLanes(h, mulhi(h, p.bits/512/p.rows)*p.rows+g)
}

// --- spectral ---

// count is the smallest counter of a key.
func (p *part) count(h uint64) uint64 {
	least := uint64(1<<64 - 1)
	see := func(counter uint64) {
		if v := p.counter(counter); v < least {
			least = v
		}
	}
	b := uint64(p.counterBits)
	if p.spread {
		for i := 1; i <= p.k; i++ {
			see(mulhi(mix(h+uint64(i)*golden), p.bits/b))
		}
		return least
	}
	c, g := 32/b, h*golden
	first := mulhi(h, p.bits/512) * 16 * c
	if b == 4 {
		for lanes := p.sets[byte(g>>24)]; lanes != 0; lanes &= lanes - 1 {
			l := bits.TrailingZeros16(lanes)
			see(first + uint64(l)*c + uint64(uint32(g>>32)*odd[l]>>29))
		}
		return least
	}
	left := [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	x := g
	for i := 0; i < p.k; i++ {
		r := uint64(16 - i)
		at := mulhi(x, r)
		lane := uint64(left[at])
		copy(left[at:], left[at+1:])
		x *= r
		see(first + lane*c + mulhi(x, c))
		x *= c
	}
	return least
}

func (p *part) counter(i uint64) uint64 {
	switch p.counterBits {
	case 4:
		return uint64(p.body[i/2]) >> (4 * (i % 2)) & 15
	case 8:
		return uint64(p.body[i])
	case 16:
		return uint64(p.body[2*i]) | uint64(p.body[2*i+1])<<8
	}
	return uint64(u32(p.body[4*i:]))
}

// --- exact ---

// probe visits the lines of a key until `line` knows the answer.
func probe(h, lines, most uint64, line func(uint64) (found, done bool)) bool {
	at, stride := mulhi(h, lines), 1+mulhi(h*golden, lines-1)
	for hop := uint64(1); hop <= most; hop++ {
		if found, done := line(at); done {
			return found
		}
		if hop >= 8 {
			stride = 1
		}
		at = (at + stride) % lines
	}
	return false
}

func (p *part) hasFingerprint(h uint64) bool {
	lines, key := p.bits/512, h
	if key == 0 {
		key = 1
	}
	return probe(h, lines, lines+8, func(line uint64) (bool, bool) {
		free := false
		for _, slot := range lineOf(p.body, line) {
			if slot == key {
				return true, true
			}
			free = free || slot == 0
		}
		return false, free
	})
}

func lineOf(body []byte, line uint64) (slots [8]uint64) {
	b := body[64*line : 64*line+64]
	for i := range slots {
		slots[i] = u64(b[8*i:])
	}
	return slots
}

func (p *part) hasMarked(h uint64) bool {
	lines, key := p.bits/1024, h&^1
	if key == 0 {
		key = 2
	}
	return probe(h, lines, 2*lines+8, func(line uint64) (bool, bool) {
		free := false
		slots := lineOf(p.body, 2*line+h&1)
		for _, slot := range slots {
			if slot&^1 == key {
				return true, true
			}
			free = free || slot == 0
		}
		return false, free || slots[h>>1&7]&1 == 0
	})
}

// days returns the first and last day of a key; 0: it is absent.
func (p *part) days(h uint64) (first, last uint16) {
	h &^= 1<<11 - 1
	lines := p.bits / 512
	probe(h, lines, lines+8, func(line uint64) (bool, bool) {
		b := p.body[64*line : 64*line+64]
		low := u32(b[60:])
		for i := 0; i < 6; i++ {
			slot := u64(b[8*i:])
			if slot == 0 {
				return false, true
			}
			if slot>>16 == h>>16 && uint64(low>>(5*uint(i))&31) == h>>11&31 {
				first, last = uint16(slot), uint16(b[48+2*i])|uint16(b[49+2*i])<<8
				if first == 0 {
					first = 1
				}
				if last == 0 {
					last = 1
				}
				return true, true
			}
		}
		return false, false
	})
	return first, last
}

// --- static ---

func (p *part) hasPrint(h uint64) bool {
	if p.empty {
		return false
	}
	g, length := mix(h^p.seed), uint64(1)<<p.segLog
	slot0 := mulhi(g, p.segments*length)
	slot1 := (slot0 + length) ^ (g >> 18 & (length - 1))
	slot2 := (slot0 + 2*length) ^ (g & (length - 1))
	print := (g ^ g>>32) * golden >> (64 - p.width)
	return p.slot(slot0)^p.slot(slot1)^p.slot(slot2) == print
}

func (p *part) slot(i uint64) uint64 {
	switch p.width {
	case 8:
		return uint64(p.body[i])
	case 16:
		return uint64(p.body[2*i]) | uint64(p.body[2*i+1])<<8
	}
	return uint64(u32(p.body[4*i:]))
}
