package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// messagePlan is where a part of the list is read from.
type messagePlan struct {
	table string
	// leading are the columns that the rows have in common, by which the table is
	// ordered before the list's.
	leading    []string
	column     string // the first that the list is ordered by
	conditions conditions
	clustered  Direction // the side whose transactions lie together
	// packed says that the column key has created_at and hash_prefix in one.
	packed bool
	// farHash says that rows of the other side carry the transaction's hash.
	farHash bool
	// residual says that the table does not have all filters' columns.
	residual bool
	// bySource says that rows of one created_lt lie in the order of their
	// direction, and that created_at rises with created_lt.
	bySource bool
}

func (l *messageList) plan(external bool) messagePlan {
	f := l.filter
	p := messagePlan{table: "messages_index", leading: []string{"path", "key"}, column: "created_lt", clustered: Out}
	if f.Utime.Given {
		p.column = "created_at"
	}
	switch {
	case f.Body != nil:
		p.conditions.add("path = 'body' AND key = %d", schema.Prefix(f.Body[:]))
		p.residual = f.Source != nil || f.Destination != nil || f.NoDestination || f.Opcode != nil
	case f.Source != nil || f.Destination != nil || f.NoDestination:
		f.byAccount(&p)
	case f.Opcode != nil:
		p.conditions.add("path = 'opcode' AND key = %d", *f.Opcode)
	case f.Utime.Given:
		p.leading, p.column, p.packed = []string{"path"}, "key", true
		p.conditions.add("path = 'utime'")
	default:
		p.conditions.add("path = 'lt' AND key = 0")
	}
	l.partConditions(&p, external)
	return p
}

// plans are the ways to read a part of the list, the likeliest first. Where a
// filter or an order that a table does not have makes ClickHouse go through too
// many rows, another table may have few.
func (l *messageList) plans(external bool) []messagePlan {
	f := l.filter
	toNobody := f.NoDestination && f.Source == nil && f.Body == nil
	nobody := fmt.Sprintf("kind = %d", record.Message_EXTERNAL_OUT)
	var plans []messagePlan
	if toNobody && f.Utime.Given {
		plans = append(plans, l.byTime(external, f.Opcode != nil, nobody))
	} else {
		plans = append(plans, l.plan(external))
	}
	if f.Source != nil && f.Destination != nil {
		p := messagePlan{table: "messages_by_account", leading: []string{"side", "near_workchain", "near_prefix"}, column: plans[0].column, clustered: In, farHash: true}
		p.conditions.add("side = 'destination' AND %s AND %s", account("near_workchain", "near_prefix", *f.Destination), account("far_workchain", "far_prefix", *f.Source))
		if f.Opcode != nil {
			p.conditions.add("opcode = %d", *f.Opcode)
		}
		l.partConditions(&p, external)
		plans = append(plans, p)
	}
	if f.Opcode != nil && (f.Source != nil || f.Destination != nil || f.NoDestination) {
		p := messagePlan{table: "messages_index", leading: []string{"path", "key"}, column: plans[0].column, clustered: Out, residual: !toNobody}
		if f.Utime.Given {
			p.column = "created_at"
		}
		p.conditions.add("path = 'opcode' AND key = %d", *f.Opcode)
		if toNobody {
			p.conditions.add("%s", nobody)
		}
		l.partConditions(&p, external)
		plans = append(plans, p)
	}
	if f.Utime.Given && !plans[0].packed {
		plans = append(plans, l.byTime(external, true))
	}
	return plans
}

// byTime plans a list in the order of time as a part of that of all messages;
// residual says that conditions do not have all of the filter.
func (l *messageList) byTime(external, residual bool, conditions ...string) messagePlan {
	p := messagePlan{table: "messages_index", leading: []string{"path"}, column: "key", packed: true, clustered: Out, residual: residual}
	p.conditions.add("path = 'utime'")
	p.conditions = append(p.conditions, conditions...)
	l.partConditions(&p, external)
	return p
}

