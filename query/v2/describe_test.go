package v2

import (
	"net/http/httptest"
	"sync"
	"testing"

	"tonscribe/test/support/openapitest"
)

// described are the documents by namespace; compiling one takes a while.
var described sync.Map

func documentOf(t *testing.T, namespace string) *openapitest.Document {
	t.Helper()
	made, _ := described.LoadOrStore(namespace, sync.OnceValues(func() (*openapitest.Document, error) {
		return openapitest.New(Describe(namespace, nil))
	}))
	document, err := made.(func() (*openapitest.Document, error))()
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// isDescribed holds an answer against the document of the layer.
func (s *service) isDescribed(method, target, body string, got *httptest.ResponseRecorder) {
	s.t.Helper()
	err := s.document.Check(openapitest.Answer{
		Method: method, Path: target, Body: []byte(body), Status: got.Code, Header: got.Header(), Text: got.Body.Bytes(),
	})
	if err != nil {
		s.t.Error(err)
	}
}

func TestEveryMethodIsDescribed(t *testing.T) {
	document := documentOf(t, "chain")
	if err := document.Compile(); err != nil {
		t.Fatal(err)
	}
	for _, m := range methods {
		if m.Result.Described == nil || m.Summary == "" || m.Description == "" || m.Tag == "" {
			t.Errorf("%s lacks a result, a summary, a description or a tag", m.Name)
		}
		for _, p := range m.Params {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", m.Name, p.Name)
			}
		}
	}
}
