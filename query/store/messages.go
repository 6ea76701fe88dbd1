package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/schema/record"
)

// Direction is the side on which a transaction holds a message.
type Direction uint8

// The directions, as in the tables.
const (
	In     Direction = 0 // the transaction consumed it
	Out    Direction = 1 // the transaction produced it
	Either Direction = 2
)

// MessageFilter says which messages are wanted; the zero value with Everything
// and Either means all.
type MessageFilter struct {
	Hashes           []Hash // raw or normalized
	Body             *Hash
	Source           *Address
	Destination      *Address
	NoSource         bool // external-in
	NoDestination    bool // external-out
	Opcode           *uint32
	Utime            Range
	Lts              Range
	Direction        Direction
	ExcludeExternals bool // messages without created_lt
	OnlyExternals    bool
}

// Message is a message with the transactions that hold it; a hash is nil when
// the side is not indexed or was not asked for.
type Message struct {
	*record.Message
	InTransaction  []byte // consumed it
	OutTransaction []byte // produced it
}

// MessageKey is a place in a list of messages. External-in messages have no
// created_lt; they are first in descending order, last in ascending.
type MessageKey struct {
	Value    uint64 // created_lt or created_at
	External bool   // external-in
	Hash     Hash
}

// KeyOf is the place of a message in the filter's list.
func (f *MessageFilter) KeyOf(m *record.Message) MessageKey {
	k := MessageKey{Hash: Hash(m.Hash), External: m.Kind == record.Message_EXTERNAL_IN}
	switch {
	case k.External:
	case f.Utime.Given:
		k.Value = uint64(m.CreatedAt)
	default:
		k.Value = m.CreatedLt
	}
	return k
}

