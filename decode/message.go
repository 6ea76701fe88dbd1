package decode

import (
	"fmt"
	"math"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// extraFlagsVersion is the global version since which a message has extra_flags
// in the place of ihr_fee, and maxExtraFlags the greatest that is let through. A block
// names the version of who made it, which comes before that of the network: until
// then there still are fees, which are greater.
const (
	extraFlagsVersion = 12
	maxExtraFlags     = 3
)

// message reads Message Any. The same cell gives the same record.
func (d *Decoder) message(c cell.Cell) (*record.Message, error) {
	i := c.Index()
	if m := d.messages[i]; m != nil {
		return m, nil
	}
	s := c.Slice()
	m := d.memory.messages.next()
	m.Hash = d.hash(c.Hash())
	destination, err := d.messageInfo(&s, m)
	if err != nil {
		return nil, fmt.Errorf("info: %w", err)
	}
	if err := d.initState(&s, m); err != nil {
		return nil, fmt.Errorf("init: %w", err)
	}
	body, err := d.body(&s, m)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	if m.Kind == record.Message_EXTERNAL_IN {
		if err := d.normalize(m, destination, body); err != nil {
			return nil, fmt.Errorf("hash_norm: %w", err)
		}
	}
	d.messages[i] = m
	return m, nil
}

// messageInfo reads CommonMsgInfo and returns the destination as it is written.
func (d *Decoder) messageInfo(s *cell.Slice, m *record.Message) (destination cell.Slice, err error) {
	switch {
	case !s.Bool(): // int_msg_info$0
		m.Kind = record.Message_INTERNAL
		err = d.internalInfo(s, m)
	case !s.Bool(): // ext_in_msg_info$10
		m.Kind = record.Message_EXTERNAL_IN
		m.Source, m.SourceExternal = d.address(s)
		destination = *s
		m.Destination, _ = d.address(s)
		destination.Truncate(s)
		m.ImportFee = importFee(s)
	default: // ext_out_msg_info$11
		m.Kind = record.Message_EXTERNAL_OUT
		m.Source, _ = d.address(s)
		m.Destination, m.DestinationExternal = d.address(s)
		m.CreatedLt, m.CreatedAt = s.Uint(64), uint32(s.Uint(32))
	}
	if err == nil {
		err = s.Err()
	}
	return destination, err
}

// importFee reads Grams, the largest number for more than 64 bits. Nobody is charged
// what a message from outside names, so anything may stand there.
func importFee(s *cell.Slice) uint64 {
	n := uint(s.Uint(4)) * 8
	over := n > 64 && s.Uint(n-64) != 0
	fee := s.Uint(min(n, 64))
	if over {
		return math.MaxUint64
	}
	return fee
}

func (d *Decoder) internalInfo(s *cell.Slice, m *record.Message) (err error) {
	m.IhrDisabled, m.Bounce, m.Bounced = s.Bool(), s.Bool(), s.Bool()
	m.Source, _ = d.address(s)
	m.Destination, _ = d.address(s)
	m.Value = s.VarUint(4)
	if m.ValueExtra, err = d.extraCurrencies(s); err != nil {
		return fmt.Errorf("value: %w", err)
	}
	if v := s.VarUint(4); d.version >= extraFlagsVersion && v <= maxExtraFlags {
		m.ExtraFlags = d.memory.uint64(v)
	} else {
		m.IhrFee = v
	}
	m.FwdFee = s.VarUint(4)
	m.CreatedLt, m.CreatedAt = s.Uint(64), uint32(s.Uint(32))
	return nil
}

// initState reads init:(Maybe (Either StateInit ^StateInit)).
func (d *Decoder) initState(s *cell.Slice, m *record.Message) error {
	if !s.Bool() {
		return s.Err()
	}
	var c cell.Cell
	if s.Bool() {
		c = s.Ref()
	} else {
		d.builder.Reset()
		copyStateInit(&d.builder, s)
	}
	if s.Failed() {
		return s.Err()
	}
	if !c.Valid() {
		var err error
		if c, err = d.bag.Add(&d.builder); err != nil {
			return err
		}
	}
	d.store(c, &m.InitState, &m.InitStateHash)
	return nil
}

// copyStateInit moves a StateInit out of a message into a cell of its own.
func copyStateInit(b *cell.Builder, s *cell.Slice) {
	bit := func() bool {
		v := s.Bool()
		if v {
			b.Store(1, 1)
		} else {
			b.Store(0, 1)
		}
		return v
	}
	if bit() { // fixed_prefix_length
		b.Store(s.Uint(5), 5)
	}
	if bit() { // special
		b.Store(s.Uint(2), 2)
	}
	for range 3 { // code, data, library
		if bit() {
			b.StoreRef(s.Ref())
		}
	}
}

// body reads body:(Either X ^X) and returns it as a cell.
func (d *Decoder) body(s *cell.Slice, m *record.Message) (c cell.Cell, err error) {
	if s.Bool() {
		c = s.Ref()
	} else if !s.Failed() {
		b := &d.builder
		b.Reset()
		b.StoreRest(s)
		if c, err = d.bag.Add(b); err != nil {
			return c, err
		}
	}
	if s.Failed() {
		return c, s.Err()
	}
	content := c.RawSlice()
	if opcode, ok := content.Peek(32); ok {
		m.Opcode = d.memory.uint32(uint32(opcode))
	}
	d.store(c, &m.Body, &m.BodyHash)
	return c, nil
}

// end is one of the two ends of a message.
type end uint8

const (
	sent end = 1 << iota
	received
)

// once refuses a message that another transaction has sent or received as well.
func (d *Decoder) once(c cell.Cell, what end) error {
	if d.ends[c.Index()]&what != 0 {
		return fmt.Errorf("%w: the message stands at this end twice", ErrFormat)
	}
	d.ends[c.Index()] |= what
	return nil
}

// store writes a cell tree.
func (d *Decoder) store(c cell.Cell, boc, hash *[]byte) {
	*boc, *hash = d.boc(c, maxOutput), d.hash(c.Hash())
}

// boc is the BoC of a cell tree, nil for more than limit bytes and when there is no
// room for it.
func (d *Decoder) boc(c cell.Cell, limit int) []byte {
	size, err := d.writer.Prepare(c, min(limit, d.room()))
	if err != nil { // it is cell.ErrLimit
		return nil
	}
	d.output -= size
	return d.writer.Append(d.memory.take(size)[:0])
}

// normalize computes hash_norm: the hash of the external message with nothing
// but its destination and, in a reference, its body.
func (d *Decoder) normalize(m *record.Message, destination cell.Slice, body cell.Cell) error {
	b := &d.builder
	b.Reset()
	b.Store(0b1000, 4) // ext_in_msg_info$10, addr_none$00
	b.StoreBits(&destination, destination.BitsLeft())
	b.Store(0b000001, 6) // import_fee 0, no init, body in a reference
	b.StoreRef(body)
	c, err := d.bag.Add(b)
	if err != nil {
		return err
	}
	if *c.Hash() != [32]byte(m.Hash) {
		m.HashNorm = d.hash(c.Hash())
	}
	return nil
}
