// Package logtest is a log for tests that read what was said while more may be said.
package logtest

import (
	"strings"
	"sync"
)

// Book keeps what is written. The zero value is empty.
type Book struct {
	mutex sync.Mutex
	text  strings.Builder
}

// Write is io.Writer's.
func (b *Book) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

// String returns what was written so far.
func (b *Book) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}
