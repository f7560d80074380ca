package purefile

const (
	stateSealed = 1
	stateOpen   = 2
	mostCount   = 1 << 58
	turnsMask   = 1<<63 - 1
)

// A record is the state of a filter at a sync, or since.
type record struct {
	sequence  uint64
	sealed    bool
	offered   uint64
	checksum  uint64
	time      uint64
	keys      [mostParts]uint64
	syncs     uint64
	turns     uint64
	beginning [8]uint64
}

// parseRecord returns a record, whether it is intact, and whether it was written.
func parseRecord(b []byte, header uint64, parity uint64) (r record, intact, written bool) {
	b = b[:recordLen]
	if parity == 0 && isZero(b) {
		return r, true, false
	}
	state, lost := u32(b[8:]), f64(b[328:])
	r.sequence = u64(b)
	intact = u64(b[504:]) == xxh3(b[:504]) && u64(b[296:]) == header && within(r.sequence, 1, 1<<63-1) &&
		r.sequence&1 == parity && (state == stateSealed || state == stateOpen) && finite(lost) && lost >= 0
	if !intact {
		return r, false, true
	}
	count := func(at int) uint64 {
		if n := u64(b[at:]); n < mostCount {
			return n
		}
		return mostCount
	}
	r.sealed, r.offered, r.checksum, r.time = state == stateSealed, count(16), u64(b[24:]), u64(b[32:])
	for i := range r.keys {
		r.keys[i] = count(40 + 8*i)
	}
	r.syncs, r.turns = count(304), u64(b[360:])&turnsMask
	for i := range r.beginning {
		r.beginning[i] = u64(b[368+8*i:])
	}
	return r, true, true
}

// newest returns the record that describes the current state (step 6).
func newest(b []byte, header uint64, repair bool) (*record, error) {
	first, firstIntact, _ := parseRecord(b[recordAt:], header, 1)
	second, secondIntact, written := parseRecord(b[recordAt+recordLen:], header, 0)
	switch {
	case firstIntact && secondIntact:
		if written && second.sequence > first.sequence {
			return &second, nil
		}
		return &first, nil
	case repair && firstIntact:
		first.sealed = false
		return &first, nil
	case repair && secondIntact && written:
		second.sealed = false
		return &second, nil
	}
	return nil, damaged("a sync record is damaged")
}
