package endpoints

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/reader"
	v3 "tonscribe/query/v3"
	"tonscribe/ton/body"
)

// maxDecoded is the most opcodes, and the most bodies, of a request.
const maxDecoded = 1000

// decodeBudget is what the bodies of a request may cost together.
var decodeBudget = body.Budget{Bodies: 4096, Reads: 1 << 20, Shown: 16 << 20}

var (
	errManyOpcodes = params.Unprocessable("opcodes list exceeds maximum length of %d", maxDecoded)
	errManyBodies  = params.Unprocessable("bodies list exceeds maximum length of %d", maxDecoded)
)

func badOpcode(i int, text string) *params.Error {
	return params.Unprocessable("invalid opcode format at index %d: %s", i, text)
}

// asked is what a request wants to have decoded.
type asked struct{ opcodes, bodies []string }

// decoded are the names of opcodes and the JSON of bodies.
type decoded struct {
	opcodes []uint32
	bodies  []string
}

var decodeAnswer = api.New("DecodeAnswer",
	api.List("opcodes", api.String, func(d decoded) []uint32 { return d.opcodes }, nameOrUnknown).Doc("their names, unknown for those that have none"),
	api.Written("bodies", func(*openapi.Components) openapi.Object {
		return openapi.Schema("type", "array", "items", openapi.Schema("type", "object", "additionalProperties", true))
	}, func(w *api.Writer, d decoded) bool {
		writeDecoded(w, d.bodies)
		return true
	}).Doc("what they say, the members of each object in the order of their names; where that is not known, error says why"),
)

var decodeErrors = []params.Error{*errManyOpcodes, *errManyBodies, *params.Unprocessable("invalid opcode format at index N: TEXT")}

const (
	decodeTag         = "Utils"
	decodeDescription = "Names of opcodes, and bodies of messages and payloads taken apart by the layouts of their opcodes."
	ofOpcodes         = "opcodes: hex with or without 0x, else decimal"
	ofBodies          = "bodies: bags of cells, base64 or hex"
)

var decodeBodies = &v3.Endpoint{
	Path: "/decode", Tag: decodeTag, Summary: "Decode opcodes and bodies", Description: decodeDescription,
	Params: []params.Param{
		{Name: "opcodes", Kind: params.TextKind, Multi: true, Range: "up to 1000", TooMany: errManyOpcodes, Description: ofOpcodes},
		{Name: "bodies", Kind: params.TextKind, Multi: true, Range: "up to 1000", TooMany: errManyBodies, Description: ofBodies},
	},
	Result: decodeAnswer, Errors: decodeErrors,
	Serve: func(q *v3.Request) error {
		return serveDecoded(q, asked{parted(q.Values.Texts("opcodes")), parted(q.Values.Texts("bodies"))})
	},
}

var texts = openapi.Schema("type", "array", "items", v3.AnyText, "maxItems", maxDecoded)

var decodePosted = &v3.Endpoint{
	Path: "/decode", Tag: decodeTag, Summary: "Decode opcodes and bodies", Description: decodeDescription,
	Body:   []openapi.Parameter{{Name: "opcodes", Schema: texts, Description: ofOpcodes}, {Name: "bodies", Schema: texts, Description: ofBodies}},
	Result: decodeAnswer, Errors: append([]params.Error{*notTexts("opcodes"), *notTexts("bodies")}, decodeErrors...), Twin: true,
	Serve: func(q *v3.Request) error {
		opcodes, err := textsOf(q, "opcodes")
		if err != nil {
			return err
		}
		bodies, err := textsOf(q, "bodies")
		if err != nil {
			return err
		}
		return serveDecoded(q, asked{opcodes, bodies})
	},
}

// parted are the parts of texts between commas.
func parted(list []string) (parts []string) {
	for _, text := range list {
		parts = append(parts, strings.Split(text, ",")...)
	}
	return parts
}

func notTexts(name string) *params.Error {
	return params.Unprocessable("%s must be a list of strings", name)
}

// texts is a member of the body that is a list of strings; empty when it is not there.
func textsOf(q *v3.Request, name string) (list []string, err error) {
	raw, ok := q.Sent[name]
	if !ok {
		return nil, nil
	}
	var found []*string
	if json.Unmarshal(raw, &found) != nil {
		return nil, notTexts(name)
	}
	for _, text := range found {
		if text == nil {
			return nil, notTexts(name)
		}
		list = append(list, *text)
	}
	return list, nil
}

func serveDecoded(q *v3.Request, a asked) error {
	switch {
	case len(a.opcodes) > maxDecoded:
		return errManyOpcodes
	case len(a.bodies) > maxDecoded:
		return errManyBodies
	}
	d := decoded{bodies: a.bodies}
	for i, text := range a.opcodes {
		text = strings.TrimPrefix(strings.TrimSpace(text), "0x")
		opcode, ok := opcodeOf(text)
		if !ok {
			return badOpcode(i, text)
		}
		d.opcodes = append(d.opcodes, opcode)
	}
	w := &api.Writer{JSON: q.Body}
	decodeAnswer.Write(w, d)
	q.Body = w.JSON
	return nil
}

// opcodeOf reads hex digits, or else a decimal number of 32 bits.
func opcodeOf(text string) (uint32, bool) {
	if n, err := strconv.ParseUint(text, 16, 32); err == nil {
		return uint32(n), true
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return uint32(n), true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return uint32(n), err == nil
}

func nameOrUnknown(opcode uint32) string {
	if name := body.NameOf(opcode); name != "" {
		return name
	}
	return "unknown"
}

// writeDecoded appends what bodies say, or why that is not known.
func writeDecoded(w *api.Writer, bodies []string) {
	d, buffer := body.NewDecoder(decodeBudget, api.AppendText), []byte(nil)
	i := 0
	w.JSON = api.AppendList(w.JSON, bodies, func(dst []byte, text string) []byte {
		reader.Yield(i)
		i++
		boc, err := bagOf(text)
		if err == nil {
			buffer, err = d.AppendPlain(buffer[:0], boc)
		}
		if err != nil {
			return append(api.AppendText(append(dst, `{"error":`...), "unknown: "+err.Error()), '}')
		}
		return api.AppendSorted(dst, buffer)
	})
}

// bagOf reads a bag of cells in base64, with which one always begins the same, or in
// hex digits.
func bagOf(text string) ([]byte, error) {
	if !strings.HasPrefix(text, "te6") {
		boc, err := hex.DecodeString(text)
		if err != nil {
			return nil, errors.New("failed to decode hex: " + err.Error())
		}
		return boc, nil
	}
	// A plus that nobody escaped is a space in a query.
	text = strings.TrimRight(strings.NewReplacer(" ", "+", "-", "+", "_", "/").Replace(text), "=")
	boc, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("failed to decode base64: " + err.Error())
	}
	return boc, nil
}
