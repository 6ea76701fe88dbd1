package openapitest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Read takes a document as a server gives it.
func Read(text []byte) (*Document, error) {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("document is %T, want an object", tree)
	}
	paths, ok := object["paths"].(map[string]any)
	if !ok || len(paths) == 0 {
		return nil, fmt.Errorf("document has no paths")
	}
	forbidOthers(tree)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(location, tree); err != nil {
		return nil, err
	}
	return &Document{prefix: prefixOf(paths), tree: object, compiler: c, compiled: map[string]*jsonschema.Schema{}, seen: map[string]bool{}, allowed: map[[sha256.Size]byte]bool{}}, nil
}

// prefixOf is what all paths begin with, such as /api/v2.
func prefixOf(paths map[string]any) string {
	for path := range paths {
		if parts := strings.Split(path, "/"); len(parts) > 3 {
			return strings.Join(parts[:3], "/")
		}
	}
	return ""
}

// Tree is the document as JSON values.
func (d *Document) Tree() map[string]any { return d.tree }

// Operation is one of the document's.
type Operation struct {
	Path, Method, ID string
	Query            []Parameter
	Body             map[string]Parameter // members of the JSON object; nil for a GET
	HasExample       bool
}

// Parameter is one of an operation's, or a member of its body.
type Parameter struct {
	Name     string
	Required bool
	Schema   map[string]any
	Example  any // nil for none
}

// Operations are all of them, by path and method.
func (d *Document) Operations() []*Operation {
	var list []*Operation
	for path, item := range d.tree["paths"].(map[string]any) {
		for method, node := range item.(map[string]any) {
			list = append(list, readOperation(path, strings.ToUpper(method), node.(map[string]any)))
		}
	}
	slices.SortFunc(list, func(a, b *Operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return list
}

func readOperation(path, method string, node map[string]any) *Operation {
	o := &Operation{Path: path, Method: method, ID: node["operationId"].(string)}
	parameters, _ := node["parameters"].([]any)
	for _, entry := range parameters {
		p := entry.(map[string]any)
		if p["in"] != "query" {
			continue
		}
		required, _ := p["required"].(bool)
		o.Query = append(o.Query, Parameter{Name: p["name"].(string), Required: required, Schema: p["schema"].(map[string]any), Example: p["example"]})
	}
	answer := walk(node, "responses", "200", "content", "application/json")
	_, o.HasExample = answer["example"]
	if method != http.MethodPost {
		return o
	}
	content := walk(node, "requestBody", "content", "application/json")
	example, _ := content["example"].(map[string]any)
	required, _ := walk(content, "schema")["required"].([]any)
	o.Body = map[string]Parameter{}
	for name, schema := range walk(content, "schema", "properties") {
		o.Body[name] = Parameter{Name: name, Required: slices.Contains(required, any(name)), Schema: schema.(map[string]any), Example: example[name]}
	}
	return o
}

// Example is the example of an operation's success.
func (d *Document) Example(o *Operation) (example []byte, there bool) {
	value, there := d.at("#/paths/"+escape(o.Path)+"/"+strings.ToLower(o.Method), "responses", "200", "content", "application/json")["example"]
	if !there {
		return nil, false
	}
	example, err := json.Marshal(value)
	return example, err == nil
}

func walk(node map[string]any, path ...string) map[string]any {
	for _, name := range path {
		node, _ = node[name].(map[string]any)
	}
	return node
}

// Texts are those that the document names for a status.
func (d *Document) Texts(o *Operation, status string) []string {
	node := d.at("#/paths/" + escape(o.Path) + "/" + strings.ToLower(o.Method) + "/responses/" + status)
	text, _ := node["description"].(string)
	return strings.Split(text, "; ")
}
