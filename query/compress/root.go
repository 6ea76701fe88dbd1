// Package compress sends answers in the coding that the client asks for.
//
// In: a handler's answer. Out: the same, as gzip or zstd where Accept-Encoding
// prefers one and there is enough of it to be worth the work. An answer that has a
// coding already, is a stream of events, or has no body, passes unchanged, and so does every answer to a
// client that asks for no coding. The package must never look at the body of a
// request.
package compress

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minBytes is the size from which an answer is compressed: below it the packet that
// carries it hardly gets smaller.
const minBytes = 1024

// Levels of answers that are made for one client. Of a page of 100 transactions
// gzip leaves 17 % at level 2, and 15 % at level 6 in four times the time; zstd
// leaves 13 % at every level, the next one in four times the time
// (BenchmarkLevels).
const (
	gzipLevel = 2
	zstdLevel = zstd.SpeedFastest
	// zstdWindow is what a writer here, and a reader there, keeps in memory.
	zstdWindow = 256 << 10
)

// eventStream is the type of answers that do not end: each event goes out as it is, and a
// coder would be kept for each of them.
const eventStream = "text/event-stream"

// maxKeptBytes is the largest buffer that is kept for the next answer.
const maxKeptBytes = 1 << 20

// coder is a compressing writer that is used again and again.
type coder interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

var coders = map[string]*sync.Pool{
	gzipName: {New: func() any { return newGzip(gzipLevel) }},
	zstdName: {New: func() any { return newZstd(zstdLevel) }},
}

func newGzip(level int) coder {
	w, err := gzip.NewWriterLevel(nil, level)
	if err != nil {
		panic("compress: gzip: " + err.Error()) // levels are constants
	}
	return w
}

func newZstd(level zstd.EncoderLevel) coder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("compress: zstd: " + err.Error()) // options are constants
	}
	return w
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Codings are the codings of answers, the best liked first.
var Codings = []string{zstdName, gzipName}

// Bytes returns a body in a coding, as small as it gets. It is for what is sent
// often and made once.
func Bytes(coding string, body []byte) []byte {
	c := newZstd(zstd.SpeedBestCompression)
	if coding == gzipName {
		c = newGzip(gzip.BestCompression)
	}
	var out bytes.Buffer
	c.Reset(&out)
	_, _ = c.Write(body) // a buffer takes everything
	_ = c.Close()
	return out.Bytes()
}

// vary tells caches that answers differ by Accept-Encoding.
var vary = []string{"Accept-Encoding"}

// Handler compresses the answers of another one.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Vary"] = vary
		coding := Choose(r.Header["Accept-Encoding"])
		if coding == "" || r.Header["Upgrade"] != nil { // what follows on the connection is no answer
			next.ServeHTTP(w, r)
			return
		}
		c := &writer{ResponseWriter: w, coding: coding, head: r.Method == http.MethodHead}
		defer c.release() // also when the handler panics
		next.ServeHTTP(c, r)
		c.finish()
	})
}

// writer is the answer to a client that asks for a coding.
type writer struct {
	http.ResponseWriter
	coding string
	head   bool

	status int           // 0 before WriteHeader
	plain  bool          // it is not compressed
	sent   bool          // the headers are
	coder  coder         // nil until there is enough to compress
	buffer *bytes.Buffer // what is not sent yet, in the coding once there is a coder
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack is http.Hijacker's: what follows on the connection is no answer.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.status, w.plain, w.sent = http.StatusOK, true, true
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// WriteHeader is http.ResponseWriter's. The headers go out with the body, since
// its length depends on whether it is compressed.
func (w *writer) WriteHeader(status int) {
	if w.status != 0 || status >= 100 && status < http.StatusOK && status != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.status = status
	header := w.Header()
	length, err := strconv.Atoi(header.Get("Content-Length"))
	w.plain = header.Get("Content-Encoding") != "" || strings.HasPrefix(header.Get("Content-Type"), eventStream) || err == nil && length < minBytes || !hasBody(status)
	if w.head && !w.plain && err == nil { // as GET would have it
		header.Set("Content-Encoding", w.coding)
		header.Del("Content-Length")
		w.plain = true
	}
	if w.plain {
		w.sent = true
		w.ResponseWriter.WriteHeader(status)
	}
}

func hasBody(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// Write is http.ResponseWriter's.
func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.plain {
		return w.ResponseWriter.Write(b)
	}
	if w.buffer == nil {
		w.buffer = buffers.Get().(*bytes.Buffer)
	}
	if w.coder == nil {
		if w.buffer.Len()+len(b) < minBytes {
			return w.buffer.Write(b)
		}
		if err := w.compress(); err != nil {
			return 0, err
		}
	}
	return w.coder.Write(b)
}

// compress begins to, with what is in the buffer.
func (w *writer) compress() error {
	header := w.Header()
	if header.Get("Content-Type") == "" { // it would be guessed from the coding
		header.Set("Content-Type", http.DetectContentType(w.buffer.Bytes()))
	}
	header.Set("Content-Encoding", w.coding)
	header.Del("Content-Length")
	w.coder = coders[w.coding].Get().(coder)
	first := bytes.Clone(w.buffer.Bytes())
	w.buffer.Reset()
	w.coder.Reset(w.buffer)
	_, err := w.coder.Write(first)
	return err
}

// Flush is http.Flusher's. What is flushed is not held back for being small.
func (w *writer) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.plain {
		if w.buffer == nil {
			w.buffer = buffers.Get().(*bytes.Buffer)
		}
		if w.coder == nil && w.compress() != nil {
			return // a buffer takes everything
		}
		_ = w.coder.Flush()
		w.send()
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // not every writer can
}

// send hands on what is in the buffer.
func (w *writer) send() {
	if !w.sent {
		w.sent = true
		w.ResponseWriter.WriteHeader(w.status)
	}
	_, _ = w.ResponseWriter.Write(w.buffer.Bytes()) // the client has gone when this fails
	w.buffer.Reset()
}

// finish sends the end of the answer, with its length when that is all.
func (w *writer) finish() {
	if w.plain || w.status == 0 {
		return
	}
	if w.buffer == nil {
		w.ResponseWriter.WriteHeader(w.status)
		return
	}
	if w.coder != nil {
		_ = w.coder.Close() // a buffer takes everything
	}
	if !w.sent {
		w.Header().Set("Content-Length", strconv.Itoa(w.buffer.Len()))
	}
	w.send()
}

// release gives back what can be used again.
func (w *writer) release() {
	if w.coder != nil {
		w.coder.Reset(nil)
		coders[w.coding].Put(w.coder)
	}
	if w.buffer != nil && w.buffer.Cap() <= maxKeptBytes {
		w.buffer.Reset()
		buffers.Put(w.buffer)
	}
}
