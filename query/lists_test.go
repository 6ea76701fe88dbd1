package query

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// rounds of random requests for each endpoint and server, twelve times as many in
// the long run.
var rounds = 5

func init() {
	if long() {
		rounds *= 12
	}
}

// TestListsEqualTheReference checks random requests against the reference, on a server with what it
// holds in memory and on one without.
func TestListsEqualTheReference(t *testing.T) {
	t.Parallel()
	w := realWorld(t)
	w.setWatermark(t, w.bundles[len(w.bundles)-1-hiddenBundles])
	for name, change := range map[string]func(*Configuration){
		"from ClickHouse": func(c *Configuration) {
			holdNothing(c)
		},
		"with head":        nil,
		"with little head": func(c *Configuration) { c.Store.Head.BlockBytes, c.Store.Head.TransactionBytes = 20_000, 200_000 },
	} {
		t.Run(name, func(t *testing.T) {
			s := w.serve(t, change)
			random := rand.New(rand.NewPCG(1, 2))
			t.Run("transactions", func(t *testing.T) { w.checkTransactions(t, s, random) })
			t.Run("messages", func(t *testing.T) { w.checkMessages(t, s, random) })
			t.Run("a range of time includes its last second, odd or even", func(t *testing.T) { w.checkMessagesUntil(t, s, random) })
			t.Run("blocks", func(t *testing.T) { w.checkBlocks(t, s, random) })
			t.Run("transactionsByMessage", func(t *testing.T) { w.checkTransactionsByMessage(t, s, random) })
			t.Run("adjacentTransactions", func(t *testing.T) { w.checkAdjacent(t, s, random) })
			t.Run("masterchain", func(t *testing.T) { w.checkMasterchain(t, s, name != "from ClickHouse") })
		})
	}
}

// ask asks for a page of a list, with more parameters than those of the request.
func (q *request) ask(s *server, path string, more ...string) answer {
	s.Helper()
	query := url.Values{}
	for name, values := range q.query {
		query[name] = values
	}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return s.get("/api/v3/" + path + "?" + query.Encode())
}

// check compares the whole list, a page by offset and a walk by cursor.
func check(t *testing.T, s *server, path string, q *request, want []string, random *rand.Rand) {
	t.Helper()
	limit := checkPage(t, s, path, q, want, random)
	if len(want) > 2000 {
		limit = 1000
	} else {
		limit = max(limit, len(want)/4+1)
	}
	if q.isRefused(s, path, fmt.Sprintf("limit=%d", limit)) {
		return
	}
	var walked []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		page := q.ask(s, path, "limit", strconv.Itoa(limit), "cursor", cursor)
		walked, cursor = append(walked, page.rows()...), page.Next
		if len(walked) > len(want)+limit {
			break
		}
	}
	if !slices.Equal(walked, want) {
		t.Fatalf("%s %s: a walk by cursor, %d a page, gives\n %d rows %s\nwant %d %s", path, q.query.Encode(), limit, len(walked), firstDifference(walked, want), len(want), "")
	}
}

// checkPage compares a page of some length, from the list's begin or an offset,
// and says how long it was.
func checkPage(t *testing.T, s *server, path string, q *request, want []string, random *rand.Rand) (limit int) {
	t.Helper()
	s.TB = t
	limit = []int{1, 3, 10, 100, 1000}[random.IntN(5)]
	offset := 0
	if random.IntN(2) == 0 {
		offset = random.IntN(len(want)/2 + 2)
	}
	if q.isRefused(s, path, fmt.Sprintf("limit=%d&offset=%d", limit, offset)) {
		return limit
	}
	expect := want[min(offset, len(want)):]
	expect = expect[:min(limit, len(expect))]
	page := q.ask(s, path, "limit", strconv.Itoa(limit), "offset", strconv.Itoa(offset))
	if got := page.rows(); !slices.Equal(got, expect) {
		t.Fatalf("%s %s limit %d offset %d of %d:\n got %d %s\nwant %d %s", path, q.query.Encode(), limit, offset, len(want), len(got), head(got), len(expect), head(expect))
	}
	if more := offset+limit < len(want); more != (page.Next != "") {
		t.Fatalf("%s %s limit %d offset %d of %d: next_cursor %q", path, q.query.Encode(), limit, offset, len(want), page.Next)
	}
	return limit
}

