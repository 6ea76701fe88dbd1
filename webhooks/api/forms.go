package api

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
)

// timeForm is ISO 8601 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

func plainSchema(pairs ...any) func(*openapi.Components) openapi.Object {
	return func(*openapi.Components) openapi.Object { return openapi.Schema(pairs...) }
}

// instant is a time; one that is zero has no value.
func instant[R any](name string, get func(R) time.Time) api.Member[R] {
	return api.Written(name, plainSchema("type", "string", "format", "date-time"), func(w *api.Writer, row R) bool {
		t := get(row)
		if t.IsZero() {
			return false
		}
		w.JSON = t.UTC().AppendFormat(w.JSON, `"`+timeForm+`"`)
		return true
	})
}

// milliseconds is a duration; one that is not positive has no value.
func milliseconds[R any](name string, get func(R) time.Duration) api.Member[R] {
	return api.Written(name, plainSchema("type", "number", "minimum", 0), func(w *api.Writer, row R) bool {
		d := get(row)
		if d <= 0 {
			return false
		}
		w.JSON = strconv.AppendFloat(w.JSON, float64(d.Microseconds())/1000, 'f', -1, 64)
		return true
	})
}

// The bounds of pages.
const maxLimit = 100

var (
	limitParam  = Param{Name: "limit", Kind: NumberKind, Min: 1, Max: maxLimit, Default: "50", Description: "how many at most"}
	cursorParam = Param{Name: "cursor", Kind: TextKind, MaxBytes: maxCursor, Description: "nextCursor of the page before"}
	errCursor   = badRequest("bad_cursor", "cursor: nextCursor of the page before is wanted")
)

// writeCursor and readCursor are a page's end as text: opaque, and bound to nothing.
func writeCursor[V [8]byte | [16]byte](end V) string {
	var raw []byte
	switch end := any(end).(type) {
	case [8]byte:
		raw = end[:]
	case [16]byte:
		raw = end[:]
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func readCursor[V [8]byte | [16]byte](v values) (*V, error) {
	text := get[string](v, "cursor")
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	var end V
	if err != nil || len(raw) != len(end) {
		return nil, errCursor
	}
	switch end := any(&end).(type) {
	case *[8]byte:
		copy(end[:], raw)
	case *[16]byte:
		copy(end[:], raw)
	}
	return &end, nil
}

// cursorOf and momentOf are a moment as a page's end.
func cursorOf(t time.Time) (end [8]byte) {
	binary.BigEndian.PutUint64(end[:], uint64(t.UnixMicro()))
	return end
}

func momentOf(end [8]byte) time.Time {
	const last = 1 << 52 // microseconds, after the year 2100
	return time.UnixMicro(int64(min(binary.BigEndian.Uint64(end[:]), last)))
}
