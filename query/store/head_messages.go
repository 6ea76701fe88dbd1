package store

import (
	"bytes"
	"slices"

	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// mostVisits bounds how many bundles are looked at for the transactions that
// consumed the messages of a page.
const mostVisits = 100_000

// mintAndRecover is the sender of messages that no transaction produced.
var mintAndRecover = Address{0xff, 0xff, 0xff, 0xff}

// fromHead is the list of what an account sent, when the head holds enough of it.
// All of that is in the account's own transactions, whose lts rise with their
// bundles.
func (l *messageList) fromHead() ([]Message, bool) {
	f, h := l.filter, &l.view.head
	if f.Source == nil || *f.Source == mintAndRecover || f.Direction == In || f.Utime.Given || !l.page.Descending || !h.reaches(l.view.Watermark) {
		return nil, false
	}
	type sent struct {
		Message
		bundle int
	}
	var list []sent
	source := []Address{*f.Source}
	for i := len(h.bundles) - 1; i >= h.withTransactions && len(list) <= l.page.Offset+l.page.Limit; i-- {
		b := h.bundles[i]
		if b.mcSeqno+uint32(len(h.bundles)-1-i) != l.view.Watermark {
			return nil, false // over a gap, a message's producer may be missing
		}
		if !b.hasAny(source) {
			continue
		}
		for t := range b.of(*f.Source) {
			tx, ok := t.unpack()
			if !ok {
				return nil, false
			}
			for _, m := range tx.OutMsgs {
				if f.matches(m) && (l.after == nil || compareMessages(f.KeyOf(m), *l.after, true) > 0) {
					list = append(list, sent{Message{Message: m, OutTransaction: tx.Hash}, i})
				}
			}
		}
	}
	if len(list) <= l.page.Offset+l.page.Limit {
		return nil, false
	}
	slices.SortFunc(list, func(a, b sent) int {
		return compareMessages(f.KeyOf(a.Message.Message), f.KeyOf(b.Message.Message), true)
	})
	page := make([]Message, 0, l.page.Limit+1)
	visits := mostVisits
	for _, m := range list[l.page.Offset : l.page.Offset+l.page.Limit+1] {
		if f.Direction == Either && !h.findConsumer(&m.Message, m.bundle, &visits) {
			return nil, false
		}
		page = append(page, m.Message)
	}
	return page, true
}

// findConsumer adds the transaction that consumed a message, if there is one from
// a bundle on.
func (h *head) findConsumer(m *Message, from int, visits *int) bool {
	if m.Kind != record.Message_INTERNAL {
		return true
	}
	destination := []Address{addressOf(m.Destination)}
	for _, b := range h.bundles[from:] {
		if *visits--; *visits < 0 {
			return false
		}
		if !b.hasAny(destination) {
			continue
		}
		for t := range b.of(destination[0]) {
			if t.lt <= m.CreatedLt {
				continue
			}
			tx, ok := t.unpack()
			if !ok {
				return false
			}
			if tx.InMsg != nil && bytes.Equal(tx.InMsg.Hash, m.Hash) {
				m.InTransaction = tx.Hash
				return true
			}
		}
	}
	return true
}

// of are the transactions of an account.
func (b *bundle) of(account Address) func(yield func(*heldRecord) bool) {
	return func(yield func(*heldRecord) bool) {
		for i := range b.transactions {
			if b.transactions[i].account == account && !yield(&b.transactions[i]) {
				return
			}
		}
	}
}

func (t *heldRecord) unpack() (*record.Transaction, bool) {
	tx := new(record.Transaction)
	return tx, stored.Unpack(tx, t.record) == nil
}
