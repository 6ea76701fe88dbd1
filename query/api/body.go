package api

import (
	"sync"

	"tonscribe/query/openapi"
	"tonscribe/ton/body"
)

// bodyBudget is what all bodies of an answer together may cost. Each has limits of
// its own.
var bodyBudget = body.Budget{Bodies: 1 << 16, Reads: 1 << 20, Shown: 16 << 20}

var decoders = sync.Pool{New: func() any { return body.NewDecoder(body.Budget{}, AppendText) }}

// Body is what the body of a message or a payload says, a bag of cells; null where
// nobody knows.
func Body[R any](name string, get func(R) []byte) Member[R] {
	return Written(name, decodedBody, func(w *Writer, row R) bool {
		boc := get(row)
		return len(boc) > 0 && w.body(boc)
	}).Null()
}

func decodedBody(*openapi.Components) openapi.Object {
	return openapi.Schema("type", "object", "properties", openapi.Schema("@type", openapi.Schema("type", "string")), "additionalProperties", true)
}

func (w *Writer) body(boc []byte) bool {
	if w.decoder == nil {
		w.decoder = decoders.Get().(*body.Decoder)
		w.decoder.Renew(bodyBudget)
	}
	var err error
	if w.JSON, err = w.decoder.Append(w.JSON, boc); err != nil && w.decoder.Spent() {
		w.Cut = true
	}
	return err == nil
}

// Done gives back what the writer has borrowed. Nothing is written after it.
func (w *Writer) Done() {
	if w.decoder != nil {
		decoders.Put(w.decoder)
		w.decoder = nil
	}
}
