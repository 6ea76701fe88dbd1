package list

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// messagePart is a part of a list: external-in messages have no created_lt, and lie
// before all others or behind them.
type messagePart uint8

const (
	otherMessages messagePart = iota
	externalMessages
	allMessages
)

// The words of a row that leads to a message and a transaction that holds it.
const (
	messageValue       = 0 // created_lt or created_at, 0 for external-in
	messageTag         = 1 // first 32 bits of the hash
	messageTransaction = 2 // key of the transaction
	messageDirection   = 6
	messageFar         = 7 // hash of the transaction, unless it is on the clustered side
)

// messagePlan is a plan of a part of a list.
type messagePlan struct {
	plan.Plan
	clustered Direction // the side whose transactions lie together
	// farHash reports whether rows of the other side carry the transaction's hash.
	farHash bool
}

// messageSource is where the rows of a plan are.
type messageSource struct {
	table     string
	prefix    []string
	clustered Direction
	farHash   bool
	residual  bool
	// packed reports whether the column key has created_at and hash_prefix in one.
	packed bool
	// bySource reports whether rows of one created_lt lie in the order of their
	// direction, and that created_at rises with created_lt.
	bySource bool
	where    sql.Conditions
}

// planOf makes a plan.
func (l *messageList) planOf(part messagePart, s *messageSource) *messagePlan {
	f, d := l.filter, l.Page.Descending
	value := plan.Column{Name: "value", SQL: "toUInt64(created_lt)", Key: "created_lt", At: messageValue}
	if f.Utime.Given {
		value = plan.Column{Name: "value", SQL: "toUInt64(created_at)", Key: "created_at", At: messageValue}
	}
	tag := plan.Column{Name: "tag", SQL: "hash_prefix", At: messageTag, Type: plan.Uint32}
	p := &messagePlan{clustered: s.clustered, farHash: s.farHash, Plan: plan.Plan{
		Reads: "messages", Table: s.table, Descending: d, Order: []plan.Term{{At: messageValue, Words: 2, Descending: d}}, Residual: s.residual, Bundle: "mc_seqno", Watermark: l.view.Tables,
		Keys: []string{value.Key, "hash_prefix"}, Seek: []plan.Column{value, tag},
	}}
	r := plan.Range{Prefix: s.prefix, Where: s.where}
	switch {
	case s.packed:
		value.SQL, tag.SQL = "bitShiftRight(key, 32)", "toUInt32(bitAnd(key, 4294967295))"
		p.Keys, p.Seek = []string{"key"}, []plan.Column{{Key: "key", At: messageValue, Type: plan.Packed}}
	case s.bySource:
		p.Keys, p.Seek = []string{"created_lt"}, []plan.Column{value}
	}
	p.Columns = append([]plan.Column{value, tag}, RowKeyColumns(messageTransaction)...)
	p.Columns = append(p.Columns, plan.Column{Name: "direction", At: messageDirection, Type: plan.Uint8})
	if s.farHash {
		p.Columns = append(p.Columns, plan.Column{Name: "far_hash", At: messageFar, Type: plan.Bits256})
	}
	l.restrict(&r, part, s.packed)
	p.Ranges = []plan.Range{r}
	return p
}

// restrict adds the filters that every table has the columns of.
func (l *messageList) restrict(r *plan.Range, part messagePart, packed bool) {
	f := l.filter
	r.Where = slices.Clip(r.Where)
	switch part {
	case externalMessages:
		r.Where.Add(sql.Is("created_lt", 0))
	case otherMessages:
		r.Where.Add(sql.Above("created_lt", 0))
		r.Where.Between("created_lt", f.Lts.From, f.Lts.To, ^uint64(0))
		const top = 1<<32 - 1
		if !packed {
			r.Where.Between("created_at", f.Utime.From, f.Utime.To, top)
			break
		}
		r.Where.Between("key", min(f.Utime.From, top)<<32, min(f.Utime.To, top)<<32|top, ^uint64(0))
		if f.Utime.From > top {
			r.Where.Add(sql.Never{})
		}
	}
	if f.Direction != Either {
		r.Where.Add(sql.Is("direction", f.Direction))
	}
}

