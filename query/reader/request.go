package reader

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/internal/clickhouse"
)

// Bounds of what one request makes ClickHouse go through.
const (
	// MaxScanRows is how many rows a request may go through beyond what its page
	// needs.
	MaxScanRows = 200_000
	// MaxItemRows is how many rows it may go through for each row of its page and
	// for each value that it names: what lies by itself is read with the rest of its
	// granule, and leads to accounts, codes and names that do so as well.
	MaxItemRows = 4096
	// MaxSkippedRows is the same for each row that it skips.
	MaxSkippedRows = 8
	// itemBytes and skippedBytes are how much more than ScanBytes a statement that
	// looks for keys goes through for each of them.
	itemBytes, skippedBytes = 4096, 128
	// countFactor is how many times ScanBytes is for a statement that counts the rows
	// of a list of contracts, the old ones left out, up to an offset: that takes the
	// whole list.
	countFactor = 16
	// maxDropped is how many records are read in vain, because only they tell that a
	// filter does not hold: each is read with its granule.
	maxDropped = 1000
	// maxStatementMemory bounds any statement of a request.
	maxStatementMemory = 256 << 20
	// maxReadBytes is how much all of them together may give of records, documents and
	// other texts. A page of a thousand transactions has some megabytes.
	maxReadBytes = 128 << 20
)

// Request is what the statements of one request may need together.
type Request struct {
	// Client tells clients apart, of which none gets all connections.
	Client string
	// Items is how many rows the page has and how many values the request names, at
	// most, Skipped its offset.
	Items, Skipped int

	reader *Reader
	rows   atomic.Int64 // gone through so far
	bytes  atomic.Int64 // of what they gave so far
}

type requestKey struct{}

// Begin makes the statements that are run with the context those of a request.
func (s *Reader) Begin(ctx context.Context, r *Request) context.Context {
	r.reader = s
	return context.WithValue(ctx, requestKey{}, r)
}

// Filling makes the statements that are run with the context those of a request of the same
// client that names so many values: they fill what other requests are answered from, too.
func (s *Reader) Filling(ctx context.Context, items int) context.Context {
	r := requestOf(ctx)
	if r == nil {
		return ctx
	}
	return s.Begin(ctx, &Request{Client: r.Client, Items: items})
}

// requestOf returns the request that a context belongs to, nil for what the query service
// does by itself.
func requestOf(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// maxRows returns how many rows all statements together may go through.
func (r *Request) maxRows() int64 {
	return MaxScanRows + MaxItemRows*int64(r.Items) + MaxSkippedRows*int64(r.Skipped) + partRows*r.reader.parts.Load()
}

// ErrDropped is the ErrTooHeavy of a page for which too many records were read in vain:
// another way to read it may do.
var ErrDropped = fmt.Errorf("%w: too many records were dropped", clickhouse.ErrTooHeavy)

// Dropped returns ErrDropped once a page of so many rows, the skipped ones
// counted, has cost too many records.
func Dropped(read, rows int) error {
	if limit := maxDropped + 2*rows; read > limit {
		return fmt.Errorf("%w: %d were read for the page, at most %d may be", ErrDropped, read, limit)
	}
	return nil
}

// spend counts rows, and returns ErrTooHeavy once there were too many.
func (r *Request) spend(rows uint64) error {
	if r == nil {
		return nil
	}
	if all := r.rows.Add(int64(rows)); all > r.maxRows() {
		return fmt.Errorf("%w: %d rows were gone through, at most %d may be", clickhouse.ErrTooHeavy, all, r.maxRows())
	}
	return nil
}

// charge counts what a block of a result has, and returns ErrTooHeavy once there was too
// much.
func (r *Request) charge(block proto.Results) error {
	if r == nil {
		return nil
	}
	n := 0
	for i := range block {
		if texts, ok := block[i].Data.(*proto.ColStr); ok {
			n += len(texts.Buf)
		}
	}
	if all := r.bytes.Add(int64(n)); all > maxReadBytes {
		return fmt.Errorf("%w: %d bytes were read, at most %d may be", clickhouse.ErrTooHeavy, all, maxReadBytes)
	}
	return nil
}

// scans are what statements that look for the keys of a page read. The others
// read rows that are known, and are bounded by their number.
var scans = map[string]bool{
	"keys": true, "offset": true, "messages": true, "block keys": true, "contract keys": true, "transfer keys": true, "trace keys": true, "action keys": true, "ranking": true, "balances": true,
}

// Counting is what a statement reads that counts a list of contracts.
const Counting = "contract offset"

// limits returns the settings that bound a statement.
func (r *Request) limits(reads string) []clickhouse.Setting {
	if r == nil {
		return nil
	}
	limits := []clickhouse.Setting{{Name: "max_memory_usage", Value: strconv.Itoa(maxStatementMemory)}}
	bytes := 0
	switch {
	case reads == Counting:
		bytes = countFactor * r.reader.configuration.ScanBytes
	case scans[reads]:
		bytes = r.reader.configuration.ScanBytes + itemBytes*r.Items + skippedBytes*r.Skipped
	}
	if bytes > 0 {
		bytes += partBytes * int(r.reader.parts.Load())
		// max_rows_to_read would be compared with the rows of the whole range, also
		// where a LIMIT ends the statement sooner. Bytes count as they are read.
		limits = append(limits, clickhouse.Setting{Name: "max_bytes_to_read", Value: strconv.Itoa(bytes)})
	}
	return limits
}

// enter waits until the client has a connection to spare. leave gives it back.
func (r *Request) enter(ctx context.Context) (leave func(), err error) {
	if r == nil {
		return func() {}, nil
	}
	return r.reader.clients.enter(ctx, r.Client)
}

// workers is how many requests are worked on at a time for each connection: what
// is held in memory needs none, but a processor and memory for its answer.
const workers = 2

// Work waits until the request may be worked on: no client has more of them at a
// time than it may have connections. done is called when its answer is made;
// the client may take its time to read it.
func (s *Reader) Work(ctx context.Context, client string) (done func(), err error) {
	leave, err := s.working.enter(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := enter(ctx, s.busy); err != nil {
		leave()
		return nil, err
	}
	return func() {
		<-s.busy
		leave()
	}, nil
}

// Yield lets others have the processor after every few of many records, the
// numbers of which it is called with: a long page takes dozens of milliseconds,
// and what is quick would wait for them.
func Yield(n int) {
	const few = 8 // some 0.2 ms
	if n%few == few-1 {
		runtime.Gosched()
	}
}

// enter takes a place, or returns ErrBusy when there is none until ctx ends. Who
// comes late does not wait, and is told so where it does its work.
func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return clickhouse.ErrBusy
	}
}

// clients shares something out among clients: connections, work.
type clients struct {
	max   int // at a time, of one client
	mutex sync.Mutex
	slots map[string]*clientSlots
}

type clientSlots struct {
	taken chan struct{}
	users int // that hold a slot or wait for one
}

func newClients(limit int) *clients {
	return &clients{max: limit, slots: map[string]*clientSlots{}}
}

func (c *clients) enter(ctx context.Context, client string) (leave func(), err error) {
	c.mutex.Lock()
	s := c.slots[client]
	if s == nil {
		s = &clientSlots{taken: make(chan struct{}, c.max)}
		c.slots[client] = s
	}
	s.users++
	c.mutex.Unlock()
	forget := func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		if s.users--; s.users == 0 {
			delete(c.slots, client)
		}
	}
	if err := enter(ctx, s.taken); err != nil {
		forget()
		return nil, err
	}
	return func() {
		<-s.taken
		forget()
	}, nil
}