// isRefused reports whether a list is refused because too many records would be read in
// vain: the body of a message of an account is told by its record alone.
func (q *request) isRefused(s *server, path, page string) bool {
	if !q.query.Has("body_hash") || !q.query.Has("source") && !q.query.Has("destination") {
		return false
	}
	text := s.ask("/api/v3/" + path + "?" + page + "&" + q.query.Encode()).Body.String()
	return strings.Contains(text, "too heavy: narrow the filters") || strings.Contains(text, "too deep in this list")
}

func head(list []string) string { return strings.Join(list[:min(4, len(list))], " | ") }

func firstDifference(got, want []string) string {
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("different from row %d on", i)
		}
	}
	return "too few"
}

func pick[T any](random *rand.Rand, list []T) T { return list[random.IntN(len(list))] }

// spread adds a range around two values.
func (q *request) span(random *rand.Rand, from, to string, a, b uint64, of func(row) uint64) {
	if a > b {
		a, b = b, a
	}
	if which := random.IntN(3); which != 0 {
		q.where(from, strconv.FormatUint(a, 10), func(r row) bool { return !r.external && of(r) >= a })
		if which == 1 {
			return
		}
	}
	q.where(to, strconv.FormatUint(b, 10), func(r row) bool { return !r.external && of(r) <= b })
}

func now(r row) uint64 { return r.now }
func lt(r row) uint64  { return r.lt }

// addressForms is an address in one of the forms that are accepted.
func addressForms(random *rand.Rand, a []byte) string {
	switch random.IntN(4) {
	case 0:
		return strings.ToLower(rawAddress(a))
	case 1:
		return string(address.AppendFriendly(nil, a, address.Form{}, base64.URLEncoding))
	case 2:
		return string(address.AppendFriendly(nil, a, address.Form{NonBounceable: true, TestOnly: true}, base64.StdEncoding))
	}
	return rawAddress(a)
}

func hashForms(random *rand.Rand, h []byte) string {
	switch random.IntN(4) {
	case 0:
		return hex.EncodeToString(h)
	case 1:
		return "0x" + strings.ToUpper(hex.EncodeToString(h))
	case 2:
		return strings.NewReplacer("+", "-", "/", "_").Replace(b64(h))
	}
	return b64(h)
}

func (w *world) checkTransactions(t *testing.T, s *server, random *rand.Rand) {
	rows := w.transactionRows()
	for range rounds {
		q := newRequest()
		q.sort(random)
		sample, other := pick(random, rows), pick(random, rows)
		if random.IntN(3) == 0 {
			q.transactionAccounts(random, rows)
		}
		if random.IntN(8) == 0 {
			q.transactionHashes(random, rows)
		}
		block := sample.tx.Block
		if random.IntN(6) == 0 {
			q.where("workchain", strconv.Itoa(int(block.Workchain)), func(r row) bool { return r.tx.Block.Workchain == block.Workchain })
		}
		if random.IntN(8) == 0 {
			q.where("shard", fmt.Sprintf("%x", block.Shard), func(r row) bool { return r.tx.Block.Shard == block.Shard })
		}
		if random.IntN(8) == 0 {
			q.where("seqno", strconv.Itoa(int(block.Seqno)), func(r row) bool { return r.tx.Block.Seqno == block.Seqno })
		}
		if random.IntN(6) == 0 {
			q.where("mc_seqno", strconv.Itoa(int(sample.tx.McSeqno)), func(r row) bool { return r.tx.McSeqno == sample.tx.McSeqno })
		}
		if random.IntN(10) == 0 {
			q.oneLt = true
			q.where("lt", strconv.FormatUint(sample.lt, 10), func(r row) bool { return r.lt == sample.lt })
		}
		if random.IntN(4) == 0 {
			q.byTime = !q.query.Has("mc_seqno")
			q.span(random, "start_utime", "end_utime", sample.now, other.now, now)
		}
		if random.IntN(4) == 0 {
			q.span(random, "start_lt", "end_lt", sample.lt, other.lt, lt)
		}
		check(t, s, "transactions", q, q.transactionsOf(rows), random)
	}
}