// index is a list of messages_index.
func index(path sql.Name, key uint64) *messageSource {
	return &messageSource{table: "messages_index", prefix: []string{"path", "key"}, clustered: Out, where: sql.Conditions{sql.Is("path", path), sql.Is("key", key)}}
}

// byTime is the list of all messages in the order of time.
func byTimeOfMessages(residual bool, more ...sql.Condition) *messageSource {
	return &messageSource{table: "messages_index", prefix: []string{"path"}, clustered: Out, packed: true, residual: residual, where: sql.Conditions{sql.Is("path", sql.Name("utime"))}.With(more...)}
}

// byAccount is a list of what an account sent, or of what was sent to one or to
// none.
func (f *MessageFilter) byAccount() *messageSource {
	s := &messageSource{table: "messages_by_account", prefix: []string{"side", "near_workchain", "near_prefix"}, clustered: Out}
	if f.Opcode != nil {
		s.where.Add(sql.Is("opcode", *f.Opcode))
	}
	destination := sql.AccountColumns("near")
	if f.Source != nil {
		s.where.Add(sql.Is("side", sql.Name("source")))
		s.where.Add(sql.KeyOf(f.Source[:]).Is(destination)...)
		destination, s.bySource, s.farHash = sql.AccountColumns("far"), true, true
	} else {
		s.where.Add(sql.Is("side", sql.Name("destination")))
	}
	switch {
	case f.NoDestination:
		s.where.Add(sql.AccountKey{Workchain: sql.NoWorkchain}.Is(destination)...)
	case f.Destination != nil:
		s.where.Add(sql.KeyOf(f.Destination[:]).Is(destination)...)
	}
	if f.Source == nil && !f.NoDestination {
		s.clustered, s.farHash = In, true
	}
	return s
}

// plan is the likeliest way to read a part of the list.
func (l *messageList) plan(part messagePart) *messagePlan {
	f := l.filter
	var s *messageSource
	switch {
	case f.Body != nil:
		s = index("body", schema.Prefix(f.Body[:]))
		s.residual = f.Source != nil || f.Destination != nil || f.NoDestination || f.Opcode != nil
	case f.Source != nil || f.Destination != nil || f.NoDestination:
		s = f.byAccount()
	case f.Opcode != nil:
		s = index("opcode", uint64(*f.Opcode))
	case f.Utime.Given:
		s = byTimeOfMessages(false)
	default:
		s = index("lt", 0)
	}
	return l.planOf(part, s)
}

// plans are the ways to read a part of the list, the likeliest first. Where a
// filter or an order that a table does not have makes ClickHouse go through too
// many rows, or too many records be dropped, another table may have few.
func (l *messageList) plans(part messagePart) []*messagePlan {
	f := l.filter
	toNobody := f.NoDestination && f.Source == nil && f.Body == nil
	nobody := sql.Is("kind", int32(record.Message_EXTERNAL_OUT))
	var plans []*messagePlan
	timed := toNobody && f.Utime.Given
	if timed {
		plans = append(plans, l.planOf(part, byTimeOfMessages(f.Opcode != nil, nobody)))
	} else {
		plans = append(plans, l.plan(part))
	}
	if f.Body != nil && (f.Source != nil || f.Destination != nil || f.NoDestination) {
		s := f.byAccount()
		s.residual = true
		plans = append(plans, l.planOf(part, s))
	}
	if f.Source != nil && f.Destination != nil {
		s := &messageSource{table: "messages_by_account", prefix: []string{"side", "near_workchain", "near_prefix"}, clustered: In, farHash: true, residual: f.Body != nil}
		s.where = sql.Conditions{sql.Is("side", sql.Name("destination"))}
		s.where.Add(sql.KeyOf(f.Destination[:]).Is(sql.AccountColumns("near"))...)
		s.where.Add(sql.KeyOf(f.Source[:]).Is(sql.AccountColumns("far"))...)
		if f.Opcode != nil {
			s.where.Add(sql.Is("opcode", *f.Opcode))
		}
		plans = append(plans, l.planOf(part, s))
	}
	if f.Opcode != nil && (f.Source != nil || f.Destination != nil || f.NoDestination) {
		s := index("opcode", uint64(*f.Opcode))
		if s.residual = !toNobody; toNobody {
			s.where.Add(nobody)
		}
		plans = append(plans, l.planOf(part, s))
	}
	if f.Utime.Given && !timed && (f.Body != nil || f.Source != nil || f.Destination != nil || f.NoDestination || f.Opcode != nil) {
		plans = append(plans, l.planOf(part, byTimeOfMessages(true)))
	}
	return plans
}

