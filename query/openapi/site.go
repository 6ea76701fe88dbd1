package openapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"tonscribe/query/compress"
)

// PagePath is where the page is.
const PagePath = "/api/docs"

//go:embed page
var pageFiles embed.FS

// Site serves documents and the page that shows them.
type Site struct {
	files []*file
	moved map[string]string // from path to path
}

// file is a body that never changes.
type file struct {
	path, kind, tag string
	bodies          map[string]func() []byte // by coding, the empty one is none
}

// NewSite renders the documents.
func NewSite(documents ...*Document) (*Site, error) {
	s := &Site{moved: map[string]string{}}
	var layers []string
	for _, d := range documents {
		text, err := d.Render()
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"/openapi.json", "/doc.json"} {
			s.add(d.Prefix+name, "application/json", text)
		}
		page := PagePath + "#" + strings.TrimPrefix(d.Prefix, "/api/")
		layers = append(layers, strings.TrimPrefix(d.Prefix, "/api/"))
		s.moved[d.Prefix], s.moved[d.Prefix+"/index.html"] = page, page
	}
	for name, kind := range map[string]string{
		"page.html": "text/html; charset=utf-8", "page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8",
	} {
		text, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		text = bytes.Replace(text, []byte("LAYERS"), []byte(strings.Join(layers, " ")), 1)
		at := path.Join(PagePath, name)
		if name == "page.html" {
			at = PagePath
		}
		s.add(at, kind, text)
	}
	return s, nil
}

func (s *Site) add(at, kind string, body []byte) {
	sum := sha256.Sum256(body)
	bodies := map[string]func() []byte{"": func() []byte { return body }}
	for _, coding := range compress.Codings {
		bodies[coding] = sync.OnceValue(func() []byte { return compress.Bytes(coding, body) }) // most servers are never asked
	}
	s.files = append(s.files, &file{path: at, kind: kind, bodies: bodies, tag: base64.RawURLEncoding.EncodeToString(sum[:12])})
}

// Reading are the methods by which a path is read (contract 1.1).
var Reading = []string{http.MethodGet, http.MethodHead}

// Mount adds the paths to a router.
func (s *Site) Mount(router gin.IRouter) {
	for _, f := range s.files {
		router.Match(Reading, f.path, f.serve)
	}
	for from, to := range s.moved {
		router.Match(Reading, from, func(c *gin.Context) { c.Redirect(http.StatusFound, to) })
	}
	router.Match(Reading, "/", func(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "/api/v3/index.html") })
}

// rules keep the page from loading anything that is not of this server, and
// others from framing it.
const rules = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (f *file) serve(c *gin.Context) {
	coding := compress.Choose(c.Request.Header["Accept-Encoding"])
	tag := `"` + f.tag + coding + `"` // each coding is a representation of its own
	header := c.Writer.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Security-Policy", rules)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if c.GetHeader("If-None-Match") == tag {
		c.Status(http.StatusNotModified)
		return
	}
	body := f.bodies[coding]()
	if coding != "" {
		header.Set("Content-Encoding", coding)
	}
	header.Set("Content-Type", f.kind)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	c.Status(http.StatusOK)
	if c.Request.Method != http.MethodHead {
		_, _ = c.Writer.Write(body) // the client has gone when this fails
	}
}
