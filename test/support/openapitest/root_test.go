package openapitest

import (
	"net/http"
	"slices"
	"testing"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
)

// colour is the row of a shape that is described and never written.
type colour struct{}

var failure = api.New("Failure", api.Text[string]("error", nil))

var colours = func() (shape *api.Shape[*colour]) {
	shape = api.New("Colour",
		api.Hash[*colour]("hash", nil),
		api.Text[*colour]("name", nil).Null(),
		api.Word[*colour]("kind", api.Words{"warm", "cold"}, nil).Optional(),
		api.Written[*colour]("mixed", func(c *openapi.Components) openapi.Object { return api.ListOf(shape)(c) }, nil).Optional(),
	)
	return shape
}()

func TestAnswersThatTheDocumentDoesNotAllowAreFound(t *testing.T) {
	d, err := New(&openapi.Document{
		Prefix: "/api", Error: failure,
		Operations: []*openapi.Operation{{
			Path: "/colour", Method: http.MethodGet, ID: "colour", Result: colours,
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

func TestHeadersOfAnswersAreThoseOfTheDocument(t *testing.T) {
	d, err := New(&openapi.Document{
		Prefix: "/api", Error: failure,
		Operations: []*openapi.Operation{{Path: "/colour", Method: http.MethodGet, ID: "colour", Result: api.String, Errors: []openapi.Error{{Status: 429, Text: "slow"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, version, after string
		status               int
		good                 bool
	}{
		{"application/json", "1", "", 200, true},
		{"application/json; charset=utf-8", "1", "", 200, true},
		{"text/plain", "1", "", 200, false},
		{"", "1", "", 200, false},
		{"application/json", "", "", 200, false},
		{"application/json", "1", "", 429, false},
		{"application/json", "1", "3", 429, true},
	} {
		header := http.Header{"Date": {"today"}}
		for name, value := range map[string]string{"Content-Type": c.kind, "X-Api-Version": c.version, "Retry-After": c.after} {
			if value != "" {
				header.Set(name, value)
			}
		}
		text := map[int]string{200: `"red"`, 429: `{"error":"slow"}`}[c.status]
		err := d.Check(Answer{Method: http.MethodGet, Path: "/api/colour", Status: c.status, Header: header, Text: []byte(text)})
		if (err == nil) != c.good {
			t.Errorf("%d %v: %v, want allowed %v", c.status, header, err, c.good)
		}
	}
}

func TestResponsesThatNoAnswerWasCheckedAgainstAreNamed(t *testing.T) {
	d, err := New(&openapi.Document{
		Prefix: "/api", Error: failure,
		Operations: []*openapi.Operation{{Path: "/colour", Method: http.MethodGet, ID: "colour", Result: api.String, Errors: []openapi.Error{{Status: 422, Text: "bad"}, {Status: 404, Text: "none"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Answer{
		{Method: http.MethodGet, Path: "/api/colour", Status: 200, Text: []byte(`"red"`)},
		{Method: http.MethodGet, Path: "/api/colour", Status: 404, Text: []byte(`{"error":1}`)}, // not allowed, so not seen
	} {
		_ = d.Check(a)
	}
	if got, want := d.Unseen(), []string{"GET /api/colour 404", "GET /api/colour 422"}; !slices.Equal(got, want) {
		t.Errorf("unseen are %v, want %v", got, want)
	}
}
