package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"tonscribe/schema/record"
)

// messageEnd is an end of a message, in the spill of 32 bytes.
type messageEnd struct {
	hash      [16]byte // the first half
	digest    uint64   // of all that the record says of the message
	createdLT uint64
	produced  bool
	inside    bool // must have been produced inside the range
}

const (
	endSize      = 32
	endsPerTx    = 3
	producedFlag = 1 << 63
	insideFlag   = 1 << 62
)

func (e *messageEnd) entry() (raw [endSize]byte) {
	lt := e.createdLT &^ (producedFlag | insideFlag)
	if e.produced {
		lt |= producedFlag
	}
	if e.inside {
		lt |= insideFlag
	}
	copy(raw[:], e.hash[:])
	binary.BigEndian.PutUint64(raw[16:], lt)
	binary.BigEndian.PutUint64(raw[24:], e.digest)
	return raw
}

func endOf(raw []byte) messageEnd {
	lt := binary.BigEndian.Uint64(raw[16:])
	return messageEnd{
		hash: [16]byte(raw), digest: binary.BigEndian.Uint64(raw[24:]), createdLT: lt &^ (producedFlag | insideFlag),
		produced: lt&producedFlag != 0, inside: lt&insideFlag != 0,
	}
}

// checkProducers matches the ends of internal messages: what was consumed was
// produced once, is the same, and was consumed once. Only messages from before
// the range or out of a gap have no producer.
func (v *verifier) checkProducers(ctx context.Context) error {
	if v.spill == nil {
		return nil
	}
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
	err := v.spill.groups(part, len(messageEnd{}.hash), func(entries [][]byte) error {
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
	key := fmt.Sprintf("a message has hash %x…, created_lt %d", e.hash, e.createdLT)
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
func (v *verifier) holders(ctx context.Context, hash [16]byte) (consumers []holder, err error) {
	type place struct {
		workchain  int32
		prefix, lt uint64
	}
	var places []place
	var p place
	err = v.each(ctx, `SELECT DISTINCT workchain, account_prefix, lt FROM messages_index
		WHERE path = 'hash' AND key = ? AND mc_seqno BETWEEN ? AND ?`, []any{binary.BigEndian.Uint64(hash[:]), v.from, v.to},
		[]any{&p.workchain, &p.prefix, &p.lt}, func() error {
			places = append(places, p)
			return nil
		})
	if err != nil {
		return nil, err
	}
	var producers []holder
	for _, p := range places {
		err := v.eachTransaction(ctx, &slice{p.workchain, p.prefix, p.prefix}, v.from, v.to, func(r *transactionRow) error {
			if r.record == nil || r.lt != p.lt {
				return nil
			}
			if m := r.record.InMsg; m != nil && bytes.HasPrefix(m.Hash, hash[:]) {
				consumers = append(consumers, holder{r, m})
			}
			for _, m := range r.record.OutMsgs {
				if bytes.HasPrefix(m.Hash, hash[:]) {
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
