// Package web serves the merchant's dashboard below /dashboard.
//
// In: what `make build` makes of the pages in src. Out: files that never change while the
// process runs. Whoever asks gets them: what belongs to a merchant comes from the
// merchant's API, where the page signs in. The package knows nothing of that API.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"tonscribe/query/compress"
)

// Path is where the dashboard is.
const Path = "/dashboard"

// site has the committed page that says how to build, and below built, which only a
// build by make fills, the dashboard.
//
//go:embed site
var site embed.FS

const (
	builtFolder = "site/built"
	unbuiltPage = "site/unbuilt.html"
	indexName   = "index.html"
	assetFolder = "assets/" // its files have a hash of their content in their names
)

// Site is the dashboard's files.
type Site struct {
	index *file            // every page: which one is the script's matter
	files map[string]*file // by path below Path
}

// file is a body that never changes.
type file struct {
	kind, cache, tag string
	body             []byte
	coded            map[string]func() []byte // by coding
}

// New reads the files that the binary has.
func New() (*Site, error) {
	built, err := fs.Sub(site, builtFolder)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	s, err := newSite(built)
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	page, err := site.ReadFile(unbuiltPage)
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	return &Site{index: newFile(indexName, page)}, nil
}

// newSite reads the files of a build. The error is fs.ErrNotExist where there is none.
func newSite(built fs.FS) (*Site, error) {
	s := &Site{files: map[string]*file{}}
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(built, name)
		if err != nil {
			return err
		}
		s.files[name] = newFile(name, body)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	if s.index = s.files[indexName]; s.index == nil {
		return nil, fmt.Errorf("dashboard: %s: %w", indexName, fs.ErrNotExist)
	}
	return s, nil
}

func newFile(name string, body []byte) *file {
	sum := sha256.Sum256(body)
	f := &file{
		kind: kinds[path.Ext(name)], cache: "no-cache", body: body, tag: base64.RawURLEncoding.EncodeToString(sum[:12]),
		coded: map[string]func() []byte{},
	}
	if strings.HasPrefix(name, assetFolder) {
		f.cache = "public, max-age=31536000, immutable"
	}
	for _, coding := range compress.Codings {
		f.coded[coding] = sync.OnceValue(func() []byte { return compress.Bytes(coding, body) })
	}
	return f
}

// kinds are by the extension of a name. Package mime would look at the machine's own list.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Mount adds the dashboard to a router.
func (s *Site) Mount(router *gin.Engine) {
	handle := gin.WrapH(http.HandlerFunc(s.serve))
	for _, at := range []string{Path, Path + "/*page"} {
		router.GET(at, handle)
		router.HEAD(at, handle)
	}
}

// serve answers with a file, or with the page where there is none of that name: the
// script shows what belongs to the path. An asset that is not there is an older build's.
func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, Path), "/")
	f := s.files[name]
	if f == nil {
		if strings.HasPrefix(name, assetFolder) {
			w.Header().Set("Cache-Control", "no-store")
			http.NotFound(w, r)
			return
		}
		f = s.index
	}
	f.serve(w, r)
}

// rules keep the page from loading, sending to, or being framed by anything but this
// server, and from making code of text.
const rules = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types vue"

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	coding := compress.Choose(r.Header["Accept-Encoding"])
	tag := `"` + f.tag + coding + `"` // each coding is a representation of its own
	header := w.Header()
	header.Del("Access-Control-Allow-Origin") // the API is for pages of any origin, this is not
	header.Del("Access-Control-Expose-Headers")
	header.Set("ETag", tag)
	header.Set("Cache-Control", f.cache)
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Security-Policy", rules)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.body
	if coding != "" {
		body = f.coded[coding]()
		header.Set("Content-Encoding", coding)
	}
	header.Set("Content-Type", f.kind)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has gone when this fails
	}
}