func (q *request) transactionAccounts(random *rand.Rand, rows []row) {
	wanted := map[string]bool{}
	for range []int{1, 1, 1, 2, 5, 20}[random.IntN(6)] {
		tx := pick(random, rows).tx
		wanted[rawAddress(tx.Account)] = true
		q.query.Add("account", addressForms(random, tx.Account))
	}
	if random.IntN(3) == 0 { // joined by commas
		q.query["account[]"] = []string{strings.Join(q.query["account"], ",")}
		delete(q.query, "account")
	}
	q.tests = append(q.tests, func(r row) bool { return wanted[r.account] })
}

func (q *request) transactionHashes(random *rand.Rand, rows []row) {
	wanted := map[string]bool{}
	for range 1 + random.IntN(4) {
		tx := pick(random, rows).tx
		wanted[b64(tx.Hash)] = true
		q.query.Add("hash", hashForms(random, tx.Hash))
	}
	q.byHash = true
	q.tests = append(q.tests, func(r row) bool { return wanted[r.hash] })
}

func (w *world) checkMessages(t *testing.T, s *server, random *rand.Rand) {
	rows := w.messageRows("")
	for range rounds {
		q := newRequest()
		q.sort(random)
		m, other := pick(random, rows), pick(random, rows)
		q.messageContent(random, m.message, true)
		if random.IntN(4) == 0 {
			q.direction = []string{"in", "out"}[random.IntN(2)]
			q.query.Set("direction", q.direction)
		}
		if random.IntN(8) == 0 {
			q.where("exclude_externals", "true", func(r row) bool { return !r.external })
		} else if random.IntN(12) == 0 {
			q.where("only_externals", "1", func(r row) bool { return r.external })
		}
		if random.IntN(5) == 0 {
			q.byTime = true
			q.span(random, "start_utime", "end_utime", m.now, other.now, now)
		}
		if random.IntN(5) == 0 {
			q.span(random, "start_lt", "end_lt", m.lt, other.lt, lt)
		}
		check(t, s, "messages", q, q.messagesOf(w), random)
	}
}

// checkMessagesUntil asks for no more than a time, which is read from a key that
// has times and hashes in one.
func (w *world) checkMessagesUntil(t *testing.T, s *server, random *rand.Rand) {
	rows := slices.DeleteFunc(w.messageRows(""), func(r row) bool { return r.external })
	for _, parity := range []uint64{0, 1} {
		for range 3 {
			r := pick(random, rows)
			for r.now%2 != parity {
				r = pick(random, rows)
			}
			q := newRequest()
			q.sort(random)
			q.byTime = true
			q.where("start_utime", strconv.FormatUint(r.now, 10), func(other row) bool { return !other.external && other.now >= r.now })
			q.where("end_utime", strconv.FormatUint(r.now, 10), func(other row) bool { return other.now <= r.now })
			check(t, s, "messages", q, q.messagesOf(w), random)
		}
	}
}

