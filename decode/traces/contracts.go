package traces

import (
	"encoding/binary"
	"fmt"

	"tonscribe/decode/trace"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Keys of the store, besides those of the assembler.
const (
	// keyContract leads from an account to its Contract. One with a bundle is what the
	// account was before it became nothing with that bundle.
	keyContract = 'c'
	// keyGone, a masterchain seqno and an account lead to nothing: they are of accounts that
	// became nothing with a bundle.
	keyGone = 'g'
)

// contracts are what accounts are as of the bundle, and what those were that became nothing
// lately.
type contracts struct{ store trace.Store }

// update takes what a contract is from a bundle on.
func (k contracts) update(mcSeqno uint32, c *record.Contract) error {
	if !schema.IsNothing(c) {
		return k.set(c.Account, schema.LastingOf(c))
	}
	was, err := k.get(c.Account)
	if err != nil || was == nil || was.McSeqno > 0 {
		return err
	}
	was.McSeqno = mcSeqno
	if err := k.store.Set(nil, keyGone, seqno(mcSeqno), c.Account); err != nil {
		return err
	}
	return k.set(c.Account, was)
}

// forget drops what no trace that ends with a bundle or later knows.
func (k contracts) forget(mcSeqno uint32) error {
	var due [][]byte
	err := k.store.Each([]byte{keyGone}, nil, func(rest, _ []byte) bool {
		if !schema.KnowsGone(0, mcSeqno, binary.BigEndian.Uint32(rest)) {
			due = append(due, rest)
			return true
		}
		return false
	})
	if err != nil {
		return err
	}
	for _, key := range due {
		gone, account := key[:4], key[4:]
		if err := k.store.Delete(keyGone, gone, account); err != nil {
			return err
		}
		c, err := k.get(account)
		if err != nil {
			return err
		}
		if c == nil || c.McSeqno != binary.BigEndian.Uint32(gone) { // it is something again
			continue
		}
		if err := k.store.Delete(keyContract, account); err != nil {
			return err
		}
	}
	return nil
}

// in returns what a contract was in a trace that ends with the bundle, as
// schema.ContractIn does.
func (k contracts) in(t *record.Trace, account []byte) (*record.Contract, error) {
	c, err := k.get(account)
	if c == nil || c.McSeqno > 0 && !schema.KnowsGone(t.McSeqnoStart, t.McSeqnoEnd, c.McSeqno) {
		return nil, err
	}
	c.McSeqno = 0
	return c, nil
}

func (k contracts) get(account []byte) (*record.Contract, error) {
	raw, err := k.store.Get(keyContract, account)
	if err != nil || raw == nil {
		return nil, err
	}
	c := new(record.Contract)
	if err := c.UnmarshalVT(raw); err != nil {
		return nil, fmt.Errorf("contract %x in the store: %w", account, err)
	}
	return c, nil
}

func (k contracts) set(account []byte, c *record.Contract) error {
	raw, err := c.MarshalVT()
	if err != nil {
		return fmt.Errorf("contract %x: %w", account, err)
	}
	return k.store.Set(raw, keyContract, account)
}

func seqno(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// factsOf are what contracts were in a trace that ends with the bundle: they implement
// action.Facts.
type factsOf struct {
	contracts
	trace   *record.Trace
	problem error // of the store
}

// Contract implements action.Facts.
func (f *factsOf) Contract(account []byte) *record.Contract {
	c, err := f.in(f.trace, account)
	if err != nil && f.problem == nil {
		f.problem = err
	}
	return c
}

// AccountData implements action.Facts: no data is kept.
func (f *factsOf) AccountData([]byte) []byte { return nil }