// byAccount plans a list of what an account sent, or of what was sent to one or
// to none.
func (f *MessageFilter) byAccount(p *messagePlan) {
	const nobody = "%s_workchain = -2147483648 AND %[1]s_prefix = 0"
	p.table, p.leading = "messages_by_account", []string{"side", "near_workchain", "near_prefix"}
	if f.Opcode != nil {
		p.conditions.add("opcode = %d", *f.Opcode)
	}
	destination := "near"
	if f.Source != nil {
		destination, p.bySource, p.farHash = "far", true, true
		p.conditions.add("side = 'source' AND %s", account("near_workchain", "near_prefix", *f.Source))
	} else {
		p.conditions.add("side = 'destination'")
	}
	switch {
	case f.NoDestination:
		p.conditions.add(nobody, destination)
	case f.Destination != nil:
		p.conditions.add("%s", account(destination+"_workchain", destination+"_prefix", *f.Destination))
	}
	if f.Source == nil && !f.NoDestination {
		p.clustered, p.farHash = In, true
	}
}

func (l *messageList) partConditions(p *messagePlan, external bool) {
	f := l.filter
	switch {
	case external:
		p.conditions.add("created_lt = 0")
	default:
		p.conditions.add("created_lt > 0")
		p.conditions.between("created_lt", f.Lts, ^uint64(0))
		p.utimeConditions(f.Utime)
	}
	if f.Direction != Either {
		p.conditions.add("direction = %d", f.Direction)
	}
	p.conditions.add("mc_seqno <= %d", l.view.Watermark)
}

func (p *messagePlan) utimeConditions(r Range) {
	if !p.packed {
		p.conditions.between("created_at", r, 1<<32-1)
		return
	}
	packed := Range{From: min(r.From, 1<<32-1) << 32, To: min(r.To, 1<<32-1)<<32 | (1<<32 - 1)}
	p.conditions.between("key", packed, ^uint64(0))
	if r.From > 1<<32-1 {
		p.conditions.add("0")
	}
}

// end is a row of a table of messages: a message and a transaction that holds
// it.
type end struct {
	value     uint64 // created_lt or created_at, 0 for external-in
	hash      uint32 // first 32 bits
	place     place
	direction Direction
	// transaction is the hash of the transaction at place, if the plan has it
	// and it is not on the clustered side.
	transaction Hash
}

// start is the place of the cursor, when it lies in the part.
func (l *messageList) start(external bool) *end {
	if l.after == nil || l.after.External != external {
		return nil
	}
	return &end{value: l.after.Value, hash: schema.ShortPrefix(l.after.Hash[:])}
}

// walkOf goes through the rows of a part.
func (s *Store) walkOf(l *messageList, p *messagePlan, external bool) *walk[end] {
	return &walk[end]{
		read: func(ctx context.Context, from *end, limit int) ([]end, error) {
			return s.readEnds(ctx, l, p, from, limit)
		},
		group: p.group,
		compare: func(a, b *end) int {
			c := cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.hash, b.hash))
			if l.page.Descending {
				return -c
			}
			return c
		},
		after: l.start(external),
	}
}

// partOfMessages are up to limit of the external-in messages or of the others.
func (s *Store) partOfMessages(ctx context.Context, l *messageList, external bool, limit int) (list []Message, err error) {
	offset := l.page.Offset
	for _, p := range l.plans(external) {
		l.page.Offset = offset
		if list, err = s.messagesBy(ctx, l, p, external, limit); !errors.Is(err, errTooManyBytes) {
			break
		}
	}
	return list, err
}

// messagesBy reads them by one plan.
func (s *Store) messagesBy(ctx context.Context, l *messageList, p messagePlan, external bool, limit int) ([]Message, error) {
	w := s.walkOf(l, &p, external)
	skip, want := 0, limit+1 // the cursor's own
	if p.residual {
		skip, want = l.page.Offset, max(want, leastResidual)
	} else {
		w.skip = l.page.Offset
	}
	var page []Message
	likely := s.likelyTransactions(ctx, l, &p, limit)
	for read := 0; ; {
		items, err := w.next(ctx, want, 2)
		if err != nil {
			return nil, err
		}
		if read += len(items); p.residual {
			if err := l.page.dropped(read); err != nil {
				return nil, err
			}
		}
		if len(items) > 0 {
			some, err := s.readMessages(ctx, l, &p, items, likely())
			if err != nil {
				return nil, err
			}
			page = l.take(append(page, some...))
		}
		if w.ended() || len(page) >= skip+limit {
			if p.residual {
				l.page.Offset -= min(skip, len(page))
				page = page[min(skip, len(page)):]
			} else {
				l.page.Offset = w.skip
			}
			return page[:min(limit, len(page))], nil
		}
		want = min(2*want, mostCandidates)
	}
}

