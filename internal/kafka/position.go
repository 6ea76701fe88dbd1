package kafka

import (
	"encoding/json"
	"fmt"

	"tonscribe/schema/record"
)

// position is the last record of a partition's stream that was taken.
type position struct {
	Bundle uint32 `json:"mc_seqno"`
	Index  uint32 `json:"index"`
	Sealed bool   `json:"sealed"` // it was the bundle's seal
	// Count is what the reader counted of the bundle up to the record (PartitionReader.Count).
	Count uint64 `json:"count,omitempty"`
}

func positionOf(r *record.Record) *position {
	return &position{Bundle: r.McSeqno, Index: r.Index, Sealed: r.GetSeal() != nil}
}

// or is the position, one of zeros where there is none.
func (p *position) or() position {
	if p == nil {
		return position{}
	}
	return *p
}

type verdict int

const (
	next verdict = iota
	repeated
	ahead
)

// judge says what a record is to a reader at the position; nil is the position
// of a reader that has taken nothing yet and may start at any bundle.
func (p *position) judge(r *record.Record) verdict {
	switch {
	case p == nil:
		if r.Index == 0 {
			return next
		}
	case r.McSeqno < p.Bundle, r.McSeqno == p.Bundle && (p.Sealed || r.Index <= p.Index):
		return repeated
	case r.McSeqno == p.Bundle:
		if r.Index == p.Index+1 {
			return next
		}
	case p.Sealed && r.Index == 0 && r.PrevMcSeqno == p.Bundle:
		return next
	}
	return ahead
}

// commitment is what travels in the metadata of a committed offset.
type commitment struct {
	// End is the end of the range [offset, End) that is being inserted, 0 when
	// none is.
	End int64 `json:"end,omitempty"`
	// Position in force at the offset.
	Position *position `json:"position,omitempty"`
	// Published is the bundle up to which a stage had published what it makes of the
	// topic, when that is behind the position.
	Published uint32 `json:"published,omitempty"`
}

func (c commitment) encode() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain numbers always encode
	}
	return string(text)
}

// decodeCommitment reads metadata; none at all (a group that was reset by hand)
// means starting at the next bundle.
func decodeCommitment(metadata string) (commitment, error) {
	var c commitment
	if metadata == "" {
		return c, nil
	}
	if err := json.Unmarshal([]byte(metadata), &c); err != nil {
		return c, fmt.Errorf("metadata of the committed offset %q: %w", metadata, err)
	}
	return c, nil
}
