package live

import "tonscribe/query/live/events"

// match is an event that a stream gets as it chose.
type match struct {
	to     *conn
	s      *events.Subscription
	event  *events.Event
	choice events.Choice
}

// part is what a bundle tells of a trace, or an account: as blocks have it, and as it is with
// what is foreseen. One of them may be nil.
type part struct {
	of          *events.Trace // as blocks have it
	came, whole *events.Event
}

// partsOf are those of an event. Actions of a trace that goes on as it is foreseen come
// behind its transactions: blocks have none yet.
func partsOf(e *events.Event, ahead map[*events.Trace]*events.Trace) []part {
	further := ahead[e.Of]
	if further == nil || len(further.Row.Foreseen) == 0 {
		return []part{{e.Of, e, nil}}
	}
	list := []part{{e.Of, e, &events.Event{Kind: e.Kind, Position: e.Position, Of: further}}}
	if e.Kind == events.TransactionsKind && len(further.Row.Actions) > 0 {
		at := events.Position{MCSeqno: e.Position.MCSeqno, Event: e.Position.Event + uint32(events.ActionsKind)}
		list = append(list, part{e.Of, nil, &events.Event{Kind: events.ActionsKind, Position: at, Of: further}})
	}
	return list
}

// matches finds who of some wants what of a bundle.
func (h *hub) matches(b *events.Bundle, ahead map[*events.Trace]*events.Trace, some func(*conn, *events.Subscription) bool) (list []match) {
	var of *events.Trace
	var interested []*conn
	for _, e := range b.Events {
		parts := partsOf(e, ahead)
		if e.Of == nil || e.Of != of {
			of = e.Of
			interested = h.interested(e, parts[0].whole)
		}
		for _, to := range interested {
			s := to.subscription()
			if s == nil || !some(to, s) {
				continue
			}
			for _, p := range parts {
				if m, ok := h.match(p, to, s, b.MCSeqno); ok {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

// match is what a stream wants of a part. Of a trace that goes on as it is foreseen, it gets the
// whole if it wants to know that, unless it got some of it as final.
func (h *hub) match(p part, to *conn, s *events.Subscription, mcSeqno uint32) (match, bool) {
	shown := p.came
	if p.whole != nil && s.Min == events.PendingLevel && (p.of.Fresh[p.of.Root()] || to.unsettled[p.of.Hash]) {
		shown = p.whole
	}
	if shown == nil || shown.Position.Compare(to.after) <= 0 {
		return match{}, false
	}
	var waiting *awaited
	if p.of != nil {
		waiting = h.awaited[p.of.Hash]
	}
	c, ok := shown.Chosen(s, s.Min == events.PendingLevel && waiting.has(to))
	if !ok {
		return match{}, false
	}
	switch {
	case shown == p.whole:
		h.await(shown.Of, to)
	case p.of != nil && to.unsettled[p.of.Hash]: // it gets what is final in its place
		to.unsettled[p.of.Hash] = false
	}
	if waiting.has(to) {
		waiting.by[to] = mcSeqno
	}
	return match{to, s, shown, c}, true
}

// interested are the streams that name something of what an event is about, which is the
// same for all events of a trace, or of what it is about with what is foreseen, if that is
// not nil.
func (h *hub) interested(e, whole *events.Event) (found []*conn) {
	h.search++
	note := func(c *conn) {
		if c.found != h.search {
			c.found = h.search
			found = append(found, c)
		}
	}
	add := func(k events.Key) {
		for _, c := range h.by[k] {
			note(c)
		}
	}
	account := func(a []byte) {
		if k, ok := events.AccountKey(a); ok {
			add(k)
			if k.Of = events.OfToken; len(h.by[k]) > 0 {
				add(k)
			}
		}
	}
	parties := func(t *events.Trace) {
		for tx, fresh := range t.Fresh {
			if fresh {
				account(tx.Account)
			}
		}
		for i, a := range t.Row.Actions {
			for _, party := range a.Accounts {
				account(party)
			}
			for token := range t.Named(i) {
				add(events.Key{Of: events.OfToken, ID: token})
			}
		}
	}
	add(events.Key{Of: events.OfEverything})
	switch {
	case e.Of != nil:
		add(events.TraceKey(e.Of.Hash))
		parties(e.Of)
		if whole != nil {
			parties(whole.Of)
		}
		if waiting := h.awaited[e.Of.Hash]; waiting != nil {
			for c := range waiting.by {
				note(c)
			}
		}
	case e.Tx != nil:
		account(e.Tx.Account)
	default:
		account(e.Wallet.Account)
		account(e.Wallet.JettonWallet.Owner)
		account(e.Wallet.JettonWallet.Master)
	}
	return found
}
