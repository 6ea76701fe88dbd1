package v3

import (
	"encoding/base64"
	"encoding/binary"

	"tonscribe/query/params"
)

// A cursor names the list it belongs to and the last row of the page before:
// the form's version, the list's order, a fingerprint of its filters, the row's
// key. Clients must not look into it.
const cursorVersion = 1

const cursorHead = 6

// nextCursorHeader has the cursor of the next page where the answer is a bare
// list.
const nextCursorHeader = "X-Next-Cursor"

// CursorOf makes a cursor for a key.
func (q *Request) CursorOf(sort params.Sort, key any) string {
	b := []byte{cursorVersion, byte(sort)}
	b = binary.BigEndian.AppendUint32(b, q.Values.Fingerprint())
	b, err := binary.Append(b, binary.BigEndian, key)
	if err != nil {
		panic("query/v3: key of a cursor: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// after reads the cursor of a page into key, a pointer to the list's kind of
// key; it is false when there is none.
func (q *Request) after(page params.Page, key any) (bool, error) {
	if page.Cursor == "" {
		return false, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(page.Cursor)
	// The decoder passes over line feeds and bits behind the last byte: one row has
	// one cursor.
	if err != nil || base64.RawURLEncoding.EncodeToString(b) != page.Cursor || len(b) != cursorHead+binary.Size(key) || b[0] != cursorVersion || b[1] != byte(page.Sort) ||
		binary.BigEndian.Uint32(b[2:]) != q.Values.Fingerprint() {
		return false, params.BadCursor()
	}
	if _, err := binary.Decode(b[cursorHead:], binary.BigEndian, key); err != nil {
		return false, params.BadCursor()
	}
	return true, nil
}

// AfterOf is the key that the cursor of a page holds, nil where there is none.
func AfterOf[K any](q *Request, page params.Page) (*K, error) {
	var key K
	if there, err := q.after(page, &key); !there {
		return nil, err
	}
	return &key, nil
}
