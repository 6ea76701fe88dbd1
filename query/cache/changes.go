package cache

import (
	"context"
	"fmt"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"

	"tonscribe/query/head"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/ton/address"
)

const (
	// maxChanged is how many changes of a table are taken away one by one.
	maxChanged = 200_000
	// rereadAfter is after how many bundles the changes of twice as many are read
	// again: a replica that was behind may not have had them.
	rereadAfter = 64
)

// Advance takes away what bundles up to a view have changed, before anybody sees it. When
// that fails, whoever looks something up tries again first.
func (c *Cache) Advance(ctx context.Context, v *head.View) error {
	defer c.newest.Store(v)
	return c.advance(ctx, v)
}

// current returns the bundle up to which all that is held is right, which is that of
// the newest view or a newer one.
func (c *Cache) current(ctx context.Context) (uint32, error) {
	var err error
	if v := c.newest.Load(); v != nil {
		err = c.advance(ctx, v)
	}
	return c.upTo.Load(), err
}

func (c *Cache) advance(ctx context.Context, v *head.View) error {
	if c.upTo.Load() >= v.Tables {
		return nil
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	upTo := c.upTo.Load()
	if upTo >= v.Tables {
		return nil
	}
	after, again := upTo, v.Tables-c.reread >= rereadAfter
	if again {
		after -= min(after, 2*rereadAfter)
	}
	linksAfter := after
	if v.First.Id.Seqno < c.first { // an older range was indexed
		linksAfter = 0
	}
	var states map[address.Address]accountCode
	var contracts, links []sql.AccountKey
	group, ctx := errgroup.WithContext(ctx)
	if upTo > 0 && c.held != nil {
		group.Go(func() (err error) {
			states, err = c.accountCodes(ctx, fmt.Sprintf("mc_seqno > %d LIMIT %d", after, maxChanged))
			return err
		})
		group.Go(func() (err error) {
			contracts, err = accountKeys(ctx, c.reader, fmt.Sprintf("SELECT workchain, account_prefix FROM contracts WHERE mc_seqno > %d LIMIT %d", after, maxChanged))
			return err
		})
	}
	group.Go(func() (err error) {
		links, err = accountKeys(ctx, c.reader, fmt.Sprintf("SELECT key_workchain AS workchain, key_prefix AS account_prefix FROM contract_links WHERE role = '%s' AND mc_seqno > %d", schema.LinkWallet, linksAfter))
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	c.dropping.Lock()
	defer c.dropping.Unlock()
	c.drop(states, contracts, links)
	if c.first = v.First.Id.Seqno; again {
		c.reread = v.Tables
	}
	c.upTo.Store(v.Tables)
	return nil
}

// drop takes away what changes make wrong, and replaces codes.
func (c *Cache) drop(changed map[address.Address]accountCode, facts, links []sql.AccountKey) {
	for _, a := range links {
		c.named[a] = struct{}{}
	}
	switch {
	case c.held == nil:
		return
	case len(changed) >= maxChanged || len(facts) >= maxChanged:
		c.held.InvalidateAll()
		return
	}
	for a, code := range changed {
		c.held.Invalidate(accountKey(states, sql.KeyOf(a[:])))
		at := accountKey(accounts, sql.KeyOf(a[:]))
		if old, _ := c.held.GetIfPresent(at); !code.known() {
			c.held.Invalidate(at)
		} else if old != nil {
			rows, _ := old.(accountCodes) // none where there was no account
			c.held.Set(at, rows.with(code))
		}
		for _, of := range []kind{codes, bocs} { // it may have come with the account
			one, _ := c.held.GetIfPresent(hashKey(of, code.hash))
			if _, missing := one.(absent); missing {
				c.held.Invalidate(hashKey(of, code.hash))
			}
		}
	}
	for _, a := range facts {
		c.held.Invalidate(accountKey(contracts, a))
	}
	for _, a := range links {
		c.held.Invalidate(accountKey(names, a))
	}
}

// accountKeys runs a statement that selects keys of accounts.
func accountKeys(ctx context.Context, r *reader.Reader, statement string) (keys []sql.AccountKey, err error) {
	var workchain proto.ColInt32
	var prefix proto.ColUInt64
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}}
	err = r.Run(ctx, "contract keys", statement, result, func(rows int) error {
		for i := range rows {
			keys = append(keys, sql.AccountKey{Workchain: workchain[i], Prefix: prefix[i]})
		}
		return nil
	})
	return keys, err
}
