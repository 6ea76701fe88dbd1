package api

import (
	"net/http"

	"tonscribe/query/openapi"
)

// Describe is the OpenAPI document of the API.
func Describe() *openapi.Document {
	d := &openapi.Document{
		Title: "Merchants", Version: Version, Prefix: Prefix,
		Description: "Payments of merchants and their webhooks. Amounts are decimal text, in units of the asset or, as rawAmount, in base units; times are ISO 8601 in UTC; ids are hex.",
		Tags:        tags, Error: failure, Security: security, Schemes: schemes,
	}
	for _, e := range endpoints {
		d.Operations = append(d.Operations, e.describe())
	}
	return d
}

var (
	security = []openapi.Object{openapi.Schema("key", []string{}), openapi.Schema("session", []string{})}
	schemes  = openapi.Schema(
		"key", openapi.Schema("type", "apiKey", "in", "header", "name", headerKey, "description", "an API key of a merchant"),
		"session", openapi.Schema("type", "apiKey", "in", "cookie", "name", cookieName,
			"description", "of the dashboard; what is no GET sends the session's csrf value in the header "+headerCSRF),
	)
)

func (e *Endpoint) describe() *openapi.Operation {
	o := &openapi.Operation{
		Path: e.Path, Method: e.Method, ID: e.Name, Tag: e.Tag, Summary: e.Summary, Description: e.Description,
		Result: e.Result, Kind: e.Result.kind, Closed: !e.OpenBody,
	}
	for i := range e.InPath {
		o.InPath = append(o.InPath, e.InPath[i].describe(false))
	}
	for i := range e.InQuery {
		o.Query = append(o.Query, e.InQuery[i].describe(false))
	}
	for i := range e.InBody {
		o.Body = append(o.Body, e.InBody[i].describe(true))
	}
	switch {
	case e.Access == anybody:
		o.Security = []openapi.Object{openapi.Schema()}
	case e.Access == sessions:
		o.Security = security[1:]
	case e.Open != nil:
		o.Security = append([]openapi.Object{openapi.Schema()}, security...)
	}
	for _, one := range e.errors() {
		o.Errors = append(o.Errors, one.describe())
	}
	return o
}

// errors are all that the endpoint can answer with.
func (e *Endpoint) errors() []*Error {
	list := append([]*Error{}, e.Errors...)
	for _, declared := range [][]Param{e.InQuery, e.InBody} {
		for i := range declared {
			list = append(list, declared[i].bad())
			if declared[i].Required {
				list = append(list, declared[i].missing())
			}
		}
	}
	list = append(list, errQueryTooLong, unknown("name"))
	if len(e.InPath) > 0 {
		list = append(list, errNotFound)
	}
	if e.Method != http.MethodGet {
		list = append(list, badRequest("bad_json", "the body: it is no JSON object"), errContentType, errCoding, errTooLargeBody)
	}
	if e.Access != anybody {
		list = append(list, errNoKey, errNoSession, errDisabled)
		if e.Method != http.MethodGet {
			list = append(list, errCSRF)
		}
	}
	switch e.Access {
	case merchants:
		list = append(list, errBadKey, errScope)
	case sessions:
		list = append(list, errWantsSession)
	}
	return append(list, everywhere...)
}

// idParam is an id in a path.
func idParam(name, what string) []Param {
	return []Param{{Name: name, Kind: IDKind, Required: true, Description: what}}
}

// Endpoints are all of them, for tests that go through each.
func Endpoints() []*Endpoint { return endpoints }