// likelyTransactions begins to read the transactions that a list of what an
// account sent or received most likely leads to, its newest, beside the rows that
// tell. When others ask, too, only what is needed is read.
func (s *Store) likelyTransactions(ctx context.Context, l *messageList, p *messagePlan, limit int) (wait func() []*record.Transaction) {
	f := l.newestTransactions(p)
	if f == nil || !s.pool.quiet() {
		return func() []*record.Transaction { return nil }
	}
	var list []*record.Transaction
	done := make(chan struct{})
	go func() {
		defer close(done)
		// What fails here is read again with what is missing.
		list, _, _ = s.Transactions(ctx, l.view, f, Page{Limit: limit, Descending: true}, nil)
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
	if !p.farHash || !l.page.Descending || l.page.Offset > 0 || f.Direction == 1-p.clustered || f.Opcode != nil || f.Utime.Given {
		return nil
	}
	newest := &TransactionFilter{Utime: Everything, Lts: Everything}
	switch {
	case f.Source == nil && l.after == nil:
		newest.Accounts = []Address{*f.Destination}
	case f.Source != nil && f.Destination == nil:
		newest.Accounts = []Address{*f.Source}
		if l.after != nil {
			newest.Lts.To = l.after.Value
		}
	default:
		return nil
	}
	return newest
}

// group says that rows lie together in no order of ours.
func (p *messagePlan) group(a, b *end) bool {
	return a.value == b.value && (p.bySource || a.hash == b.hash)
}

// from is the condition that a row is not before the group of another.
func (p *messagePlan) from(e *end, descending bool) string {
	sign := ">"
	if descending {
		sign = "<"
	}
	switch {
	case p.packed:
		return fmt.Sprintf("key %s= %d", sign, e.value<<32|uint64(e.hash))
	case p.bySource:
		return fmt.Sprintf("%s %s= %d", p.column, sign, e.value)
	}
	return notBefore(descending, []string{p.column, "hash_prefix"}, []string{fmt.Sprint(e.value), fmt.Sprint(e.hash)})
}

// order is that of the list's rows.
func (p *messagePlan) order(direction string) string {
	columns := slices.Clip(p.leading)
	switch {
	case p.bySource:
		columns = append(columns, "created_lt")
	case p.packed:
		columns = append(columns, "key")
	default:
		columns = append(columns, p.column, "hash_prefix")
	}
	return strings.Join(columns, " "+direction+", ") + " " + direction
}

// columns are those of an end.
func (p *messagePlan) columns() string {
	columns := "toUInt64(" + p.column + ") AS value, hash_prefix AS tag, "
	if p.packed {
		columns = "bitShiftRight(key, 32) AS value, toUInt32(bitAnd(key, 4294967295)) AS tag, "
	}
	columns += placeColumns + ", direction"
	if p.farHash {
		columns += ", far_hash"
	}
	return columns
}

// readEnds reads up to limit rows of the part.
func (s *Store) readEnds(ctx context.Context, l *messageList, p *messagePlan, from *end, limit int) ([]end, error) {
	c := slices.Clip(p.conditions)
	if from != nil {
		c.add("%s", p.from(from, l.page.Descending))
	}
	statement := fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d", p.columns(), p.table, c, p.order(direction(l.page.Descending)), limit)
	var value, prefix, lt proto.ColUInt64
	var hash proto.ColUInt32
	var workchain proto.ColInt32
	var mcSeqno proto.ColUInt32
	var side proto.ColUInt8
	hashes := proto.ColFixedStr{Size: len(Hash{})}
	var list []end
	result := proto.Results{
		{Name: "value", Data: &value}, {Name: "tag", Data: &hash}, {Name: "workchain", Data: &workchain},
		{Name: "account_prefix", Data: &prefix}, {Name: "lt", Data: &lt}, {Name: "mc_seqno", Data: &mcSeqno}, {Name: "direction", Data: &side},
	}
	if p.farHash {
		result = append(result, proto.ResultColumn{Name: "far_hash", Data: &hashes})
	}
	err := s.run(ctx, "messages", statement, result, func(rows int) error {
		for i := range rows {
			e := end{value: value[i], hash: hash[i], place: place{workchain[i], prefix[i], lt[i], mcSeqno[i]}, direction: Direction(side[i])}
			if p.farHash {
				e.transaction = Hash(hashes.Row(i))
			}
			list = append(list, e)
		}
		return nil
	})
	return list, err
}

// readMessages reads the messages that some rows point to. Of the transaction
// on one side the record is read unless it is there, of the other only the hash.
func (s *Store) readMessages(ctx context.Context, l *messageList, p *messagePlan, items [][]end, there []*record.Transaction) ([]Message, error) {
	full, other := split(items, p.clustered)
	if p.farHash {
		list, err := s.transactionsAt(ctx, missing(full, there))
		if err != nil {
			return nil, err
		}
		return l.join(items, append(list, there...), farHashes(items, p.clustered)), nil
	}
	var list []*record.Transaction
	var hashes map[place]Hash
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		list, err = s.transactionsAt(ctx, full)
		return err
	})
	if len(other) > 0 {
		group.Go(func() (err error) {
			hashes, err = s.hashesAt(ctx, other)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return l.join(items, list, hashes), nil
}

// missing are the places of other transactions.
func missing(list []place, there []*record.Transaction) []place {
	known := make(map[place]bool, len(there))
	for _, tx := range there {
		known[place{schema.Workchain(tx.Account), schema.Prefix(tx.Account[4:]), tx.Lt, tx.McSeqno}] = true
	}
	return slices.DeleteFunc(list, func(p place) bool { return known[p] })
}

// farHashes are the hashes that came with the rows.
func farHashes(items [][]end, clustered Direction) map[place]Hash {
	found := map[place]Hash{}
	for _, ends := range items {
		for _, e := range ends {
			if e.direction != clustered {
				found[e.place] = e.transaction
			}
		}
	}
	return found
}

// split says of which transactions the record is needed and of which the hash:
// each message's record comes from the clustered side if that is indexed. Of
// messages that share 32 bits all records of the side are needed.
func split(items [][]end, clustered Direction) (full, other []place) {
	needed := map[place]bool{}
	for _, ends := range items {
		side := ends[0].direction
		if slices.ContainsFunc(ends, func(e end) bool { return e.direction == clustered }) {
			side = clustered
		}
		for _, e := range ends {
			needed[e.place] = needed[e.place] || e.direction == side
		}
	}
	for p, record := range needed {
		if record {
			full = append(full, p)
		} else {
			other = append(other, p)
		}
	}
	return full, other
}

// hashesAt reads the hashes of transactions.
func (s *Store) hashesAt(ctx context.Context, list []place) (map[place]Hash, error) {
	var mutex sync.Mutex
	found := map[place]Hash{}
	err := inChunks(ctx, list, s.splits(2*len(list)), place.compare, func(ctx context.Context, part []place) error {
		var workchain proto.ColInt32
		var prefix, lt proto.ColUInt64
		var mcSeqno proto.ColUInt32
		hash := proto.ColFixedStr{Size: len(Hash{})}
		result := proto.Results{
			{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}, {Name: "lt", Data: &lt},
			{Name: "mc_seqno", Data: &mcSeqno}, {Name: "hash", Data: &hash},
		}
		return s.run(ctx, "hashes", at(placeColumns+", hash", part), result, func(rows int) error {
			mutex.Lock()
			defer mutex.Unlock()
			for i := range rows {
				found[place{workchain[i], prefix[i], lt[i], mcSeqno[i]}] = Hash(hash.Row(i))
			}
			return nil
		})
	})
	return found, err
}

// join finds the wanted messages in the records and adds the hashes of their
// other ends.
func (l *messageList) join(items [][]end, list []*record.Transaction, hashes map[place]Hash) []Message {
	wanted := map[uint32][]end{}
	for _, ends := range items {
		wanted[ends[0].hash] = append(wanted[ends[0].hash], ends...)
	}
	var found []Message
	for _, m := range l.messagesIn(list) {
		ends := wanted[schema.ShortPrefix(m.Hash)]
		if len(ends) == 0 {
			continue // another message of the same transaction
		}
		for _, e := range ends {
			hash, read := hashes[e.place]
			switch {
			case !read:
			case e.direction == In:
				m.InTransaction = hash[:]
			default:
				m.OutTransaction = hash[:]
			}
		}
		found = append(found, m)
	}
	return found
}
