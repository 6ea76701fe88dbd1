package v2

import (
	"net/http"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
)

var locateParams = []Param{
	{Name: "source", Kind: AddressKind, Required: true, Missing: "empty source address", Description: "sender of the message"},
	{Name: "destination", Kind: AddressKind, Required: true, Missing: "empty destination address", Description: "receiver of the message"},
	{Name: "created_lt", Kind: Int64Kind, Required: true, Min: bound(0), Description: "created_lt of the message"},
}

var errNotLocated = &Error{Status: http.StatusNotFound, Text: "transaction was not found"}

var tryLocateTx = locateResult("tryLocateTx", "Locate a transaction")

var tryLocateResultTx = locateResult("tryLocateResultTx", "Locate a result transaction")

func locateResult(name, summary string) *Method {
	return &Method{
		Name: name, Tag: tagTransactions, Summary: summary,
		Description: "The transaction that a message caused, soon after the message was sent.",
		Params:      locateParams, Cache: time.Second, Parallel: 16,
		Errors: []Error{*errNotLocated},
		Result: openapi.TypeOf[extTransaction](),
		serve: func(c *call) (any, error) {
			source, destination, lt := c.Values.address("source"), c.Values.address("destination"), uint64(c.number("created_lt"))
			return c.locate(destination, lt, later, func(t *transaction) bool {
				return t.in != nil && !t.in.external && t.in.CreatedLT == lt && t.in.from && t.in.source.same(source)
			})
		},
	}
}

var tryLocateSourceTx = &Method{
	Name: "tryLocateSourceTx", Tag: tagTransactions, Summary: "Locate a source transaction",
	Description: "The transaction that sent a message.",
	Params:      locateParams, Cache: time.Second, Parallel: 16,
	Errors: []Error{*errNotLocated},
	Result: openapi.TypeOf[extTransaction](),
	serve: func(c *call) (any, error) {
		source, destination, lt := c.Values.address("source"), c.Values.address("destination"), uint64(c.number("created_lt"))
		return c.locate(source, lt, 1, func(t *transaction) bool {
			for _, m := range t.out {
				if m.CreatedLT == lt && m.to && m.destination.same(destination) {
					return true
				}
			}
			return false
		})
	},
}

// later is how many blocks of the receiver's shard are looked through: messages
// arrive in the block in which they were sent or in one of the next, unless the
// queue is long.
const later = 6

// locate looks for an account's transaction in the blocks of its shard from lt
// on.
func (c *call) locate(account *Address, lt uint64, blocks int, wanted func(*transaction) bool) (any, error) {
	l := lite.Lookup{Workchain: account.Workchain, Shard: shardOf(account), LT: max(lt, 1)}
	for range blocks {
		id, header, err := c.lookup(l)
		if err != nil {
			return nil, notLocated(err)
		}
		found, err := c.inBlock(id, account, wanted)
		if err != nil || found != nil {
			return found, err
		}
		l.LT = header.EndLt + 1
	}
	return nil, errNotLocated
}

// notLocated says that a block is not there yet, or not any more.
func notLocated(err error) error {
	if lite.IsMissing(err) {
		return errNotLocated
	}
	return err
}

// shardOf is the smallest shard that holds an account: one bit beyond 60 of its
// id, which no network splits down to.
func shardOf(a *Address) int64 {
	if a.Workchain == masterWorkchain {
		return masterShard
	}
	var prefix uint64
	for _, b := range a.ID[:8] {
		prefix = prefix<<8 | uint64(b)
	}
	const deepest = 60
	return int64(prefix&^(1<<(64-deepest)-1) | 1<<(63-deepest))
}

// inBlock gives the account's transaction that is wanted, nil when the block has
// none.
func (c *call) inBlock(id *ton.BlockIDExt, account *Address, wanted func(*transaction) bool) (any, error) {
	all, err := c.transactionsIn(id)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		if l.account != account.ID {
			continue
		}
		t, err := parseTransaction(id.Workchain, l.cell)
		if err != nil {
			return nil, err
		}
		if wanted(t) {
			return t.ext(), nil
		}
	}
	return nil, nil
}
