// Package openapitest holds answers against an OpenAPI document. Tests of the
// layers send whatever they got through it, so that the document says what the
// layers do. It must never be used outside of tests.
package openapitest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tonscribe/query/openapi"
)

// Document is a document whose schemas are compiled as they are asked for. Keys
// that an object's schema does not name are mistakes.
type Document struct {
	prefix string
	tree   map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
	seen     map[string]bool            // pointers of responses that an answer was checked against
	allowed  map[[sha256.Size]byte]bool // answers that were checked, with what they answer
}

const location = "document.json"

// New renders a document and reads it.
func New(d *openapi.Document) (*Document, error) {
	text, err := d.Render()
	if err != nil {
		return nil, err
	}
	return Read(text)
}

// forbidOthers forbids keys that a schema does not name.
func forbidOthers(tree any) {
	switch node := tree.(type) {
	case map[string]any:
		_, named := node["properties"].(map[string]any)
		if _, ruled := node["additionalProperties"]; named && !ruled && node["type"] != nil {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			forbidOthers(child)
		}
	case []any:
		for _, child := range node {
			forbidOthers(child)
		}
	}
}

// Answer is what a server gave.
type Answer struct {
	Method, Path string // of the request; the path may have a query
	Body         []byte // of the request
	Status       int
	Header       http.Header
	Text         []byte
}

// Check is nil when the document allows the answer. Paths outside of the
// document, and methods that it does not have, must get an error's shape.
func (d *Document) Check(a Answer) error {
	if a.Method == http.MethodHead || a.Method == http.MethodOptions {
		return nil
	}
	where, known := d.find(a)
	pointer := "#/components/schemas/Failure"
	if known {
		responses := d.at(where, "responses")
		status := strconv.Itoa(a.Status)
		if responses[status] == nil {
			return fmt.Errorf("%s %s: status %d is not declared: %s", a.Method, short(a.Path), a.Status, short(string(a.Text)))
		}
		pointer = where + "/responses/" + status + "/content/application~1json/schema"
		if err := d.checkHeader(where+"/responses/"+status, a); err != nil {
			return err
		}
	} else if a.Status < http.StatusBadRequest {
		return nil // no business of the document
	}
	sum := sha256.Sum256(slices.Concat([]byte(pointer), a.Body, a.Text))
	if d.isAllowed(sum) {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.Text))
	if err != nil {
		return fmt.Errorf("%s %s: %w in %s", a.Method, short(a.Path), err, short(string(a.Text)))
	}
	if err := d.validate(pointer, value); err != nil {
		return fmt.Errorf("%s %s: %w\nin %s", a.Method, short(a.Path), err, short(string(a.Text)))
	}
	if err := d.checkRPC(a, value); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.allowed[sum] = true
	if known {
		d.seen[where+"/responses/"+strconv.Itoa(a.Status)] = true
	}
	return nil
}

func (d *Document) isAllowed(sum [sha256.Size]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.allowed[sum]
}

// checkHeader looks for the content type of a declared response and its headers.
// Answers without any header are examples.
func (d *Document) checkHeader(pointer string, a Answer) error {
	if len(a.Header) == 0 {
		return nil
	}
	kind, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if content := d.at(pointer, "content"); err != nil || content[kind] == nil {
		return fmt.Errorf("%s %s: content type %q is not declared for status %d", a.Method, short(a.Path), a.Header.Get("Content-Type"), a.Status)
	}
	for name := range d.at(pointer, "headers") {
		if a.Header.Get(name) == "" {
			return fmt.Errorf("%s %s: status %d without its header %s", a.Method, short(a.Path), a.Status, name)
		}
	}
	return nil
}

// Unseen are the declared responses that no answer was checked against yet, as
// GET /api/v2/lookupBlock 200.
func (d *Document) Unseen() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for path, item := range d.tree["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			for status := range operation.(map[string]any)["responses"].(map[string]any) {
				if !d.seen["#/paths/"+escape(path)+"/"+method+"/responses/"+status] {
					list = append(list, strings.ToUpper(method)+" "+path+" "+status)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// Prefix is what all paths begin with, such as /api/v2.
func (d *Document) Prefix() string { return d.prefix }

// checkRPC holds the result of a JSON-RPC answer against the method's schema.
func (d *Document) checkRPC(a Answer, value any) error {
	if a.Status != http.StatusOK || !strings.Contains(strings.ToLower(a.Path), "json") || !strings.Contains(strings.ToLower(a.Path), "rpc") {
		return nil
	}
	var request struct{ Method string }
	if err := json.Unmarshal(a.Body, &request); err != nil {
		return err
	}
	where := "#/paths/" + escape(d.prefix+"/"+request.Method) + "/post"
	pointer := where + "/responses/200/content/application~1json/schema/properties/result"
	if err := d.validate(pointer, value.(map[string]any)["result"]); err != nil {
		return fmt.Errorf("JSON-RPC %s: %w\nin %s", request.Method, err, short(string(a.Text)))
	}
	return nil
}

// find is the pointer of the operation that an answer is of.
func (d *Document) find(a Answer) (string, bool) {
	path, _, _ := strings.Cut(a.Path, "?")
	if u, err := url.Parse(path); err == nil {
		path = u.Path
	}
	path = strings.TrimRight(path, "/")
	for name, item := range d.tree["paths"].(map[string]any) {
		method := strings.ToLower(a.Method)
		if strings.EqualFold(name, path) && item.(map[string]any)[method] != nil {
			return "#/paths/" + escape(name) + "/" + method, true
		}
	}
	return "", false
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// at walks to a place.
func (d *Document) at(pointer string, further ...string) map[string]any {
	node := d.tree
	for _, part := range append(strings.Split(pointer, "/")[1:], further...) {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		node, _ = node[part].(map[string]any)
	}
	return node
}

func (d *Document) validate(pointer string, value any) error {
	d.mu.Lock()
	schema := d.compiled[pointer]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile(location + pointer); err != nil {
			d.mu.Unlock()
			return err
		}
		d.compiled[pointer] = schema
	}
	d.mu.Unlock()
	return schema.Validate(value)
}

// Compile compiles every schema of the document.
func (d *Document) Compile() error {
	for path, item := range d.tree["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			for status := range operation.(map[string]any)["responses"].(map[string]any) {
				response := "#/paths/" + escape(path) + "/" + method + "/responses/" + status
				if d.at(response, "content")["application/json"] == nil {
					continue
				}
				pointer := response + "/content/application~1json/schema"
				if _, err := d.compiler.Compile(location + pointer); err != nil {
					return fmt.Errorf("%s %s %s: %w", method, path, status, err)
				}
			}
		}
	}
	return nil
}

func short(text string) string {
	const most = 600
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
