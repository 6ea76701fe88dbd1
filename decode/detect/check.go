package detect

import (
	"bytes"
	"context"
	"slices"

	"tonscribe/decode/contract"
	"tonscribe/schema"
)

// question is a claim to be checked, or an item whose content is to be had.
type question struct {
	change *change
	kind   contract.ClaimKind
	parent *contract.Account
	known  bool // the claim is confirmed already
	answer contract.Confirmation
}

// check asks the parents about the claims of the accounts that changed.
func (w *work) check(ctx context.Context) error {
	var questions []*question
	for _, c := range w.ordered() {
		if c.state == nil {
			continue
		}
		former, err := w.leave(c)
		if err != nil {
			return err
		}
		if c.new == nil || c.unread {
			continue
		}
		if err := w.forget(c); err != nil {
			return err
		}
		for _, claimant := range []*change{former, c} {
			of, err := w.questions(claimant)
			if err != nil {
				return err
			}
			questions = append(questions, of...)
		}
	}
	for _, c := range w.orderedFormers() {
		if !c.fresh {
			continue
		}
		of, err := w.questions(c)
		if err != nil {
			return err
		}
		questions = append(questions, of...)
	}
	return w.ask(ctx, questions)
}

// questions are those about all that a change claims.
func (w *work) questions(c *change) (list []*question, err error) {
	if c == nil {
		return nil, nil
	}
	for _, claim := range contract.ClaimsOf(c.new.facts) {
		q, err := w.question(c, claim)
		if err != nil {
			return nil, err
		}
		if q != nil {
			list = append(list, q)
		}
	}
	return list, nil
}

// forget takes back what an account's earlier claims wait for.
func (w *work) forget(c *change) error {
	if c.old == nil {
		return nil
	}
	for _, claim := range contract.ClaimsOf(c.old.facts) {
		content := claim.Kind == contract.ClaimNFTItem && !claim.Kind.Same(c.old.facts, c.new.facts) // may be waited for
		if c.old.claims[claim.Kind] != waiting && !content {
			continue
		}
		if err := w.store.Delete(keyWaiting, claim.Parent, c.account); err != nil {
			return err
		}
	}
	return nil
}

// question says what must be asked about a claim, nil for nothing.
func (w *work) question(c *change, claim contract.Claim) (*question, error) {
	same := c.old != nil && claim.Kind.Same(c.old.facts, c.new.facts)
	if same && c.old.claims[claim.Kind] == confirmed {
		c.new.claims[claim.Kind] = confirmed
		if claim.Kind != contract.ClaimNFTItem || !c.fresh {
			return nil, nil
		}
		c.new.facts.NftItem.Content = c.old.facts.NftItem.Content
	}
	p, err := w.parent(claim.Parent)
	if err != nil {
		return nil, err
	}
	if p != nil {
		return &question{change: c, kind: claim.Kind, parent: p, known: c.new.claims[claim.Kind] == confirmed}, nil
	}
	if c.new.claims[claim.Kind] == confirmed {
		return nil, nil
	}
	w.metrics.waiting.Inc()
	w.want(wantParent, claim.Parent)
	c.new.claims[claim.Kind] = waiting
	return nil, w.store.Set(nil, keyWaiting, claim.Parent, c.waiter())
}

