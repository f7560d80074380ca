package dejacolly

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gocolly/colly/v2/storage"
)

// A jar is a cookie jar that can be saved: it remembers the cookies that were set.
type jar struct {
	path  string
	mu    sync.Mutex
	jar   *cookiejar.Jar
	saved []savedCookie // the latest last
	old   bool          // the file is as saved
}

type savedCookie struct {
	URL    string `json:"url"`
	Cookie string `json:"cookie"`
}

// mostCookies is how many cookies of one host are saved.
const mostCookies = 100

func openJar(path string) (*jar, error) {
	inner, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	j := &jar{path: path, jar: inner, old: true}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	var all []savedCookie
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("dejacolly: %s: not a file of cookies (%w); delete it to begin without cookies", path, err)
	}
	for _, c := range all {
		u, err := url.Parse(c.URL)
		if err != nil {
			return nil, fmt.Errorf("dejacolly: %s: %w", path, err)
		}
		j.set(u, c.Cookie)
	}
	j.old = true
	return j, nil
}

func (j *jar) get(u *url.URL) string { return storage.StringifyCookies(j.jar.Cookies(u)) }

func (j *jar) set(u *url.URL, cookies string) {
	parsed := storage.UnstringifyCookies(cookies)
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range parsed {
		if c.MaxAge > 0 { // later, its beginning would be unknown
			c.Expires, c.MaxAge = now.Add(time.Duration(c.MaxAge)*time.Second), 0
		}
		j.note(u, c, now)
	}
	j.jar.SetCookies(u, parsed)
	j.old = false
}

// note replaces the saved cookie of this host, name, domain and path.
func (j *jar) note(u *url.URL, c *http.Cookie, now time.Time) {
	origin := u.Scheme + "://" + u.Host + u.EscapedPath()
	kept, same, first := j.saved[:0], 0, -1
	for _, old := range j.saved {
		if host(old.URL) == u.Host {
			was := storage.UnstringifyCookies(old.Cookie)
			if len(was) == 1 && was[0].Name == c.Name && was[0].Domain == c.Domain && was[0].Path == c.Path {
				continue
			}
			if same++; first < 0 {
				first = len(kept)
			}
		}
		kept = append(kept, old)
	}
	if same >= mostCookies {
		kept = append(kept[:first], kept[first+1:]...)
	}
	j.saved = kept
	if c.MaxAge >= 0 && (c.Expires.IsZero() || c.Expires.After(now)) && c.Name != "" {
		j.saved = append(j.saved, savedCookie{origin, c.String()})
	}
}

func host(u string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// save replaces the file atomically. Only the owner can read it: cookies are credentials.
func (j *jar) save() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.old {
		return nil
	}
	data, err := json.MarshalIndent(j.saved, "", " ")
	if err != nil {
		return err
	}
	if err := replaceFile(j.path, func(f *os.File) error {
		_, err := f.Write(append(data, '\n'))
		return err
	}); err != nil {
		return err
	}
	j.old = true
	return nil
}

// replaceFile writes a new file of this name and makes it durable.
func replaceFile(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return syncFolder(path)
}

func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