// likelyTransactions begins to read the transactions that a list of what an
// account sent or received most likely leads to, its newest, beside the rows that
// tell. When others ask, too, only what is needed is read.
func (l *Lists) likelyTransactions(ctx context.Context, m *messageList, p *messagePlan, limit int) (wait func() []*record.Transaction) {
	f := m.newestTransactions(p)
	if f == nil || limit == 0 || !l.reader.Quiet() {
		return func() []*record.Transaction { return nil }
	}
	var list []*record.Transaction
	done := make(chan struct{})
	go func() {
		defer close(done)
		// What fails here is read again with what is missing.
		list, _, _ = l.Transactions(ctx, m.view, f, paging.Page{Limit: limit, Descending: true}, nil)
	}()
	return func() []*record.Transaction {
		<-done
		return list
	}
}

// newestTransactions are those of the account of the list, nil when the list is
// likely to lead elsewhere.
func (l *messageList) newestTransactions(p *messagePlan) *TransactionFilter {
	f := l.filter
	if !p.farHash || !l.Page.Descending || l.Page.Offset > 0 || f.Direction == 1-p.clustered || f.Opcode != nil || f.Utime.Given {
		return nil
	}
	newest := &TransactionFilter{Utime: Everything, Lts: Everything}
	switch {
	case f.Source == nil && l.After == nil:
		newest.Accounts = []Address{*f.Destination}
	case f.Source != nil && f.Destination == nil:
		newest.Accounts = []Address{*f.Source}
		if l.After != nil {
			newest.Lts.To = l.After.Value
		}
	default:
		return nil
	}
	return newest
}

