package list

import (
	"bytes"
	"slices"

	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/schema/record"
)

// maxVisits bounds how many bundles are looked at for the transactions that
// consumed the messages of a page.
const maxVisits = 100_000

// mintAndRecover is the sender of messages that no transaction produced.
var mintAndRecover = Address{0xff, 0xff, 0xff, 0xff}

// fromHead is the list of what an account sent, when the head holds enough of it.
// All of that is in the account's own transactions, whose lts rise with their
// bundles.
func (l *messageList) fromHead() ([]Message, bool) {
	f, h := l.filter, &l.view.Head
	if f.Source == nil || *f.Source == mintAndRecover || f.Direction == In || f.Utime.Given || !l.Page.Descending || !h.Reaches(l.view.Watermark) {
		return nil, false
	}
	type sent struct {
		Message
		bundle int
	}
	var list []sent
	source := []Address{*f.Source}
	for i := len(h.Bundles) - 1; i >= h.WithTransactions && len(list) <= l.Page.Offset+l.Page.Limit; i-- {
		b := h.Bundles[i]
		if b.McSeqno+uint32(len(h.Bundles)-1-i) != l.view.Watermark {
			return nil, false // over a gap, a message's producer may be missing
		}
		if !b.HasAny(source) {
			continue
		}
		for t := range b.Of(*f.Source) {
			tx, ok := t.Unpack()
			if !ok {
				return nil, false
			}
			for _, m := range tx.OutMsgs {
				if f.matches(m) && l.isBehind(m) {
					list = append(list, sent{Message{Message: m, OutTransaction: tx.Hash}, i})
				}
			}
		}
	}
	if len(list) <= l.Page.Offset+l.Page.Limit {
		return nil, false
	}
	slices.SortFunc(list, func(a, b sent) int {
		x, y := f.KeyOf(a.Message.Message), f.KeyOf(b.Message.Message)
		return compareMessages(&x, &y, true)
	})
	page := make([]Message, 0, l.Page.Limit+1)
	visits := maxVisits
	for _, m := range list[l.Page.Offset : l.Page.Offset+l.Page.Limit+1] {
		if f.Direction == Either && !findConsumer(h, &m.Message, m.bundle, &visits) {
			return nil, false
		}
		page = append(page, m.Message)
	}
	return page, true
}

// findConsumer adds the transaction that consumed a message, if there is one from
// a bundle on.
func findConsumer(h *head.Head, m *Message, from int, visits *int) bool {
	if m.Kind != record.Message_INTERNAL {
		return true
	}
	destination := []Address{paging.AddressOf(m.Destination)}
	for _, b := range h.Bundles[from:] {
		if *visits--; *visits < 0 {
			return false
		}
		if !b.HasAny(destination) {
			continue
		}
		for t := range b.Of(destination[0]) {
			if t.Lt <= m.CreatedLt {
				continue
			}
			tx, ok := t.Unpack()
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
