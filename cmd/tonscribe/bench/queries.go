package bench

import (
	"fmt"
	"net/url"
	"strings"

	"tonscribe/internal/synthetic"
)

// query is a line of the table: a request with keys that change from one to the next.
type query struct {
	name string
	// list is the name of the list in the answer that must not be empty.
	list string
	path func(k *keyring) string
}

// keyring hands out every key once before any comes again: an answer that a
// server keeps from before must not count.
type keyring struct {
	*synthetic.Keys
	used map[string]int
	// repeated says that a kind of keys ran out.
	repeated bool
	// lt and utime are those of the server's newest masterchain block.
	lt    uint64
	utime uint32
}

func (k *keyring) next(kind string, size int) int {
	i := k.used[kind]
	k.used[kind]++
	if i >= size {
		k.repeated = true
	}
	return i % max(1, size)
}

func (k *keyring) pick(kind string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return url.QueryEscape(list[k.next(kind, len(list))])
}

func (k *keyring) popular() string  { return url.QueryEscape(k.Popular) }
func (k *keyring) ordinary() string { return k.pick("ordinary", k.Ordinary) }
func (k *keyring) tx() string       { return k.pick("tx", k.Tx) }
func (k *keyring) message() string  { return k.pick("msg", k.Msg) }
func (k *keyring) mc() int32        { return k.Mc[k.next("mc", len(k.Mc))] }

// step is a small number that is another one each time.
func (k *keyring) step(kind string) int { return k.next(kind+" step", 1<<30) }

// deep is how far the deep pages of the popular account begin.
func (k *keyring) deep() int { return max(0, min(100_000, k.PopularTx-1500)) }

// queries are all lines. Those up to `blocks latest 20` have the names of the
// side-by-side benchmark of the v3 index.
func queries(k *synthetic.Keys) []query {
	deep := (&keyring{Keys: k}).deep()
	return append([]query{
		{"tx acct popular l10 o0", "transactions", func(k *keyring) string { return "/transactions?limit=10&account=" + k.popular() }},
		{"tx acct popular l1000 o0", "transactions", func(k *keyring) string { return "/transactions?limit=1000&account=" + k.popular() }},
		{fmt.Sprintf("tx acct popular l10 o%d", deep), "transactions", func(k *keyring) string {
			return fmt.Sprintf("/transactions?limit=10&offset=%d&account=%s", deep+k.step("l10"), k.popular())
		}},
		{fmt.Sprintf("tx acct popular l1000 o%d", deep), "transactions", func(k *keyring) string {
			return fmt.Sprintf("/transactions?limit=1000&offset=%d&account=%s", deep+k.step("l1000")%500, k.popular())
		}},
		{"tx acct ordinary l10 o0", "transactions", func(k *keyring) string { return "/transactions?limit=10&account=" + k.ordinary() }},
		{"tx acct ordinary l1000 o0", "transactions", func(k *keyring) string { return "/transactions?limit=1000&account=" + k.ordinary() }},
		{"tx hash", "transactions", func(k *keyring) string { return "/transactions?hash=" + k.tx() }},
		{"tx by msg_hash", "transactions", func(k *keyring) string { return "/transactionsByMessage?msg_hash=" + k.message() }},
		{"tx mc_seqno", "transactions", func(k *keyring) string { return fmt.Sprintf("/transactions?mc_seqno=%d", k.mc()) }},
		{"tx latest 20", "transactions", func(*keyring) string { return "/transactions?limit=20" }},
		{"messages source popular l20", "messages", func(k *keyring) string { return "/messages?limit=20&source=" + k.popular() }},
		{"messages source ordinary l20", "", func(k *keyring) string { return "/messages?limit=20&source=" + k.ordinary() }},
		{"adjacentTransactions", "transactions", func(k *keyring) string { return "/adjacentTransactions?hash=" + k.pick("adjacent", k.AdjTx) }},
		{"blocks mc_seqno", "blocks", func(k *keyring) string { return fmt.Sprintf("/blocks?mc_seqno=%d", k.mc()) }},
		{"blocks latest 20", "blocks", func(*keyring) string { return "/blocks?limit=20&sort=desc" }},
	}, moreQueries()...)
}

// moreQueries are the endpoints and filters that the side-by-side list lacks.
func moreQueries() []query {
	return []query{
		{"masterchainInfo", "", func(*keyring) string { return "/masterchainInfo" }},
		{"masterchainBlockShards", "blocks", func(k *keyring) string { return fmt.Sprintf("/masterchainBlockShards?seqno=%d", k.mc()) }},
		{"masterchainBlockShardState", "blocks", func(k *keyring) string { return fmt.Sprintf("/masterchainBlockShardState?seqno=%d", k.mc()) }},
		{"transactionsByMasterchainBlock", "transactions", func(k *keyring) string {
			return fmt.Sprintf("/transactionsByMasterchainBlock?seqno=%d", k.mc())
		}},
		{"blocks by id", "blocks", func(k *keyring) string {
			return fmt.Sprintf("/blocks?workchain=-1&shard=8000000000000000&seqno=%d", k.mc())
		}},
		{"blocks utime", "blocks", func(k *keyring) string {
			at := int(k.utime) - k.step("utime")*7
			return fmt.Sprintf("/blocks?limit=20&sort=desc&start_utime=%d&end_utime=%d", at-60, at)
		}},
		{"tx utime", "transactions", func(k *keyring) string {
			at := int(k.utime) - k.step("utime")*7
			return fmt.Sprintf("/transactions?limit=20&start_utime=%d&end_utime=%d", at-60, at)
		}},
		{"tx lt range", "transactions", func(k *keyring) string {
			at := k.lt - uint64(k.step("lt"))*3_000_000
			return fmt.Sprintf("/transactions?limit=20&start_lt=%d&end_lt=%d", at-20_000_000, at)
		}},
		{"tx acct ordinary utime", "", func(k *keyring) string {
			return fmt.Sprintf("/transactions?limit=10&end_utime=%d&account=%s", k.utime, k.ordinary())
		}},
		{"tx two accounts", "transactions", func(k *keyring) string {
			return "/transactions?limit=20&account=" + k.ordinary() + "&account=" + k.ordinary()
		}},
		{"messages msg_hash", "messages", func(k *keyring) string { return "/messages?msg_hash=" + k.message() }},
		{"messages destination popular l20", "messages", func(k *keyring) string { return "/messages?limit=20&destination=" + k.popular() }},
		{"messages destination ordinary l20", "messages", func(k *keyring) string { return "/messages?limit=20&destination=" + k.ordinary() }},
		{"messages latest 20", "messages", func(*keyring) string { return "/messages?limit=20&start_lt=1" }},
	}
}

// emptyList is how an answer without what was asked for looks.
func (q query) emptyList() string {
	if q.list == "" {
		return ""
	}
	return strings.Join([]string{`"`, q.list, `":[]`}, "")
}
