package query

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sort"
	"strings"

	"tonscribe/schema/record"
)

// A list that is made the slow way: all rows are looked at, sorted by texts and
// numbers in a slice, and cut. It shares nothing with the code under test.

func b64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func rawAddress(a []byte) string {
	if len(a) != 36 {
		return ""
	}
	workchain := int32(uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3]))
	return fmt.Sprintf("%d:%s", workchain, strings.ToUpper(hex.EncodeToString(a[4:])))
}

// request is parameters together with what they mean.
type request struct {
	query      url.Values
	tests      []func(row) bool
	descending bool
	sorted     bool
	byTime     bool
	oneLt      bool
	byHash     bool
	direction  string
}

func newRequest() *request { return &request{query: url.Values{}, descending: true} }

// row is a transaction, a message or a block.
type row struct {
	tx            *record.Transaction
	message       *record.Message
	inTx, outTx   string
	block         *record.Block
	account, hash string
	now, lt       uint64
	external      bool
}

func (r row) String() string {
	switch {
	case r.tx != nil:
		return r.hash
	case r.message != nil:
		return r.hash + " in " + r.inTx + " out " + r.outTx
	}
	return fmt.Sprintf("(%d,%X,%d) %s", r.block.Id.Workchain, r.block.Id.Shard, r.block.Id.Seqno, b64(r.block.Id.RootHash))
}

func (q *request) where(name, value string, test func(row) bool) *request {
	q.query.Add(name, value)
	if test != nil {
		q.tests = append(q.tests, test)
	}
	return q
}

func (q *request) sort(r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		q.query.Set("sort", "asc")
		q.descending, q.sorted = false, true
	case 1:
		q.query.Set("sort", "DESC")
		q.sorted = true
	}
}

func (q *request) select_(rows []row, less func(a, b row) bool) []string {
	var kept []row
next:
	for _, r := range rows {
		for _, test := range q.tests {
			if !test(r) {
				continue next
			}
		}
		kept = append(kept, r)
	}
	sort.SliceStable(kept, func(i, j int) bool { return less(kept[i], kept[j]) })
	names := make([]string, len(kept))
	for i, r := range kept {
		names[i] = r.String()
	}
	return names
}

// transactionRows are the visible transactions.
func (w *world) transactionRows() (rows []row) {
	for _, b := range w.bundles {
		if b.Seqno > w.watermark {
			continue
		}
		for _, tx := range b.Transactions {
			rows = append(rows, row{tx: tx, account: rawAddress(tx.Account), hash: string(tx.Hash), now: uint64(tx.Now), lt: tx.Lt})
		}
	}
	for i := range rows {
		rows[i].hash = b64([]byte(rows[i].hash))
	}
	return rows
}

// transactionsOf is the list of a request, in the order of contract 2.3.
func (q *request) transactionsOf(rows []row) []string {
	dir := func(less bool) bool { return less == !q.descending }
	return q.select_(rows, func(a, b row) bool {
		if q.oneLt {
			return dir(a.account < b.account) && a.account != b.account
		}
		if q.byHash {
			x, _ := base64.StdEncoding.DecodeString(a.hash)
			y, _ := base64.StdEncoding.DecodeString(b.hash)
			return dir(string(x) < string(y)) && a.hash != b.hash
		}
		if q.byTime && a.now != b.now {
			return dir(a.now < b.now)
		}
		if a.lt != b.lt {
			return dir(a.lt < b.lt)
		}
		return a.account < b.account
	})
}

// messageRows are the visible messages, each once, seen from a side.
func (w *world) messageRows(direction string) []row {
	found := map[string]*row{}
	var order []string
	see := func(m *record.Message) *row {
		r := found[string(m.Hash)]
		if r == nil {
			r = &row{message: m, hash: b64(m.Hash), external: m.Kind == record.Message_EXTERNAL_IN}
			if !r.external {
				r.now, r.lt = uint64(m.CreatedAt), m.CreatedLt
			}
			found[string(m.Hash)] = r
			order = append(order, string(m.Hash))
		}
		return r
	}
	for _, b := range w.bundles {
		if b.Seqno > w.watermark {
			continue
		}
		for _, tx := range b.Transactions {
			if tx.InMsg != nil && direction != "out" {
				see(tx.InMsg).inTx = b64(tx.Hash)
			}
			if direction != "in" {
				for _, m := range tx.OutMsgs {
					see(m).outTx = b64(tx.Hash)
				}
			}
		}
	}
	rows := make([]row, len(order))
	for i, hash := range order {
		rows[i] = *found[hash]
	}
	return rows
}

func (q *request) messagesOf(w *world) []string {
	dir := func(less bool) bool { return less == !q.descending }
	return q.select_(w.messageRows(q.direction), func(a, b row) bool {
		if a.external != b.external {
			return a.external == q.descending
		}
		x, y := a.lt, b.lt
		if q.byTime {
			x, y = a.now, b.now
		}
		if x != y {
			return dir(x < y)
		}
		i, _ := base64.StdEncoding.DecodeString(a.hash)
		j, _ := base64.StdEncoding.DecodeString(b.hash)
		return dir(string(i) < string(j)) && a.hash != b.hash
	})
}

func (w *world) blockRows() (rows []row) {
	for _, b := range w.bundles {
		if b.Seqno > w.watermark {
			continue
		}
		for _, block := range b.Blocks {
			rows = append(rows, row{block: block, now: uint64(block.GenUtime), lt: block.StartLt})
		}
	}
	return rows
}

func (q *request) blocksOf(rows []row) []string {
	return q.select_(rows, func(a, b row) bool {
		if q.descending {
			a, b = b, a
		}
		x, y := a.block.Id, b.block.Id
		switch {
		case a.now != b.now:
			return a.now < b.now
		case x.Workchain != y.Workchain:
			return x.Workchain < y.Workchain
		case x.Shard != y.Shard:
			return x.Shard < y.Shard
		}
		return x.Seqno < y.Seqno
	})
}
