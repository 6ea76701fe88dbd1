package verify

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// story is a short chain. What is changed in it goes into all tables alike, so
// that only the chain's own rules can tell.
type story []*synthetic.Bundle

func newStory() story {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 400, Seed: 3})
	var s story
	for b := rows.Next(); b != nil; b = rows.Next() {
		s = append(s, b)
	}
	return s
}

// transaction gives the first transaction, from the middle of the story on, that
// fits.
func (s story) transaction(fits func(*record.Transaction) bool) (*synthetic.Bundle, *record.Transaction) {
	for _, b := range s[len(s)/2:] {
		for _, t := range b.Transactions {
			if fits(t) {
				return b, t
			}
		}
	}
	panic("the story has no such transaction")
}

func (s story) one(fits func(*record.Transaction) bool) *record.Transaction {
	_, t := s.transaction(fits)
	return t
}

func (s story) blockOf(b *synthetic.Bundle, t *record.Transaction) *record.Block {
	return b.Blocks[slices.IndexFunc(b.Blocks, func(x *record.Block) bool { return x.Id.Shard == t.Block.Shard && x.Id.Workchain == t.Block.Workchain })]
}

func withPrevious(t *record.Transaction) bool { return t.PrevTransLt != 0 }
func consumes(t *record.Transaction) bool {
	return t.InMsg != nil && t.InMsg.Kind == record.Message_INTERNAL
}
func producesTwo(t *record.Transaction) bool { return len(t.OutMsgs) > 1 }

func flip(b []byte) []byte {
	b = bytes.Clone(b)
	b[len(b)-1] ^= 1
	return b
}