func compareMessages(a, b MessageKey, descending bool) int {
	if a.External != b.External {
		if a.External == descending {
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(a.Value, b.Value), bytes.Compare(a.Hash[:], b.Hash[:]))
	if descending {
		return -c
	}
	return c
}

func (f *MessageFilter) matches(m *record.Message) bool {
	external := m.Kind == record.Message_EXTERNAL_IN
	if external && (f.Utime.Given || f.Lts.Given || f.ExcludeExternals) || !external && f.OnlyExternals {
		return false
	}
	return f.matchesContent(m) && (external || f.Utime.has(uint64(m.CreatedAt)) && f.Lts.has(m.CreatedLt))
}

func (f *MessageFilter) matchesContent(m *record.Message) bool {
	return (len(f.Hashes) == 0 || f.hasHash(m)) &&
		(f.Body == nil || bytes.Equal(m.BodyHash, f.Body[:])) &&
		(f.Source == nil || bytes.Equal(m.Source, f.Source[:])) &&
		(f.Destination == nil || bytes.Equal(m.Destination, f.Destination[:])) &&
		(!f.NoSource || len(m.Source) == 0) && (!f.NoDestination || len(m.Destination) == 0) &&
		(f.Opcode == nil || m.Opcode != nil && *m.Opcode == *f.Opcode)
}

func (f *MessageFilter) hasHash(m *record.Message) bool {
	return slices.Contains(f.Hashes, Hash(m.Hash)) || len(m.HashNorm) == len(Hash{}) && slices.Contains(f.Hashes, Hash(m.HashNorm))
}

// Messages is a page of the list, and whether there are more after it.
func (s *Store) Messages(ctx context.Context, v *View, f *MessageFilter, page Page, after *MessageKey) ([]Message, bool, error) {
	if f.ExcludeExternals && f.OnlyExternals || f.NoSource && f.Source != nil || f.NoDestination && f.Destination != nil {
		return nil, false, nil
	}
	l := &messageList{filter: f, view: v, page: page, after: after}
	if len(f.Hashes) > 0 {
		return s.messagesByHash(ctx, l)
	}
	if list, ok := l.fromHead(); ok {
		s.metrics.fromHead.WithLabelValues("messages").Inc()
		return list[:page.Limit], true, nil
	}
	if parts := l.parts(); len(parts) == 2 && page.Offset == 0 && !l.plan(false).residual {
		if list, more, ok, err := s.bothParts(ctx, l, parts); ok || err != nil {
			return list, more, err
		}
	}
	var list []Message
	for _, external := range l.parts() {
		// One more than fits tells whether there are more.
		some, err := s.partOfMessages(ctx, l, external, page.Limit+1-len(list))
		if err != nil {
			return nil, false, err
		}
		if list = append(list, some...); len(list) > page.Limit {
			return list[:page.Limit], true, nil
		}
	}
	return list, false, nil
}

// bothParts reads the rows of both parts side by side and the messages of both
// at once. It is not ok when some of them had to be dropped, so that the page is
// not full.
func (s *Store) bothParts(ctx context.Context, l *messageList, parts []bool) (list []Message, more, ok bool, err error) {
	want := l.page.Limit + 2 // the cursor's own, and one that tells whether there are more
	p := l.plan(false)
	likely := s.likelyTransactions(ctx, l, &p, want)
	found, ended := make([][][]end, len(parts)), make([]bool, len(parts))
	group, groupContext := errgroup.WithContext(ctx)
	for i, external := range parts {
		p := l.plan(external)
		w := s.walkOf(l, &p, external)
		group.Go(func() (err error) {
			found[i], err = w.next(groupContext, want, 2)
			ended[i] = w.ended()
			return err
		})
	}
	if err := group.Wait(); errors.Is(err, errTooManyBytes) {
		return nil, false, false, nil // another plan may do
	} else if err != nil {
		return nil, false, false, err
	}
	items := slices.Concat(found...)
	whole := len(items) <= want && !slices.Contains(ended, false)
	if items = items[:min(want, len(items))]; len(items) > 0 {
		if list, err = s.readMessages(ctx, l, &p, items, likely()); err != nil {
			return nil, false, false, err
		}
	}
	list = l.take(list)
	if len(list) <= l.page.Limit && !whole {
		return nil, false, false, nil
	}
	return list[:min(l.page.Limit, len(list))], len(list) > l.page.Limit, true, nil
}

// messageList is a request for a page of a list. What is left of the offset is
// counted down from part to part.
type messageList struct {
	filter *MessageFilter
	view   *View
	page   Page
	after  *MessageKey
}

// parts are the external-in messages and the others, in the order of the list.
func (l *messageList) parts() []bool {
	f := l.filter
	others := !f.OnlyExternals && !f.NoSource
	externals := !f.ExcludeExternals && !f.Utime.Given && !f.Lts.Given && f.Source == nil && !f.NoDestination && f.Direction != Out
	if l.after != nil {
		if l.after.External && !l.page.Descending {
			others = false
		}
		if !l.after.External && l.page.Descending {
			externals = false
		}
	}
	var parts []bool
	if externals && l.page.Descending {
		parts = append(parts, true)
	}
	if others {
		parts = append(parts, false)
	}
	if externals && !l.page.Descending {
		parts = append(parts, true)
	}
	return parts
}

// messagesByHash reads all ends of given messages.
func (s *Store) messagesByHash(ctx context.Context, l *messageList) ([]Message, bool, error) {
	list, err := s.transactions(ctx, recordsAt("messages_index", conditions{"path = 'hash' AND key IN (" + prefixes(l.filter.Hashes) + ")"}))
	if err != nil {
		return nil, false, err
	}
	page := l.take(l.messagesIn(list))
	page = page[min(l.page.Offset, len(page)):]
	return page[:min(l.page.Limit, len(page))], len(page) > l.page.Limit, nil
}

// messagesIn are the wanted messages of some transactions, once for each end.
func (l *messageList) messagesIn(list []*record.Transaction) []Message {
	var found []Message
	f := l.filter
	for _, tx := range list {
		if tx.McSeqno > l.view.Watermark {
			continue
		}
		if tx.InMsg != nil && f.Direction != Out && f.matches(tx.InMsg) {
			found = append(found, Message{Message: tx.InMsg, InTransaction: tx.Hash})
		}
		for _, m := range tx.OutMsgs {
			if f.Direction != In && f.matches(m) {
				found = append(found, Message{Message: m, OutTransaction: tx.Hash})
			}
		}
	}
	return found
}

// take puts messages in order, joins their ends and drops what lies before the
// cursor.
func (l *messageList) take(list []Message) []Message {
	compare := func(a, b Message) int {
		return compareMessages(l.filter.KeyOf(a.Message), l.filter.KeyOf(b.Message), l.page.Descending)
	}
	if l.after != nil {
		list = slices.DeleteFunc(list, func(m Message) bool {
			return compareMessages(l.filter.KeyOf(m.Message), *l.after, l.page.Descending) <= 0
		})
	}
	slices.SortStableFunc(list, compare)
	joined := list[:0]
	for _, m := range list {
		if n := len(joined); n > 0 && bytes.Equal(joined[n-1].Hash, m.Hash) {
			joined[n-1].join(m)
			continue
		}
		joined = append(joined, m)
	}
	return joined
}

func (m *Message) join(other Message) {
	if m.InTransaction == nil {
		m.InTransaction = other.InTransaction
	}
	if m.OutTransaction == nil {
		m.OutTransaction = other.OutTransaction
	}
}
