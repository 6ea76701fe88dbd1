package list

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
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
	Utime            Span
	Lts              Span
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

// MessageKey is the key of a message in a list. External-in messages have no
// created_lt; they are first in descending order, last in ascending.
type MessageKey struct {
	Value    uint64 // created_lt or created_at
	External bool   // external-in
	Hash     Hash
}

// KeyOf returns the key of a message in the filter's list.
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

func compareMessages(a, b *MessageKey, descending bool) int {
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

// impossible reports whether a filter holds for no message.
func (f *MessageFilter) impossible() bool {
	nobody := func(a *Address) bool { return a != nil && paging.IsNobody(*a) }
	return f.ExcludeExternals && f.OnlyExternals || f.NoSource && f.Source != nil || f.NoDestination && f.Destination != nil ||
		nobody(f.Source) || nobody(f.Destination)
}

func (f *MessageFilter) matches(m *record.Message) bool {
	external := m.Kind == record.Message_EXTERNAL_IN
	if external && (f.Utime.Given || f.Lts.Given || f.ExcludeExternals) || !external && f.OnlyExternals {
		return false
	}
	return f.matchesContent(m) && (external || f.Utime.Has(uint64(m.CreatedAt)) && f.Lts.Has(m.CreatedLt))
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

// messageList declares a list of messages. What is left of the offset is counted
// down from part to part.
type messageList struct {
	*paging.Records[Message, MessageKey]
	filter *MessageFilter
	view   *View
}

func newMessageList(v *View, f *MessageFilter, page paging.Page, after *MessageKey) *messageList {
	return &messageList{filter: f, view: v, Records: &paging.Records[Message, MessageKey]{
		Page: page, After: after,
		Key:     func(m Message) MessageKey { return f.KeyOf(m.Message) },
		Compare: func(a, b *MessageKey) int { return compareMessages(a, b, page.Descending) },
		Match:   func(Message) bool { return true }, // messagesIn has looked
		Same:    func(a, b Message) bool { return bytes.Equal(a.Hash, b.Hash) },
		Join:    (*Message).join,
	}}
}

// isBehind reports whether a message lies behind the cursor.
func (l *messageList) isBehind(m *record.Message) bool {
	k := l.filter.KeyOf(m)
	return l.After == nil || l.Compare(&k, l.After) > 0
}

// messagesByHash are the rows of messages_index of messages with some hashes.
func messagesByHash(hashes []Hash) sql.Conditions {
	return sql.Conditions{sql.Is("path", sql.Name("hash")), sql.Any("key", sql.Prefixes(hashes))}
}

// Messages is a page of the list, and whether there are more after it.
func (l *Lists) Messages(ctx context.Context, v *View, f *MessageFilter, page paging.Page, after *MessageKey) ([]Message, bool, error) {
	if f.impossible() {
		return nil, false, nil
	}
	m := newMessageList(v, f, page, after)
	if len(f.Hashes) > 0 {
		found, err := l.transactionsOf(ctx, v, "messages_index", messagesByHash(f.Hashes))
		if err != nil {
			return nil, false, err
		}
		list, more := m.All(m.messagesIn(found))
		return list, more, nil
	}
	if list, ok := m.fromHead(); ok {
		l.fromHead.WithLabelValues("messages").Inc()
		return list[:page.Limit], true, nil
	}
	if parts := m.parts(); len(parts) == 2 && page.Offset == 0 && !m.plan(otherMessages).Residual {
		list, more, err := l.bothParts(ctx, m, parts)
		if !errors.Is(err, paging.ErrShort) {
			return list, more, err
		}
	}
	var list []Message
	for _, part := range m.parts() {
		// One more than fits tells whether there are more.
		some, err := l.partOfMessages(ctx, m, part, page.Limit+1-len(list))
		if err != nil {
			return nil, false, err
		}
		if list = append(list, some...); len(list) > page.Limit {
			return list[:page.Limit], true, nil
		}
	}
	return list, false, nil
}

// messageQuery is a query of one part of a list.
type messageQuery struct {
	*paging.Query[Message, MessageKey]
	// likely returns the transactions that were read beside the rows.
	likely func() []*record.Transaction
}

// queryMessages makes a query of a part of a list by a plan; limit is how many
// messages may be wanted of it.
func (l *Lists) queryMessages(ctx context.Context, m *messageList, part messagePart, p *messagePlan, limit int) *messageQuery {
	q := &messageQuery{likely: l.likelyTransactions(ctx, m, p, limit)}
	q.Query = &paging.Query[Message, MessageKey]{
		Records: m.Records, Source: l.source(m.view), Plan: &p.Plan, RowsOfItem: 2, Several: mayBeSeveral,
		RowOf: func(k *MessageKey) plan.Row {
			if k.External != (part == externalMessages) {
				return nil // the cursor lies in the other part
			}
			return plan.Row{messageValue: k.Value, messageTag: uint64(schema.ShortPrefix(k.Hash[:]))}
		},
		Read: func(ctx context.Context, items [][]plan.Row) ([]Message, error) {
			return l.readMessages(ctx, m, p, items, q.likely())
		},
	}
	return q
}

// bothParts reads the rows of both parts side by side and the messages of both
// at once. It returns paging.ErrShort when some of them had to be dropped, so that the page
// is not full, or when another plan may do.
func (l *Lists) bothParts(ctx context.Context, m *messageList, parts []messagePart) (list []Message, more bool, err error) {
	want := m.Page.Limit + 2 // the cursor's own, and one that tells whether there are more
	others := l.queryMessages(ctx, m, otherMessages, m.plan(otherMessages), want)
	found, ended := make([][][]plan.Row, len(parts)), make([]bool, len(parts))
	group, groupContext := errgroup.WithContext(ctx)
	for i, part := range parts {
		q := others
		if part != otherMessages {
			q = l.queryMessages(ctx, m, part, m.plan(part), 0)
		}
		w := q.Scan()
		group.Go(func() (err error) {
			found[i], err = w.Next(groupContext, want, 2)
			ended[i] = w.Ended()
			return err
		})
	}
	if err := group.Wait(); errors.Is(err, clickhouse.ErrTooManyBytes) {
		return nil, false, paging.ErrShort
	} else if err != nil {
		return nil, false, err
	}
	items := slices.Concat(found...)
	whole := len(items) <= want && !slices.Contains(ended, false)
	if items = items[:min(want, len(items))]; len(items) > 0 {
		if list, err = others.Read(ctx, items); err != nil {
			return nil, false, err
		}
	}
	if list = m.Take(list); len(list) <= m.Page.Limit && !whole {
		return nil, false, paging.ErrShort
	}
	list, more = m.Cut(list, 0)
	return list, more, nil
}

// partOfMessages are up to limit of a part of the list.
func (l *Lists) partOfMessages(ctx context.Context, m *messageList, part messagePart, limit int) (list []Message, err error) {
	offset := m.Page.Offset
	for _, p := range m.plans(part) {
		m.Page.Offset = offset
		q := l.queryMessages(ctx, m, part, p, limit)
		if list, m.Page.Offset, err = q.Collect(ctx, limit); !mayDoOtherwise(err) {
			break
		}
	}
	return list[:min(limit, len(list))], err
}

// mayDoOtherwise reports whether what a plan failed by another one may not.
func mayDoOtherwise(err error) bool {
	return errors.Is(err, clickhouse.ErrTooManyBytes) || errors.Is(err, reader.ErrDropped)
}

// parts are the external-in messages and the others, in the order of the list.
func (l *messageList) parts() []messagePart {
	f := l.filter
	others := !f.OnlyExternals && !f.NoSource
	externals := !f.ExcludeExternals && !f.Utime.Given && !f.Lts.Given && f.Source == nil && !f.NoDestination && f.Direction != Out
	if l.After != nil {
		if l.After.External && !l.Page.Descending {
			others = false
		}
		if !l.After.External && l.Page.Descending {
			externals = false
		}
	}
	var parts []messagePart
	if externals && l.Page.Descending {
		parts = append(parts, externalMessages)
	}
	if others {
		parts = append(parts, otherMessages)
	}
	if externals && !l.Page.Descending {
		parts = append(parts, externalMessages)
	}
	return parts
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

func (m *Message) join(other Message) {
	if m.InTransaction == nil {
		m.InTransaction = other.InTransaction
	}
	if m.OutTransaction == nil {
		m.OutTransaction = other.OutTransaction
	}
}