// readMessages reads the messages that some rows point to. Of the transaction
// on one side the record is read unless it is there, of the other only the hash.
func (l *Lists) readMessages(ctx context.Context, m *messageList, p *messagePlan, items [][]plan.Row, there []*record.Transaction) ([]Message, error) {
	full, other := split(items, p.clustered)
	if p.farHash {
		list, err := l.TransactionsAt(ctx, m.view, missing(full, there))
		if err != nil {
			return nil, err
		}
		return m.joinEnds(items, append(list, there...), farHashes(items, p.clustered)), nil
	}
	var list []*record.Transaction
	var hashes map[RowKey]Hash
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		list, err = l.TransactionsAt(ctx, m.view, full)
		return err
	})
	if len(other) > 0 {
		group.Go(func() (err error) {
			hashes, err = l.hashesAt(ctx, m.view, other)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return m.joinEnds(items, list, hashes), nil
}

// missing are the keys of other transactions.
func missing(list []RowKey, there []*record.Transaction) []RowKey {
	known := make(map[RowKey]bool, len(there))
	for _, tx := range there {
		known[RowKeyOf(tx)] = true
	}
	return slices.DeleteFunc(list, func(k RowKey) bool { return known[k] })
}

// end returns the transaction that a row is about, and the side on which that holds
// the message.
func end(r plan.Row) (RowKey, Direction) {
	return RowKeyIn(r, messageTransaction), Direction(r[messageDirection])
}

// farHashes are the hashes that came with the rows.
func farHashes(items [][]plan.Row, clustered Direction) map[RowKey]Hash {
	found := map[RowKey]Hash{}
	for _, ends := range items {
		for _, r := range ends {
			if key, side := end(r); side != clustered {
				found[key] = r.Hash(messageFar)
			}
		}
	}
	return found
}

// mayBeSeveral reports whether rows that are alike are of several messages that share 32
// bits, as of many external ones some do, or of one that was taken several times.
func mayBeSeveral(item []plan.Row) bool {
	known := map[Direction]RowKey{}
	return slices.ContainsFunc(item, func(r plan.Row) bool {
		key, side := end(r)
		other, has := known[side]
		known[side] = key
		return has && other != key
	})
}

// split says of which transactions the record is needed and of which the hash:
// each message's record comes from the clustered side if that is indexed. Of
// messages that share 32 bits all records of both sides are needed.
func split(items [][]plan.Row, clustered Direction) (full, other []RowKey) {
	needed := map[RowKey]bool{}
	for _, ends := range items {
		_, from := end(ends[0])
		if slices.ContainsFunc(ends, func(r plan.Row) bool { return Direction(r[messageDirection]) == clustered }) {
			from = clustered
		}
		several := mayBeSeveral(ends)
		for _, r := range ends {
			key, side := end(r)
			needed[key] = needed[key] || several || side == from
		}
	}
	for key, record := range needed {
		if record {
			full = append(full, key)
		} else {
			other = append(other, key)
		}
	}
	return full, other
}

// hashesAt reads the hashes of transactions.
func (l *Lists) hashesAt(ctx context.Context, v *View, list []RowKey) (map[RowKey]Hash, error) {
	const hash = 4
	p := &plan.Plan{Reads: "hashes", Table: "transactions", Columns: append(RowKeyColumns(0), plan.Column{Name: "hash", At: hash, Type: plan.Bits256})}
	list, inMemory := bySource(v, list)
	rows, err := p.Held(ctx, l.source(v), &plan.Range{Where: transactionsIn(inMemory)})
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		var read []plan.Row
		read, err = reader.Gather(ctx, reader.Chunks(list, l.reader.Splits(2*len(list)), RowKey.compare), func(ctx context.Context, part []RowKey) ([]plan.Row, error) {
			return p.Run(ctx, l.reader, p.Statement(&plan.Range{Where: transactionsIn(part)}, nil, 0))
		})
		rows = append(rows, read...)
	}
	found := make(map[RowKey]Hash, len(rows))
	for _, r := range rows {
		found[RowKeyIn(r, 0)] = r.Hash(hash)
	}
	return found, err
}

// joinEnds finds the wanted messages in the records and adds the hashes of their
// other ends, unless there are records of all ends.
func (l *messageList) joinEnds(items [][]plan.Row, list []*record.Transaction, hashes map[RowKey]Hash) []Message {
	type item struct{ value, tag uint64 } // that rows are alike in
	wanted := map[item][]plan.Row{}
	for _, ends := range items {
		at := item{ends[0][messageValue], ends[0][messageTag]}
		if wanted[at] = ends; mayBeSeveral(ends) {
			wanted[at] = nil
		}
	}
	var found []Message
	for _, m := range l.messagesIn(list) {
		ends, is := wanted[item{l.filter.KeyOf(m.Message).Value, uint64(schema.ShortPrefix(m.Hash))}]
		if !is {
			continue // another message of the same transaction
		}
		for _, r := range ends {
			key, side := end(r)
			hash, read := hashes[key]
			switch {
			case !read:
			case side == In:
				m.InTransaction = hash[:]
			default:
				m.OutTransaction = hash[:]
			}
		}
		found = append(found, m)
	}
	return found
}
