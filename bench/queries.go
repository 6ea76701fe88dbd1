package bench

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tonscribe/bench/synthetic"
)

// query is a line of the table: a request with keys that change from one to the next.
type query struct {
	name string
	// list is the name of the list in the answer: a member, or [ and { for an
	// answer that is a list or an object as a whole. rows is how many rows it must
	// have at least; fewer are a failure.
	list string
	rows int
	path func(k *keyring) string
}

// keyring hands out every key once before any comes again: an answer that a
// server keeps from before must not count.
type keyring struct {
	*synthetic.Keys
	used  map[string]int
	kinds map[string][]string
	// repeated reports whether a kind of keys ran out.
	repeated bool
	// lt and utime are those of the server's newest masterchain block.
	lt    uint64
	utime uint32
	// first and cursor are the first and the newest cursor of lines that follow
	// cursors, by path.
	first, cursor map[string]string
}

func newKeyring(k *synthetic.Keys) *keyring {
	return &keyring{Keys: k, used: map[string]int{}, first: map[string]string{}, cursor: map[string]string{}, kinds: map[string][]string{
		"popular": {k.Popular}, "jetton": {k.Jetton}, "ordinary": k.Ordinary, "tx": k.Tx, "msg": k.Msg, "adjacent": k.AdjTx,
		"small": k.JettonSmall, "owner": k.Owner, "wallet": k.JettonWallet, "burner": k.Burner,
		"collection": k.Collection, "item": k.Item, "item owner": k.ItemOwner, "sale": k.Sale, "domain": k.Domain, "domain owner": k.DomainOwner,
		"multisig": k.Multisig, "signer": k.Signer, "order": k.MultisigOrder, "vesting": k.Vesting, "vesting owner": k.VestingOwner,
	}}
}

var inBraces = regexp.MustCompile(`{[a-z ]+}`)

// asks is a path in which {kind} stands for the next key of a kind.
func asks(path string) func(*keyring) string {
	return func(k *keyring) string {
		return inBraces.ReplaceAllStringFunc(path, func(name string) string { return k.key(strings.Trim(name, "{}")) })
	}
}

// asksFrom is a path that ends with a number, of some from a first one on, which is
// another one each time.
func asksFrom(path, kind string, first, numbers int) func(*keyring) string {
	return func(k *keyring) string { return asks(path)(k) + strconv.Itoa(first+k.step(kind)%numbers) }
}

func (k *keyring) key(kind string) string {
	list := k.kinds[kind]
	switch {
	case kind == "mc":
		return fmt.Sprint(k.Mc[k.next(kind, len(k.Mc))])
	case kind == "utime":
		return fmt.Sprint(k.utime)
	case len(list) == 0:
		return ""
	case kind == "popular" || kind == "jetton": // there is only one
		return url.QueryEscape(list[0])
	}
	return url.QueryEscape(list[k.next(kind, len(list))])
}

// follow is a list page by page: the first page begins at an offset, each other
// one at the cursor of the newest answer.
func (k *keyring) follow(list string, offset int) string {
	if c := k.cursor[list]; c != "" {
		return list + "&cursor=" + url.QueryEscape(c)
	}
	return fmt.Sprintf("%s&offset=%d", list, offset)
}

// advance takes the cursor of an answer. At the end of a list it begins anew.
func (k *keyring) advance(path, cursor string) {
	list, _, _ := strings.Cut(path, "&cursor=")
	list, _, _ = strings.Cut(list, "&offset=")
	switch {
	case k.first[list] == "":
		k.first[list] = cursor
	case cursor == "":
		cursor, k.repeated = k.first[list], true
	}
	k.cursor[list] = cursor
}

func (k *keyring) next(kind string, size int) int {
	i := k.used[kind]
	k.used[kind]++
	if i >= size {
		k.repeated = true
	}
	return i % max(1, size)
}

const maxStep = 1 << 30

// step is a small number that is another one each time.
func (k *keyring) step(kind string) int { return k.next(kind+" step", maxStep) }

