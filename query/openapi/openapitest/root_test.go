package openapitest

import (
	"net/http"
	"reflect"
	"testing"

	"tonscribe/query/openapi"
)

type failure struct {
	Error string `json:"error"`
}

type colour struct {
	Hash  openapi.Hash `json:"hash"`
	Name  *string      `json:"name"`
	Kind  string       `json:"kind,omitempty" enum:"warm,cold"`
	Mixed []*colour    `json:"mixed,omitempty"`
}

func TestAnswersThatTheDocumentDoesNotAllowAreFound(t *testing.T) {
	d, err := New(&openapi.Document{
		Prefix: "/api", Types: &openapi.Types{Null: true}, Error: reflect.TypeFor[failure](),
		Operations: []*openapi.Operation{{
			Path: "/colour", Method: http.MethodGet, ID: "colour", Result: reflect.TypeFor[colour](),
			Errors: []openapi.Error{{Status: 422, Text: "bad"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, c := range []struct {
		path, text string
		status     int
		good       bool
	}{
		{"/api/colour", `{"hash":"` + hash + `","name":null}`, 200, true},
		{"/api/Colour/?q=1", `{"hash":"` + hash + `","name":"x","kind":"cold","mixed":[{"hash":"` + hash + `","name":null}]}`, 200, true},
		{"/api/colour", `{"hash":"` + hash + `"}`, 200, false},
		{"/api/colour", `{"hash":null,"name":null}`, 200, false},
		{"/api/colour", `{"hash":"AAAA","name":null}`, 200, false},
		{"/api/colour", `{"hash":"` + hash + `","name":7}`, 200, false},
		{"/api/colour", `{"hash":"` + hash + `","name":null,"more":1}`, 200, false},
		{"/api/colour", `{"hash":"` + hash + `","name":null,"kind":"odd"}`, 200, false},
		{"/api/colour", `{"hash":"` + hash + `","name":null,"mixed":[{}]}`, 200, false},
		{"/api/colour", `{"error":"bad"}`, 422, true},
		{"/api/colour", `{"error":1}`, 422, false},
		{"/api/colour", `{"error":"bad"}`, 500, false},
		{"/api/colour", `no JSON`, 200, false},
	} {
		err := d.Check(Answer{Method: http.MethodGet, Path: c.path, Status: c.status, Text: []byte(c.text)})
		if (err == nil) != c.good {
			t.Errorf("%d %s: %v, want allowed %v", c.status, c.text, err, c.good)
		}
	}
}
