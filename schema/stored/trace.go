package stored

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"tonscribe/schema/record"
)

// TraceSQL is the expression for what UnpackTrace reads: the first 16 bytes of the id of
// a row of traces, and its record.
const TraceSQL = "concat(reinterpretAsFixedString(trace_prefix), reinterpretAsFixedString(id_next), record)"

// traceColumns is the length of what TraceSQL has before the record.
const traceColumns = 8 + 8

// What the stored form of a trace begins with: the id behind its first 16 bytes, the
// hashes of the message that began it, zeros for none, and, little endian, its first lt
// and second and masterchain block, each behind how far from there it reached, and two
// numbers of messages. Columns of the table are read from here.
const (
	traceExternal = hashSize - traceColumns
	traceTimes    = traceExternal + 2*hashSize
	traceHead     = traceTimes + 2*8 + 6*4
)

var errTrace = errors.New("not the stored form of a trace")

// PackTrace writes the stored form of a trace, for the row of an id, behind dst. Behind
// the head comes the protobuf Trace without what stands elsewhere; with its own id where
// the row is of another one.
func PackTrace(dst []byte, t *record.Trace, id []byte) ([]byte, error) {
	if len(t.Id) != hashSize || len(id) != hashSize {
		return dst, fmt.Errorf("trace %x: %w", t.Id, errShort)
	}
	dst = append(dst, id[traceColumns:]...)
	for _, h := range [][]byte{t.ExternalHash, t.ExternalHashNorm} {
		switch len(h) {
		case 0:
			dst = append(dst, none[:]...)
		case hashSize:
			dst = append(dst, h...)
		default:
			return dst, fmt.Errorf("trace %x: %w", t.Id, errShort)
		}
	}
	dst = binary.LittleEndian.AppendUint64(dst, t.EndLt-t.StartLt)
	dst = binary.LittleEndian.AppendUint64(dst, t.StartLt)
	for _, n := range []uint32{t.EndUtime - t.StartUtime, t.StartUtime, t.McSeqnoEnd - t.McSeqnoStart, t.McSeqnoStart, t.Edges, t.PendingEdges} {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	rest := &record.Trace{State: t.State, Nodes: t.Nodes, Replaces: t.Replaces, Unclassified: t.Unclassified}
	if !bytes.Equal(id, t.Id) {
		rest.Id = t.Id
	}
	encoded, err := rest.MarshalVT()
	if err != nil {
		return dst, fmt.Errorf("trace %x: %w", t.Id, err)
	}
	return append(dst, encoded...), nil
}

// UnpackTrace reads a trace, from what TraceSQL gives, and the first 8 bytes of the id
// that its row is of.
func UnpackTrace(t *record.Trace, columns []byte) (prefix uint64, err error) {
	if len(columns) < traceColumns+traceHead {
		return 0, fmt.Errorf("%w: %d bytes", errTrace, len(columns))
	}
	prefix = binary.LittleEndian.Uint64(columns)
	head := columns[traceColumns:]
	if err := t.UnmarshalVT(head[traceHead:]); err != nil {
		return prefix, err
	}
	if len(t.Id) == 0 {
		t.Id = binary.BigEndian.AppendUint64(make([]byte, 0, hashSize), prefix)
		t.Id = binary.BigEndian.AppendUint64(t.Id, binary.LittleEndian.Uint64(columns[8:]))
		t.Id = append(t.Id, head[:traceExternal]...)
	}
	t.ExternalHash, t.ExternalHashNorm = hashOrNil(head[traceExternal:]), hashOrNil(head[traceExternal+hashSize:])
	times := head[traceTimes:]
	t.StartLt = binary.LittleEndian.Uint64(times[8:])
	t.EndLt = t.StartLt + binary.LittleEndian.Uint64(times)
	number := func(i int) uint32 { return binary.LittleEndian.Uint32(times[16+4*i:]) }
	t.StartUtime, t.EndUtime = number(1), number(1)+number(0)
	t.McSeqnoStart, t.McSeqnoEnd = number(3), number(3)+number(2)
	t.Edges, t.PendingEdges = number(4), number(5)
	return prefix, nil
}

// traceRest is the length of what PackTraceRest returns.
const traceRest = hashSize - 8 + hashSize

// PackTraceRest returns what stands in a row of transaction_traces besides the first 8
// bytes of the id of the trace.
func PackTraceRest(t *record.Trace) []byte {
	rest := append(make([]byte, 0, traceRest), t.Id[8:]...)
	if len(t.ExternalHash) == 0 {
		return append(rest, none[:]...)
	}
	return append(rest, t.ExternalHash...)
}

// UnpackTraceRest returns a trace with its id and the hash of the message that began it,
// nil where the row does not have them.
func UnpackTraceRest(prefix uint64, rest []byte) (*record.Trace, error) {
	switch len(rest) {
	case 0:
		return nil, nil
	case traceRest:
		id := append(binary.BigEndian.AppendUint64(make([]byte, 0, hashSize), prefix), rest[:hashSize-8]...)
		return &record.Trace{Id: id, ExternalHash: hashOrNil(rest[hashSize-8:])}, nil
	}
	return nil, fmt.Errorf("%w: %d bytes of a transaction's", errTrace, len(rest))
}

var none [hashSize]byte

// hashOrNil cuts a hash, nil for zeros.
func hashOrNil(from []byte) []byte {
	if h := from[:hashSize]; !bytes.Equal(h, none[:]) {
		return bytes.Clone(h)
	}
	return nil
}