// deep is how far the deep pages of the popular account begin.
func (k *keyring) deep() int { return max(0, min(100_000, k.PopularTx-1500)) }

// queries are all lines, as far as there are keys for them. Those that reference
// knows have the names of the side-by-side benchmark of the v3 index.
func queries(k *synthetic.Keys) []query {
	list := slices.Concat(chainQueries(k), moreQueries(), traceQueries(k))
	if k.Jetton != "" && len(k.Item) > 0 {
		list = slices.Concat(list, accountQueries(k), jettonQueries(k), nftQueries(k), contractQueries(k), statsQueries())
	}
	return list
}

// steps is from how many offsets, up to the deepest one, pages are asked for.
const steps = 500

func chainQueries(k *synthetic.Keys) []query {
	deep := newKeyring(k).deep()
	return []query{
		{"tx acct popular l10 o0", "transactions", 10, asks("/transactions?limit=10&account={popular}")},
		{"tx acct popular l1000 o0", "transactions", min(1000, k.PopularTx), asks("/transactions?limit=1000&account={popular}")},
		{fmt.Sprintf("tx acct popular l10 o%d", deep), "transactions", 10, asksFrom("/transactions?limit=10&account={popular}&offset=", "l10", max(0, deep-steps), steps)},
		{fmt.Sprintf("tx acct popular l1000 o%d", deep), "transactions", min(1000, k.PopularTx-deep-steps), asksFrom("/transactions?limit=1000&account={popular}&offset=", "l1000", max(0, deep-steps), steps)},
		{"tx acct ordinary l10 o0", "transactions", 10, asks("/transactions?limit=10&account={ordinary}")},
		{"tx acct ordinary l1000 o0", "transactions", 10, asks("/transactions?limit=1000&account={ordinary}")},
		{"tx hash", "transactions", 1, asks("/transactions?hash={tx}")},
		{"tx by msg_hash", "transactions", 1, asks("/transactionsByMessage?msg_hash={msg}")},
		{"tx mc_seqno", "transactions", 10, asks("/transactions?mc_seqno={mc}")},
		{"tx latest 20", "transactions", 20, asks("/transactions?limit=20")},
		{"messages source popular l20", "messages", 20, asks("/messages?limit=20&source={popular}")},
		{"messages source ordinary l20", "", 0, asks("/messages?limit=20&source={ordinary}")},
		{"adjacentTransactions", "transactions", 1, asks("/adjacentTransactions?hash={adjacent}")},
		{"blocks mc_seqno", "blocks", 3, asks("/blocks?mc_seqno={mc}")},
		{"blocks latest 20", "blocks", 20, asks("/blocks?limit=20&sort=desc")},
	}
}

// moreQueries are the endpoints and filters that the side-by-side list lacks.
func moreQueries() []query {
	return []query{
		{"masterchainInfo", "", 0, asks("/masterchainInfo")},
		{"masterchainBlockShards", "blocks", 3, asks("/masterchainBlockShards?seqno={mc}")},
		{"masterchainBlockShardState", "blocks", 3, asks("/masterchainBlockShardState?seqno={mc}")},
		{"transactionsByMasterchainBlock", "transactions", 10, asks("/transactionsByMasterchainBlock?seqno={mc}")},
		{"blocks by id", "blocks", 1, asks("/blocks?workchain=-1&shard=8000000000000000&seqno={mc}")},
		{"blocks utime", "blocks", 20, func(k *keyring) string {
			at := int(k.utime) - k.step("utime")*7
			return fmt.Sprintf("/blocks?limit=20&sort=desc&start_utime=%d&end_utime=%d", at-60, at)
		}},
		{"tx utime", "transactions", 20, func(k *keyring) string {
			at := int(k.utime) - k.step("utime")*7
			return fmt.Sprintf("/transactions?limit=20&start_utime=%d&end_utime=%d", at-60, at)
		}},
		{"tx lt range", "transactions", 20, func(k *keyring) string {
			at := k.lt - uint64(k.step("lt"))*3_000_000
			return fmt.Sprintf("/transactions?limit=20&start_lt=%d&end_lt=%d", at-20_000_000, at)
		}},
		{"tx acct ordinary utime", "", 0, asks("/transactions?limit=10&end_utime={utime}&account={ordinary}")},
		{"tx two accounts", "transactions", 20, asks("/transactions?limit=20&account={ordinary}&account={ordinary}")},
		{"messages msg_hash", "messages", 1, asks("/messages?msg_hash={msg}")},
		{"messages destination popular l20", "messages", 20, asks("/messages?limit=20&destination={popular}")},
		{"messages destination ordinary l20", "messages", 10, asks("/messages?limit=20&destination={ordinary}")},
		{"messages latest 20", "messages", 20, asks("/messages?limit=20&start_lt=1")},
	}
}