// messageContent adds filters on what is in a message.
func (q *request) messageContent(random *rand.Rand, m *record.Message, null bool) {
	if random.IntN(6) == 0 {
		hash := m.Hash
		if len(m.HashNorm) > 0 && random.IntN(2) == 0 {
			hash = m.HashNorm
		}
		q.where("msg_hash", hashForms(random, hash), func(r row) bool {
			return string(r.message.Hash) == string(hash) || string(r.message.HashNorm) == string(hash)
		})
	}
	if random.IntN(5) == 0 {
		q.where("body_hash", hashForms(random, m.BodyHash), func(r row) bool { return string(r.message.BodyHash) == string(m.BodyHash) })
	}
	q.messageEnd(random, "source", m.Source, null, func(r row) []byte { return r.message.Source })
	q.messageEnd(random, "destination", m.Destination, null, func(r row) []byte { return r.message.Destination })
	if m.Opcode != nil && random.IntN(5) == 0 {
		q.where("opcode", fmt.Sprintf("0x%x", *m.Opcode), func(r row) bool { return r.message.Opcode != nil && *r.message.Opcode == *m.Opcode })
	}
}

func (q *request) messageEnd(random *rand.Rand, name string, address []byte, null bool, of func(row) []byte) {
	if random.IntN(4) != 0 || len(address) == 0 && !null {
		return
	}
	text := "null"
	if len(address) > 0 {
		text = addressForms(random, address)
	}
	q.where(name, text, func(r row) bool { return string(of(r)) == string(address) })
}

func (w *world) checkBlocks(t *testing.T, s *server, random *rand.Rand) {
	rows := w.blockRows()
	for range rounds {
		q := newRequest()
		q.sort(random)
		sample, other := pick(random, rows), pick(random, rows)
		id := sample.block.Id
		if random.IntN(4) == 0 {
			q.where("workchain", strconv.Itoa(int(id.Workchain)), func(r row) bool { return r.block.Id.Workchain == id.Workchain })
		}
		if random.IntN(5) == 0 {
			q.where("shard", strconv.FormatInt(int64(id.Shard), 10), func(r row) bool { return r.block.Id.Shard == id.Shard })
		}
		if random.IntN(6) == 0 {
			q.where("seqno", strconv.Itoa(int(id.Seqno)), func(r row) bool { return r.block.Id.Seqno == id.Seqno })
		}
		if random.IntN(8) == 0 {
			q.where("root_hash", hashForms(random, id.RootHash), func(r row) bool { return string(r.block.Id.RootHash) == string(id.RootHash) })
		}
		if random.IntN(8) == 0 {
			q.where("file_hash", hashForms(random, id.FileHash), func(r row) bool { return string(r.block.Id.FileHash) == string(id.FileHash) })
		}
		if random.IntN(5) == 0 {
			q.where("mc_seqno", strconv.Itoa(int(sample.block.McSeqno)), func(r row) bool { return r.block.McSeqno == sample.block.McSeqno })
		}
		if random.IntN(4) == 0 {
			q.span(random, "start_utime", "end_utime", sample.now, other.now, now)
		}
		// Without sort a range of lt is in the order of lt. A range that begins
		// somewhere uses that a masterchain block's lt is above those of all it
		// commits, which is not so here.
		if random.IntN(4) == 0 && q.sorted {
			q.where("end_lt", strconv.FormatUint(sample.lt, 10), func(r row) bool { return r.lt <= sample.lt })
		}
		check(t, s, "blocks", q, q.blocksOf(rows), random)
	}
}

func (w *world) checkTransactionsByMessage(t *testing.T, s *server, random *rand.Rand) {
	rows, messages := w.transactionRows(), w.messageRows("")
	for range rounds {
		m := pick(random, messages).message
		held := &request{query: url.Values{}}
		held.messageContent(random, m, false)
		if !held.query.Has("msg_hash") && !held.query.Has("body_hash") && !held.query.Has("opcode") {
			continue
		}
		q := newRequest()
		q.sort(random)
		direction := []string{"", "in", "out"}[random.IntN(3)]
		if direction != "" {
			held.query.Set("direction", direction)
		}
		for name, values := range held.query {
			q.query[name] = values
		}
		q.tests = append(q.tests, func(r row) bool {
			holds := func(m *record.Message) bool {
				for _, test := range held.tests {
					if !test(row{message: m}) {
						return false
					}
				}
				return true
			}
			opcode := held.query.Has("opcode")
			if opcode && direction == "out" {
				return false
			}
			return direction != "out" && r.tx.InMsg != nil && holds(r.tx.InMsg) ||
				direction != "in" && !opcode && slices.ContainsFunc(r.tx.OutMsgs, holds)
		})
		check(t, s, "transactionsByMessage", q, q.transactionsOf(rows), random)
	}
}

