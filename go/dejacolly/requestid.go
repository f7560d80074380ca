package dejacolly

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"net/url"

	"github.com/gocolly/colly/v2"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Colly hands storage a number for each request: FNV-1a of the normalized URL and the body. It does
// not say which page a number belongs to, so we compute it again when a page ends. If a version of
// Colly computed it differently, no page would ever be recorded: nothing would be lost.

var parser = whatwg.NewParser(whatwg.WithPercentEncodeSinglePercentSign())

func requestID(u string, body io.Reader) (uint64, error) {
	h := fnv.New64a()
	if parsed, err := parser.Parse(u); err == nil {
		u = parsed.String()
	}
	io.WriteString(h, u)
	if body != nil {
		if _, err := io.Copy(h, body); err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}

// idOf returns the number of a request. A body that cannot be read twice has none.
func idOf(r *colly.Request) (uint64, bool) {
	if r.Body == nil {
		id, _ := requestID(r.URL.String(), nil)
		return id, true
	}
	body, ok := r.Body.(io.ReadSeeker)
	if !ok {
		return 0, false
	}
	at, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, false
	}
	if _, err = body.Seek(0, io.SeekStart); err != nil {
		return 0, false
	}
	id, err := requestID(r.URL.String(), body)
	if _, back := body.Seek(at, io.SeekStart); err != nil || back != nil {
		return 0, false
	}
	return id, true
}

// idOfMarshaled returns the number that a request of the queue will have.
func idOfMarshaled(request []byte) (uint64, error) {
	var r struct {
		URL  string
		Body []byte
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return 0, err
	}
	parsed, err := parser.Parse(r.URL)
	if err != nil {
		return 0, err
	}
	u, err := url.Parse(parsed.Href(false))
	if err != nil {
		return 0, err
	}
	return requestID(u.String(), bytes.NewReader(r.Body))
}
