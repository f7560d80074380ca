package purefile

import "bytes"

const mostWords = 16

// A segment of a key, with its number.
type segment struct {
	bytes []byte
	layer int // from 1
	place int
}

// wordLayers is the number of layers to which the n words of a key are dealt.
func (f *File) wordLayers(n int) int {
	if f.h.layers > 0 {
		return int(f.h.layers)
	}
	k := f.h.part[0].k
	if n = (n + k - 1) / k; n > 8 {
		return 8
	}
	return n
}

// afterScheme returns where the search for slashes starts.
func afterScheme(key []byte) int {
	i := 0
	for i < len(key) && isSchemeByte(key[i], i == 0) {
		i++
	}
	if i > 0 && bytes.HasPrefix(key[i:], []byte("://")) {
		return i + 3
	}
	return 0
}

func isSchemeByte(c byte, first bool) bool {
	letter := c|32 >= 'a' && c|32 <= 'z'
	return letter || !first && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')
}

// cutURL cuts a URL into at most `most` segments. Each but the first begins with its slash; the first
// is empty if the key begins with a slash.
func cutURL(key []byte, most int) [][]byte {
	start := afterScheme(key)
	end := len(key)
	if i := bytes.IndexAny(key[start:], "?#"); i >= 0 {
		end = start + i
	}
	var segments [][]byte
	begin := 0
	for i := start; i < end && len(segments) < most-1; i++ {
		if key[i] == '/' {
			segments = append(segments, key[begin:i])
			begin = i
		}
	}
	return append(segments, key[begin:])
}

// cut cuts a key into segments.
func (f *File) cut(key []byte) []segment {
	var segments []segment
	if f.h.has(flagWords) {
		words := bytes.SplitN(key, []byte{byte(f.h.delimiter)}, mostWords)
		q := f.wordLayers(len(words))
		for t, word := range words {
			segments = append(segments, segment{word, t%q + 1, t})
		}
		return segments
	}
	bare := f.h.has(flagPaper) && f.h.rules == 1
	for t, s := range cutURL(key, int(f.h.layers)) {
		if bare && t == 0 {
			s = s[afterScheme(key):]
		} else if bare {
			s = s[1:]
		}
		segments = append(segments, segment{s, t + 1, t})
	}
	return segments
}

func withoutQuery(s []byte) []byte {
	if i := bytes.IndexAny(s, "?#"); i >= 0 {
		return s[:i]
	}
	return s
}

// layerHas reports whether a layer has a number.
func (f *File) layerHas(layer int, number uint64) bool {
	for i := range f.h.part {
		if p := &f.h.part[i]; i > 0 && p.layer == layer && p.has(number) {
			return true
		}
	}
	return false
}

func (f *File) inLayers(key []byte) bool {
	segments := f.cut(key)
	if f.h.has(flagPaper) {
		return f.inPaperLayers(segments)
	}
	words := f.h.has(flagWords)
	var x uint64
	for t, s := range segments {
		whole := f.hasher.number(s.bytes)
		inLayer, salt := whole, f.layer[s.layer]
		if words {
			salt = f.place[s.place]
		} else if t == len(segments)-1 {
			inLayer = f.hasher.number(withoutQuery(s.bytes))
		}
		if !f.layerHas(s.layer, mix(inLayer^f.layer[s.layer])) {
			return false
		}
		x ^= mix(whole ^ salt)
	}
	return f.h.part[0].has(x)
}

// inPaperLayers looks up a key by Algorithms 3 and 4.
func (f *File) inPaperLayers(segments []segment) bool {
	p := &f.h.part[0]
	var numbers [mostWords]uint64
	for t, s := range segments {
		numbers[t] = f.hasher.number(s.bytes)
		if !f.layerHas(s.layer, numbers[t]) {
			return false
		}
	}
	for j := 1; j <= p.k; j++ {
		var x uint64
		for _, h := range numbers[:len(segments)] {
			n := mix(h + uint64(j)*golden)
			if f.h.rules == 1 {
				n = mulhi(n, p.bits)
			}
			x ^= n
		}
		if f.h.rules == 1 {
			x %= p.bits
		} else {
			x = mulhi(x, p.bits)
		}
		if !p.bit(x) {
			return false
		}
	}
	return true
}

// HasPrefix reports whether any URL at or below this one was added. ErrNotSupported: the filter is
// not layered, or is in paper mode or words mode.
func (f *File) HasPrefix(url []byte) (bool, error) {
	if f.h.kind != layered || f.h.has(flagPaper|flagWords) {
		return false, f.cannot("answer queries about prefixes", "layered")
	}
	segments := cutURL(withoutQuery(url), int(f.h.layers))
	if n := len(segments); n == int(f.h.layers) || n > 1 && string(segments[n-1]) == "/" {
		segments = segments[:n-1]
	}
	for t, s := range segments {
		if !f.layerHas(t+1, mix(f.hasher.number(s)^f.layer[t+1])) {
			return false, nil
		}
	}
	return true, nil
}
