package decode

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// transaction reads transaction$0111 of an account in the workchain.
func (d *Decoder) transaction(c cell.Cell, workchain int32) (*record.Transaction, error) {
	s := c.Slice()
	if tag := s.Uint(4); !s.Failed() && tag != 7 {
		return nil, fmt.Errorf("%w: tag %x", ErrFormat, tag)
	}
	t := d.memory.txs.next()
	t.McSeqno, t.Block = d.mcSeqno, d.ref
	t.Hash = d.hash(c.Hash())
	t.Account = d.memory.take(schema.AddressSize)
	binary.BigEndian.PutUint32(t.Account, uint32(workchain))
	s.Read(t.Account[4:])
	t.Lt = s.Uint(64)
	t.PrevTransHash = d.bytes32(&s)
	t.PrevTransLt = s.Uint(64)
	t.Now = uint32(s.Uint(32))
	outCount := int(s.Uint(15))
	t.OrigStatus, t.EndStatus = record.AccountStatus(s.Uint(2)), record.AccountStatus(s.Uint(2))
	t.TotalFees = s.VarUint(4)
	var err error
	messages := s.Next()
	if t.TotalFeesExtra, err = d.extraCurrencies(&s); err != nil {
		return nil, fmt.Errorf("total fees: %w", err)
	}
	update, description := s.Next(), s.Next()
	if s.Failed() {
		return nil, s.Err()
	}
	if err := d.hashUpdate(&update, t); err != nil {
		return nil, fmt.Errorf("state update: %w", err)
	}
	if err := d.description(&description, t); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	return t, d.transactionMessages(&messages, t, outCount)
}

// transactionMessages reads the cell with in_msg and out_msgs.
func (d *Decoder) transactionMessages(s *cell.Slice, t *record.Transaction, outCount int) (err error) {
	if s.Bool() {
		c := s.Ref()
		if s.Failed() {
			return fmt.Errorf("messages: %w", s.Err())
		}
		if err := d.once(c, received); err != nil {
			return fmt.Errorf("in message: %w", err)
		}
		if t.InMsg, err = d.message(c); err != nil {
			return fmt.Errorf("in message: %w", err)
		}
	}
	if s.Bool() {
		t.OutMsgs = d.memory.list(outCount)
		err := s.Next().Hashmap(15, &d.budget, false, func(_ cell.Key, s cell.Slice) error { return d.outMessage(s, t, outCount) })
		if err != nil {
			return fmt.Errorf("out message %d: %w", len(t.OutMsgs), err)
		}
	}
	if s.Failed() {
		return fmt.Errorf("messages: %w", s.Err())
	}
	if len(t.OutMsgs) != outCount {
		return fmt.Errorf("%w: %d out messages, outmsg_cnt %d", ErrFormat, len(t.OutMsgs), outCount)
	}
	byLT := func(x, y *record.Message) int { return cmp.Compare(x.CreatedLt, y.CreatedLt) }
	if !slices.IsSortedFunc(t.OutMsgs, byLT) {
		slices.SortStableFunc(t.OutMsgs, byLT)
	}
	for i := 1; i < len(t.OutMsgs); i++ {
		if t.OutMsgs[i].CreatedLt == t.OutMsgs[i-1].CreatedLt {
			return fmt.Errorf("%w: two out messages of lt %d", ErrFormat, t.OutMsgs[i].CreatedLt)
		}
	}
	withhold(t)
	return nil
}

// maxSent is how many bytes of BoCs the outgoing messages of one transaction
// have in its record. They may share cells: 255 messages with one body of 256 KiB
// are cheap to send and would be 64 MiB of records, which the log does not take.
const maxSent = 8 << 20

// withhold leaves out the body and the StateInit of outgoing messages that go
// beyond maxSent, in the order of lt. Their hashes stay, and the transactions
// that receive the messages have everything.
func withhold(t *record.Transaction) {
	left := maxSent
	for i, m := range t.OutMsgs {
		if size := len(m.Body) + len(m.InitState); size <= left {
			left -= size
			continue
		}
		body, init := m.Body, m.InitState
		m.Body, m.InitState = nil, nil
		t.OutMsgs[i] = m.CloneVT()
		m.Body, m.InitState = body, init
	}
}

// outMessage reads a leaf of HashmapE 15 ^(Message Any).
func (d *Decoder) outMessage(s cell.Slice, t *record.Transaction, outCount int) error {
	if len(t.OutMsgs) == outCount {
		return fmt.Errorf("%w: more than outmsg_cnt %d", ErrFormat, outCount)
	}
	c := s.Ref()
	if s.Failed() {
		return s.Err()
	}
	if err := d.once(c, sent); err != nil {
		return err
	}
	m, err := d.message(c)
	if err != nil {
		return err
	}
	t.OutMsgs = append(t.OutMsgs, m)
	return nil
}

// hashUpdate reads update_hashes#72.
func (d *Decoder) hashUpdate(s *cell.Slice, t *record.Transaction) error {
	if tag := s.Uint(8); !s.Failed() && tag != 0x72 {
		return fmt.Errorf("%w: tag %02x", ErrFormat, tag)
	}
	t.StateHashBefore, t.StateHashAfter = d.bytes32(s), d.bytes32(s)
	return s.Err()
}

// bytes32 reads 256 bits.
func (d *Decoder) bytes32(s *cell.Slice) []byte {
	b := d.memory.take(32)
	s.Read(b)
	return b
}

func (d *Decoder) hash(h *[32]byte) []byte {
	b := d.memory.take(32)
	copy(b, h[:])
	return b
}
