package sink

import "unsafe"

// text is the bytes as a string without a copy; they must not change. The
// driver takes columns of strings much faster than columns of byte slices.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
