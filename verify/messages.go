package verify

import (
	"context"
	"fmt"

	"tonscribe/schema/record"
)

// messageEnd is an end of a message.
type messageEnd struct {
	hash      [2]uint64 // the first half
	digest    uint64    // of all that the record says of the message
	createdLT uint64
	produced  bool
	inside    bool // must have been produced inside the range
}

const (
	endSize      = 4
	endsPerTx    = 3
	producedFlag = 1 << 63
	insideFlag   = 1 << 62
)

// entry is the end as it lies in a spill.
func (e *messageEnd) entry() []uint64 {
	lt := e.createdLT&^(producedFlag|insideFlag) | flag(e.produced)*producedFlag | flag(e.inside)*insideFlag
	return []uint64{e.hash[0], e.hash[1], lt, e.digest}
}

func endOf(entry []uint64) messageEnd {
	lt := entry[2]
	return messageEnd{[2]uint64(entry), entry[3], lt &^ (producedFlag | insideFlag), lt&producedFlag != 0, lt&insideFlag != 0}
}

// checkProducers matches the ends of internal messages: what was consumed was
// produced once, is the same, and was consumed once. Only messages from before
// the range or out of a gap have no producer.
func (v *verifier) checkProducers(ctx context.Context) error {
	meter := v.meter("messages (parts)", uint64(len(v.spill.parts)))
	for part := range v.spill.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.matchEnds(ctx, part); err != nil {
			return err
		}
		meter.add(1)
	}
	return nil
}

func (v *verifier) matchEnds(ctx context.Context, part int) error {
	var all, inFlight, unproduced uint64
	err := v.spill.groups(part, len(messageEnd{}.hash), func(entries [][]uint64) error {
		var consumed, produced []messageEnd
		for _, raw := range entries {
			if e := endOf(raw); e.produced {
				produced = append(produced, e)
			} else {
				consumed = append(consumed, e)
			}
		}
		all++
		check, problem := CheckProducers, ""
		switch {
		case len(produced) > 1:
			check, problem = CheckMessages, fmt.Sprintf("the message is produced by %d transactions", len(produced))
		case len(consumed) > 1:
			check, problem = CheckMessages, fmt.Sprintf("the message is consumed by %d transactions", len(consumed))
		case len(produced) == 0 && consumed[0].inside:
			problem = "the message is consumed, and produced by no transaction"
		case len(produced) == 0:
			unproduced++
		case len(consumed) == 0:
			inFlight++
		case produced[0].digest != consumed[0].digest:
			problem = "the message is not the same at both ends"
		}
		if problem == "" {
			return nil
		}
		return v.badMessage(ctx, check, append(consumed, produced...)[0], problem)
	})
	v.findings.checked(CheckProducers, all)
	v.findings.count(func(r *Report) {
		r.InFlight += inFlight
		r.Unproduced += unproduced
	})
	return err
}

// badMessage names the transactions that hold the message, and what differs.
func (v *verifier) badMessage(ctx context.Context, check string, e messageEnd, problem string) error {
	if v.findings.again(check, "transactions") {
		return nil
	}
	holders, err := v.holders(ctx, e.hash)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("a message has hash %016x%016x…, created_lt %d", e.hash[0], e.hash[1], e.createdLT)
	var messages []*record.Message
	for i, h := range holders {
		if i == 0 {
			key = h.row.key()
		} else {
			problem += "; other end: where " + h.row.key()
		}
		messages = append(messages, h.message)
	}
	if len(messages) > 0 {
		problem = fmt.Sprintf("message %x, created at lt %d: %s", messages[0].Hash, e.createdLT, problem)
	}
	if len(messages) == 2 {
		if path, a, b := firstField(messages[0], messages[1]); path != "" {
			problem += fmt.Sprintf("; %s is %s here and %s there", path, a, b)
		}
	}
	v.findings.differs(check, "transactions", key, "%s", problem)
	return nil
}

// holder is a transaction with one end of a message.
type holder struct {
	row     *transactionRow
	message *record.Message
}

// holders looks for the transactions with a message whose hash begins so, the
// consumers first.
func (v *verifier) holders(ctx context.Context, hash [2]uint64) (consumers []holder, err error) {
	var found []struct {
		Workchain int32  `ch:"workchain"`
		Prefix    uint64 `ch:"account_prefix"`
		LT        uint64 `ch:"lt"`
	}
	err = v.list(ctx, &found, `SELECT DISTINCT workchain, account_prefix, lt FROM messages_index
		WHERE path = 'hash' AND key = ? AND mc_seqno BETWEEN ? AND ?`, hash[0], v.from, v.to)
	if err != nil {
		return nil, err
	}
	var producers []holder
	for _, p := range found {
		err := v.eachTransaction(ctx, &slice{p.Workchain, p.Prefix, p.Prefix}, v.from, v.to, func(r *transactionRow) error {
			if r.record == nil || r.lt != p.LT {
				return nil
			}
			if m := r.record.InMsg; m != nil && halfOf(m.Hash) == hash {
				consumers = append(consumers, holder{r, m})
			}
			for _, m := range r.record.OutMsgs {
				if halfOf(m.Hash) == hash {
					producers = append(producers, holder{r, m})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return append(consumers, producers...), nil
}