// ask puts the questions to the parents, and takes the answers in order.
func (w *work) ask(ctx context.Context, questions []*question) error {
	err := parallel(len(questions), func(i int) error {
		q := questions[i]
		e := q.change.new
		if q.known {
			q.answer = w.detector.ItemContent(w.asked(ctx, q.parent), e.facts.NftItem, e.content)
		} else {
			q.answer = w.detector.Confirm(w.asked(ctx, q.parent), q.kind, q.change.account, e.facts, e.content)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // answers that were broken off are none
	}
	for _, q := range questions {
		if err := w.answered(q); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) answered(q *question) error {
	w.metrics.exhausted.Add(float64(q.answer.Exhausted))
	w.metrics.broken.Add(float64(q.answer.Broken))
	w.metrics.cut.Add(float64(q.answer.Cut))
	if q.answer.Missing != nil {
		if err := w.askAgain(q.parent.Address, q.answer.Missing); err != nil {
			return err
		}
	}
	e := q.change.new
	wait := q.answer.Missing != nil // for the content
	switch {
	case q.known:
		if q.answer.Content != nil || !wait {
			e.facts.NftItem.Content = q.answer.Content
		}
	case q.answer.Verdict == contract.Confirmed:
		e.claims[q.kind] = confirmed
		if q.kind == contract.ClaimNFTItem {
			e.facts.NftItem.Content = q.answer.Content
		}
	case q.answer.Verdict == contract.Denied:
		e.claims[q.kind] = denied
	default: // it may answer when it has another code
		e.claims[q.kind], wait = waiting, true
	}
	if !q.known {
		w.metrics.verdicts.WithLabelValues(q.kind.String(), q.answer.Verdict.String()).Inc()
	}
	if wait {
		return w.store.Set(nil, keyWaiting, q.parent.Address, q.change.waiter())
	}
	return w.store.Delete(keyWaiting, q.parent.Address, q.change.waiter())
}

// What is checked, or looked into, again may cost so much in a bundle: as soon as it has
// taken the gas of so many runs, the rest follows in the next one. Of questions that is
// looked at after so many.
const (
	retryRuns   = 32
	askedAtOnce = 64
)

// retry checks claims whose parents have appeared, so many in a bundle.
func (w *work) retry(ctx context.Context) error {
	parents, err := w.due()
	if err != nil {
		return err
	}
	left, gas := w.configuration.Retries, retryRuns*w.configuration.RunGas
	for _, d := range parents {
		for more := true; more; {
			if left == 0 || gas <= 0 {
				return nil
			}
			var children [][]byte
			children, more, err = w.children(d.parent, d.after, min(left, askedAtOnce))
			if err != nil {
				return err
			}
			left -= len(children)
			if more {
				d.after = children[len(children)-1]
				err = w.store.Set(d.after, keyRetry, d.parent)
			} else {
				err = w.store.Delete(keyRetry, d.parent)
			}
			if err != nil {
				return err
			}
			took, err := w.askFor(ctx, d.parent, children)
			if err != nil {
				return err
			}
			gas -= took
		}
	}
	return nil
}

// due is a parent that is to be asked again, and the child after which its children are.
type due struct{ parent, after []byte }

// due are the parents that are to be asked again. With every bundle it is another one's
// turn to be the first, so that dear ones do not keep others from being asked.
func (w *work) due() (parents []due, err error) {
	const spread = 2654435761 // 2^32 by the golden ratio
	first := slices.Concat(number(0), number(w.now.mcSeqno*spread))
	take := func(parent, after []byte) bool {
		parents = append(parents, due{parent, after})
		return len(parents) < w.configuration.Retries
	}
	if err := w.store.Each([]byte{keyRetry}, first, take); err != nil || len(parents) == w.configuration.Retries {
		return parents, err
	}
	err = w.store.Each([]byte{keyRetry}, nil, func(parent, after []byte) bool {
		return bytes.Compare(parent, first) <= 0 && take(parent, after)
	})
	return parents, err
}

// askFor asks a parent about children that wait for it, and returns the gas that it took.
func (w *work) askFor(ctx context.Context, parent []byte, children [][]byte) (gas int64, err error) {
	var questions []*question
	for _, child := range children {
		again, err := w.again(parent, child)
		if err != nil {
			return 0, err
		}
		questions = append(questions, again...)
	}
	w.metrics.retried.Add(float64(len(questions)))
	err = w.ask(ctx, questions)
	for _, q := range questions {
		gas += q.answer.Gas
	}
	return gas, err
}

// children are those that wait for a parent.
func (w *work) children(parent, after []byte, limit int) (found [][]byte, more bool, err error) {
	err = w.store.Each(append([]byte{keyWaiting}, parent...), after, func(child, _ []byte) bool {
		if len(found) == limit {
			more = true
			return false
		}
		found = append(found, child)
		return true
	})
	return found, more, err
}

// again are the questions about a child that waits for the parent.
func (w *work) again(parent, child []byte) (questions []*question, err error) {
	take := w.touch
	if len(child) > schema.AddressSize {
		take = w.former
	}
	c, err := take(child)
	if err != nil || c == nil || c.new == nil {
		return nil, err
	}
	p, err := w.parent(parent)
	if err != nil || p == nil {
		return nil, err
	}
	for _, claim := range contract.ClaimsOf(c.new.facts) {
		state := c.new.claims[claim.Kind]
		content := state == confirmed && claim.Kind == contract.ClaimNFTItem // is what it waits for
		if (state == waiting || content) && bytes.Equal(claim.Parent, parent) && (c.state == nil || c.unread) {
			questions = append(questions, &question{change: c, kind: claim.Kind, parent: p, known: content})
		}
	}
	return questions, nil
}

// link says of items which sale or auction they are with, and who sells them.
func (w *work) link(context.Context) error {
	for _, c := range w.ordered() {
		if err := w.linkItem(c); err != nil {
			return err
		}
		for _, e := range []*entry{c.old, c.new} {
			item := soldItem(e)
			if item == nil {
				continue
			}
			sold, err := w.soldBy(item, c.account)
			if err != nil {
				return err
			}
			if err := w.linkItem(sold); err != nil {
				return err
			}
		}
	}
	return nil
}

func soldItem(e *entry) []byte {
	switch {
	case e == nil:
		return nil
	case e.facts.Sale != nil:
		return e.facts.Sale.Item
	case e.facts.Auction != nil:
		return e.facts.Auction.Item
	}
	return nil
}

// soldBy gives the item if it belongs to the seller now.
func (w *work) soldBy(item, seller []byte) (*change, error) {
	e, err := w.entry(item)
	if err != nil || e == nil || !bytes.Equal(e.facts.NftItem.GetOwner(), seller) {
		return nil, err
	}
	return w.touch(item)
}

// linkItem sets what an item tells of its sale.
func (w *work) linkItem(c *change) error {
	if c == nil || c.new == nil || c.new.facts.NftItem == nil {
		return nil
	}
	item := c.new.facts.NftItem
	item.Sale, item.Auction, item.RealOwner = nil, nil, nil
	if item.Owner == nil {
		return nil
	}
	owner, err := w.entry(item.Owner)
	if err != nil || owner == nil {
		return err
	}
	switch s, a := owner.facts.Sale, owner.facts.Auction; {
	case s != nil && bytes.Equal(s.Item, c.account):
		item.Sale, item.RealOwner = item.Owner, s.Owner
	case a != nil && bytes.Equal(a.Item, c.account):
		item.Auction, item.RealOwner = item.Owner, a.Owner
	}
	return nil
}
