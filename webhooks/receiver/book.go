package receiver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"tonscribe/webhooks/event"
)

// Book keeps orders in two files of JSON lines: one that the shop writes, with an Order
// in each line, and a journal, with an Entry in each. It is for one process.
type Book struct {
	path    string
	journal *os.File
	mutex   sync.Mutex
	read    fs.FileInfo // of the shop's file when it was read, nil before
	orders  map[string]*Order
	last    map[string]*Entry // of references
	now     func() time.Time
}

// State is what became of an order.
type State string

// The states of an order.
const (
	Paid      State = "paid"
	Failed    State = "failed"
	Processed State = "processed" // shipped after it was paid
)

// Entry is a line of the journal.
type Entry struct {
	Reference string    `json:"reference"`
	State     State     `json:"state"`
	At        time.Time `json:"at"`
	// Event is what paid the order, or failed to.
	Event *event.Event `json:"event,omitempty"`
}

// OpenBook opens the files; the journal is made when there is none. A line of it that
// was cut off half-way was not acknowledged, and is taken away.
func OpenBook(orders, journal string) (*Book, error) {
	f, err := os.OpenFile(journal, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	b := &Book{path: orders, journal: f, orders: map[string]*Order{}, last: map[string]*Entry{}, now: time.Now}
	if err := b.replay(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", journal, err), f.Close())
	}
	if err := b.load(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

// Close closes the journal.
func (b *Book) Close() error { return b.journal.Close() }

func (b *Book) replay() error {
	lines, good := bufio.NewReader(b.journal), int64(0)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		e := new(Entry)
		if err := json.Unmarshal(line, e); err != nil {
			return fmt.Errorf("at byte %d: %w", good, err)
		}
		good += int64(len(line))
		b.last[e.Reference] = e
	}
	if err := b.journal.Truncate(good); err != nil {
		return err
	}
	_, err := b.journal.Seek(good, io.SeekStart)
	return err
}

// load reads the shop's file when it has changed. No file is no orders.
func (b *Book) load() error {
	info, err := os.Stat(b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case b.read != nil && info.ModTime().Equal(b.read.ModTime()) && info.Size() == b.read.Size():
		return nil
	}
	raw, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	orders := map[string]*Order{}
	for n, line := range bytes.Split(raw, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		o := new(Order)
		if err := json.Unmarshal(line, o); err != nil || o.Reference == "" {
			return fmt.Errorf("%s, line %d: not an order with a reference", b.path, n+1)
		}
		orders[o.Reference] = o
	}
	b.orders, b.read = orders, info
	return nil
}

// Find implements Orders. An order that is not known yet may have been written just now.
func (b *Book) Find(_ context.Context, reference string) (*Order, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	o := b.orders[reference]
	if o == nil {
		if err := b.load(); err != nil {
			return nil, err
		}
		if o = b.orders[reference]; o == nil {
			return nil, nil
		}
	}
	found := *o
	found.Paid = b.is(reference, Paid, Processed)
	return &found, nil
}

func (b *Book) is(reference string, states ...State) bool {
	e := b.last[reference]
	return e != nil && slices.Contains(states, e.State)
}

// Pay implements Orders.
func (b *Book) Pay(_ context.Context, e *event.Event) (first bool, err error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.is(e.Data.Reference, Paid, Processed) {
		return false, nil
	}
	return true, b.write(&Entry{Reference: e.Data.Reference, State: Paid, Event: e})
}

// Fail implements Orders.
func (b *Book) Fail(_ context.Context, e *event.Event) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.is(e.Data.Reference, Paid, Processed, Failed) {
		return nil
	}
	return b.write(&Entry{Reference: e.Data.Reference, State: Failed, Event: e})
}

// Shipped marks an order that was paid as processed.
func (b *Book) Shipped(reference string) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.write(&Entry{Reference: reference, State: Processed})
}

// Unshipped are what paid the orders that were not processed before an end, oldest first.
func (b *Book) Unshipped() (events []*event.Event) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var entries []*Entry
	for _, e := range b.last {
		if e.State == Paid && e.Event != nil {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, c *Entry) int { return a.At.Compare(c.At) })
	for _, e := range entries {
		events = append(events, e.Event)
	}
	return events
}

// write appends an entry, so that it is on the disk. A line that was not written whole is
// taken away again.
func (b *Book) write(e *Entry) error {
	e.At = b.now().UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	at, err := b.journal.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err = b.journal.Write(append(line, '\n')); err == nil {
		err = b.journal.Sync()
	}
	if err != nil {
		_, back := b.journal.Seek(at, io.SeekStart)
		return errors.Join(err, b.journal.Truncate(at), back)
	}
	b.last[e.Reference] = e
	return nil
}