func (w *world) checkAdjacent(t *testing.T, s *server, random *rand.Rand) {
	rows := w.transactionRows()
	produced := func(parent, child *record.Transaction) bool {
		return child.InMsg != nil && slices.ContainsFunc(parent.OutMsgs, func(m *record.Message) bool { return string(m.Hash) == string(child.InMsg.Hash) })
	}
	found := 0
	for range 2 * rounds {
		tx := pick(random, rows).tx
		for _, direction := range []string{"", "in", "out", "else"} {
			q := &request{query: url.Values{}}
			q.tests = append(q.tests, func(r row) bool {
				return direction != "out" && produced(r.tx, tx) || direction != "in" && produced(tx, r.tx)
			})
			want := q.transactionsOf(rows)
			path := "/api/v3/adjacentTransactions?direction=" + direction + "&hash=" + url.QueryEscape(hashForms(random, tx.Hash))
			w := s.ask(path)
			if len(want) == 0 {
				if w.Code != 404 {
					t.Fatalf("%s: %d", path, w.Code)
				}
				continue
			}
			found++
			if got := s.get(path).rows(); !slices.Equal(got, want) {
				t.Fatalf("%s: got %v, want %v", path, got, want)
			}
		}
	}
	if found == 0 {
		t.Error("no transaction had a neighbour: the test proves nothing")
	}
}

// checkMasterchain asks for what single bundles have: for every one where it may be in memory
// or not, and for some where none is, which are alike.
func (w *world) checkMasterchain(t *testing.T, s *server, every bool) {
	s.TB = t
	blocks, transactions := w.blockRows(), w.transactionRows()
	for n, b := range w.bundles {
		if !every && n%3 > 0 {
			continue
		}
		query := fmt.Sprintf("?seqno=%d&limit=1000", b.Seqno)
		if b.Seqno > w.watermark {
			for _, path := range []string{"masterchainBlockShards", "masterchainBlockShardState", "transactionsByMasterchainBlock"} {
				if got := s.ask("/api/v3/" + path + query).Code; got != 404 {
					t.Errorf("%s of a hidden bundle: %d", path, got)
				}
			}
			continue
		}
		q := newRequest().where("", "", func(r row) bool { return r.block.McSeqno == b.Seqno })
		if got, want := s.get("/api/v3/masterchainBlockShards"+query).rows(), q.blocksOf(blocks); !slices.Equal(got, want) {
			t.Errorf("masterchainBlockShards %d: got %v, want %v", b.Seqno, got, want)
		}
		q = newRequest().where("", "", func(r row) bool { return r.tx.McSeqno == b.Seqno })
		want := q.transactionsOf(transactions)
		if got := s.get("/api/v3/transactionsByMasterchainBlock" + query).rows(); !slices.Equal(got, want[:min(1000, len(want))]) {
			t.Errorf("transactionsByMasterchainBlock %d: got %d, want %d", b.Seqno, len(got), len(want))
		}
		state := s.get("/api/v3/masterchainBlockShardState" + query)
		if len(state.Transactions) != len(want) || len(state.Blocks) == 0 {
			t.Errorf("masterchainBlockShardState %d: %d transactions, %d blocks", b.Seqno, len(state.Transactions), len(state.Blocks))
		}
	}
}
