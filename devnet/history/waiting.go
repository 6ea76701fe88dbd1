package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Waiting is an external message that somebody was promised to be tried, and
// that no bundle has dealt with yet.
type Waiting struct {
	Number  uint64 // of their order; no two have the same
	Expires time.Time
	Message *cell.Cell
}

// Keep stores a message that waits. When it returns nil, the message survives a
// crash of the machine, until an Append or Forget with its number.
func (s *Store) Keep(w Waiting) error {
	value := binary.BigEndian.AppendUint64(nil, uint64(w.Expires.UnixMilli()))
	value = append(value, w.Message.ToBOC()...)
	if err := s.db.Do(func() error { return s.db.Set(waitingKey(w.Number), value, pebble.Sync) }); err != nil {
		return fmt.Errorf("waiting message: %w", err)
	}
	return nil
}

// Forget drops messages that waited.
func (s *Store) Forget(numbers ...uint64) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	return errors.Join(forget(batch, numbers), s.commit(batch, pebble.NoSync))
}

func forget(batch *pebble.Batch, numbers []uint64) (err error) {
	for _, n := range numbers {
		err = errors.Join(err, batch.Delete(waitingKey(n), nil))
	}
	return err
}

func waitingKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindWaiting}, number)
}

// Waiting are all messages that wait, in their order.
func (s *Store) Waiting() ([]Waiting, error) {
	var list []Waiting
	err := s.scan([]byte{kindWaiting}, func(key, value []byte) error {
		k, v := reader{data: key}, reader{data: value}
		w := Waiting{Number: k.uint64(), Expires: time.UnixMilli(int64(v.uint64()))}
		if k.failed || v.failed {
			return fmt.Errorf("waiting message: %w", errRecord)
		}
		var err error
		if w.Message, err = cell.FromBOC(v.bytes(len(v.data))); err != nil {
			return fmt.Errorf("waiting message %d: %w", w.Number, err)
		}
		list = append(list, w)
		return nil
	})
	return list, err
}

// pending are the external messages that the last bundle left.
func (s *Store) pending() ([]*cell.Cell, error) {
	value, err := s.get([]byte{kindPending})
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := reader{data: value}
	var messages []*cell.Cell
	for range r.count(4) {
		message, err := cell.FromBOC(r.bytes(r.count(1)))
		if err != nil {
			return nil, fmt.Errorf("pending message: %w", err)
		}
		messages = append(messages, message)
	}
	return messages, r.end("pending messages")
}

func appendMessages(out []byte, messages []*cell.Cell) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(messages)))
	for _, m := range messages {
		boc := m.ToBOC()
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(boc))), boc...)
	}
	return out
}