// traceQueries are those about traces and actions.
func traceQueries(k *synthetic.Keys) []query {
	deep := newKeyring(k).deep() / 5
	return []query{
		{"traces tx_hash", "traces", 1, asks("/traces?tx_hash={tx}")},
		{"traces account popular l10", "traces", 10, asks("/traces?limit=10&account={popular}")},
		{"traces account ordinary l10", "traces", 1, asks("/traces?limit=10&account={ordinary}")},
		{"actions account popular l20", "actions", 20, asks("/actions?limit=20&account={popular}")},
		{"actions account ordinary l20", "actions", 1, asks("/actions?limit=20&account={ordinary}")},
		{"traces msg_hash", "traces", 1, asks("/traces?msg_hash={msg}")},
		{"traces latest 20", "traces", 20, asks("/traces?limit=20")},
		{"traces utime", "traces", 20, func(k *keyring) string {
			at := int(k.utime) - k.step("traces utime")*7
			return fmt.Sprintf("/traces?limit=20&start_utime=%d&end_utime=%d", at-60, at)
		}},
		{fmt.Sprintf("traces account popular l10 o%d", deep), "traces", 10, asksFrom("/traces?limit=10&account={popular}&offset=", "traces l10", max(0, deep-steps), steps)},
		{"events account popular l10", "events", 10, asks("/events?limit=10&account={popular}")},
		{"actions tx_hash", "", 0, asks("/actions?tx_hash={tx}")},
		{"actions latest 20", "actions", 20, asks("/actions?limit=20")},
		{"actions type l20", "actions", 20, asks("/actions?limit=20&action_type=ton_transfer")},
		{"actions account popular type l20", "actions", 20, asks("/actions?limit=20&action_type=ton_transfer&account={popular}")},
		{"actions utime", "actions", 20, func(k *keyring) string {
			at := int(k.utime) - k.step("actions utime")*7
			return fmt.Sprintf("/actions?limit=20&start_utime=%d&end_utime=%d", at-60, at)
		}},
	}
}

// rowsIn counts the rows of an answer's list: the members of an object's list or
// object of that name, or of the whole answer for [ and {. It is -1 without one.
func rowsIn(body []byte, list string) int {
	at, whole := 0, list == "[" || list == "{"
	if !whole {
		i := bytes.Index(body, []byte(`"`+list+`":`))
		if i < 0 {
			return -1
		}
		at = i + len(list) + 3
	}
	if at >= len(body) || body[at] != '[' && body[at] != '{' || whole && body[at] != list[0] {
		return -1
	}
	rows, depth, something := 0, 0, false
	for ; at < len(body); at++ {
		switch body[at] {
		case '"':
			something = true
			for at++; at < len(body) && body[at] != '"'; at++ {
				if body[at] == '\\' {
					at++
				}
			}
		case '[', '{':
			something = something || depth > 0
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				if something {
					rows++
				}
				return rows
			}
		case ',':
			if depth == 1 {
				rows++
			}
		case ' ', '\n', '\t', '\r':
		default:
			something = true
		}
	}
	return -1
}