func TestLiesThatAllTablesTellAreFound(t *testing.T) {
	all := emptyTables(t)
	for n := range statsTables {
		all.exec("SYSTEM STOP VIEW " + statsTables[n].view) // they would add what was told before
	}
	for _, c := range []struct {
		name  string
		check string
		says  string
		lie   func(s story)
	}{
		{"nothing", "", "", func(story) {}},
		{"another previous hash", CheckAccounts, "prev_trans_hash", func(s story) {
			t := s.one(withPrevious)
			t.PrevTransHash = flip(t.PrevTransHash)
		}},
		{"an earlier previous transaction", CheckAccounts, "prev_trans_lt", func(s story) { s.one(withPrevious).PrevTransLt = 0 }},
		{"a transaction left out everywhere", CheckAccounts, "no row", func(s story) {
			before := map[string]bool{}
			for _, b := range s {
				for _, t := range b.Transactions {
					before[string(t.PrevTransHash)] = true
				}
			}
			b, t := s.transaction(func(t *record.Transaction) bool { return before[string(t.Hash)] && withPrevious(t) })
			s.blockOf(b, t).TxCount--
			b.Transactions = slices.DeleteFunc(b.Transactions, func(x *record.Transaction) bool { return x == t })
		}},
		{"another state before", CheckStates, "state_hash_before", func(s story) {
			t := s.one(withPrevious)
			t.StateHashBefore = flip(t.StateHashBefore)
		}},
		{"another value at one end", CheckProducers, "value is", func(s story) {
			t := s.one(consumes)
			t.InMsg = t.InMsg.CloneVT()
			t.InMsg.Value++
		}},
		{"a message from nowhere", CheckProducers, "produced by no transaction", func(s story) {
			t := s.one(consumes)
			t.InMsg = t.InMsg.CloneVT()
			t.InMsg.Hash = flip(t.InMsg.Hash)
			t.InMsg.Hash[0] ^= 1
		}},
		{"a message consumed twice", CheckMessages, "consumed by 2", func(s story) {
			t := s.one(consumes)
			s.one(func(other *record.Transaction) bool { return consumes(other) && other != t && other.Lt > t.Lt }).InMsg = t.InMsg
		}},
		{"a message produced twice", CheckMessages, "produced by 2", func(s story) {
			other := s.one(func(t *record.Transaction) bool { return len(t.OutMsgs) == 0 })
			t := s.one(func(t *record.Transaction) bool {
				return len(t.OutMsgs) == 1 && t.OutMsgs[0].Kind == record.Message_INTERNAL && t.Lt > other.Lt
			})
			other.OutMsgs = t.OutMsgs
		}},
		{"messages out of order", CheckMessages, "out_msgs[1]", func(s story) {
			m := s.one(producesTwo).OutMsgs
			m[0], m[1] = m[1], m[0]
		}},
		{"a message from the future", CheckMessages, "in_msg was created", func(s story) {
			t := s.one(consumes)
			t.InMsg = t.InMsg.CloneVT()
			t.InMsg.CreatedLt = t.Lt
		}},
		{"another parent", CheckBlocks, "its parent is", func(s story) {
			b := s[len(s)/2].Blocks[0]
			b.PrevBlocks[0].RootHash = flip(b.PrevBlocks[0].RootHash)
		}},
		{"a block left out everywhere", CheckBlocks, "its newest block of shard", func(s story) {
			b := s[len(s)/2]
			left := b.Blocks[0].Id.Shard
			b.Blocks = b.Blocks[1:]
			b.Transactions = slices.DeleteFunc(b.Transactions, func(t *record.Transaction) bool { return t.Block.Shard == left })
		}},
		{"a block before its parent's end", CheckBlocks, "start_lt is", func(s story) { s[len(s)/2].Blocks[0].StartLt -= 1_000_000 }},
		{"a block too short for its transactions", CheckBlocks, "lts from", func(s story) {
			b := s[len(s)/2].Blocks[0]
			b.EndLt = b.StartLt + 1
		}},
		{"another number of transactions", CheckBlocks, "tx_count", func(s story) { s[len(s)/2].Blocks[1].TxCount++ }},
		{"two masterchain blocks", CheckBlocks, "masterchain block must", func(s story) {
			b := s[len(s)/2]
			second := b.Blocks[len(b.Blocks)-1].CloneVT()
			second.Id.Seqno++
			b.Blocks = append(b.Blocks, second)
		}},
		{"no masterchain block", CheckBlocks, "0 masterchain blocks", func(s story) {
			b := s[len(s)/2]
			b.Blocks = b.Blocks[:len(b.Blocks)-1]
		}},
		{"a transaction in another shard's block", CheckBlocks, "does not hold the account", func(s story) {
			b, t := s.transaction(func(t *record.Transaction) bool { return true })
			s.blockOf(b, t).TxCount--
			t.Block.Shard ^= 1 << 63
			s.blockOf(b, t).TxCount++
		}},
		{"two accounts with like ids at one lt", "", "", func(s story) {
			b, t := s.transaction(func(t *record.Transaction) bool { return len(t.OutMsgs) == 0 && !consumes(t) })
			twin := t.CloneVT()
			twin.Account, twin.Hash, twin.PrevTransLt = flip(t.Account), flip(t.Hash), 0
			twin.Hash[0] ^= 1
			twin.InMsg.Destination, twin.InMsg.Hash = twin.Account, flip(twin.InMsg.Hash)
			twin.InMsg.Hash[0] ^= 1
			twin.InMsg.HashNorm = twin.InMsg.Hash
			s.blockOf(b, t).TxCount++
			at := slices.IndexFunc(b.Accounts, func(a *record.Account) bool { return bytes.Equal(a.Account, t.Account) })
			account := b.Accounts[at].CloneVT()
			account.Account, account.LastTransHash, account.LastTransLt = twin.Account, twin.Hash, twin.Lt
			account.Hash, account.State, account.Data = twin.StateHashAfter, twin.StateAfter, nil
			b.Accounts = slices.Insert(b.Accounts, at+1, account)
			b.Transactions = slices.Insert(b.Transactions, slices.Index(b.Transactions, t)+1, twin)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory()
			c.lie(s)
			l := all.in(t)
			l.clear()
			l.tell(s)
			if c.check == "" {
				if _, err := l.verify(nil); err != nil {
					t.Fatal(err)
				}
				return
			}
			r, err := l.verify((*Options).withoutFacts)
			if !errors.Is(err, ErrDifferent) {
				t.Fatalf("the lie was not found: %v", err)
			}
			for _, d := range r.check(c.check).Differences {
				if strings.Contains(d.What, c.says) {
					return
				}
			}
			t.Errorf("check %s does not say %q", c.check, c.says)
		})
	}
}

func (r *Report) check(name string) Check {
	return r.Checks[slices.Index(Checks, name)]
}

// clear takes all rows away.
func (l *tables) clear() {
	l.Helper()
	var filled []string
	const query = "SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND total_rows > 0 AND name != 'schema_migrations' AND NOT match(name, '^[._]tmp')"
	if err := l.client.Conn().QueryRow(l.Context(), query).Scan(&filled); err != nil {
		l.Fatal(err)
	}
	for _, name := range filled {
		l.exec("TRUNCATE TABLE " + name)
	}
}

// tell puts a story through the sink.
func (l *tables) tell(s story) {
	l.Helper()
	client, stop := l.startSink(1)
	defer stop()
	traces := synthetic.NewTraces()
	var headers, transactions, accounts, contracts, assembled []*record.Record
	for _, b := range s {
		h, t, a := b.Records(0, 1)
		headers, transactions, accounts = append(headers, h...), append(transactions, t...), append(accounts, a...)
		contracts = append(contracts, b.Nothing()...)
		assembled = append(assembled, traces.Records(b, 1)[0]...)
		l.to = b.Seqno
	}
	for topic, records := range map[string][]*record.Record{schema.Headers.Name: headers, schema.Transactions.Name: transactions, schema.Accounts.Name: accounts, schema.Contracts.Name: contracts, schema.Traces.Name: assembled} {
		if err := client.Publish(l.Context(), topic, 0, records); err != nil {
			l.Fatal(err)
		}
	}
	l.await()
}
