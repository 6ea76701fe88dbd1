package stored

import (
	"bytes"
	"errors"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// layout stands in the place of a message's hash: what the cell of the message
// has besides the fields of the record.
type layout byte

const (
	bodyInRef layout = 1 << iota // the right side of body:(Either X ^X)
	initInRef                    // the right side of init:(Maybe (Either StateInit ^StateInit))
	normMade                     // hash_norm was left out too
	layouts                      // the number of them
)

var errUntold = errors.New("the fields do not tell the message's cell")

// SetHashes gives a message without a StateInit its hashes: those of its body, of
// the cell that its fields make, with the body inside where it fits and in a
// reference where not, and, of an external message, of the normalized one.
func SetHashes(m *record.Message, body cell.Cell) error {
	var r root
	hash, err := r.hash(m, 0, body, cell.Cell{})
	if errors.Is(err, cell.ErrLimit) {
		hash, err = r.hash(m, bodyInRef, body, cell.Cell{})
	}
	if err != nil {
		return err
	}
	m.Hash, m.BodyHash = hash[:], bytes.Clone(body.Hash()[:])
	if m.Kind == record.Message_EXTERNAL_IN {
		norm, err := r.hashNorm(m, body)
		if err != nil {
			return err
		}
		m.HashNorm = norm[:]
	}
	return nil
}

// root is the root cell of a message. Its references lie in the bags that body
// and init were parsed into.
type root struct {
	bits  cell.Builder
	cells [4]cell.Cell
	count int
}

// hash is the representation hash of
//
//	message$_ {X:Type} info:CommonMsgInfo init:(Maybe (Either StateInit ^StateInit)) body:(Either X ^X) = Message X;
//
// where the message has no extra currencies and its addresses are addr_none,
// addr_extern and addr_std without anycast. init is no cell without one.
func (r *root) hash(m *record.Message, l layout, body, init cell.Cell) ([hashSize]byte, error) {
	r.begin()
	if err := r.info(m); err != nil {
		return [hashSize]byte{}, err
	}
	if init.Valid() {
		r.bits.Store(1, 1)
		r.either(init, l&initInRef != 0)
	} else {
		r.bits.Store(0, 1)
	}
	r.either(body, l&bodyInRef != 0)
	return r.end()
}

// hashNorm is the hash of an external message with nothing but its destination
// and, in a reference, its body.
func (r *root) hashNorm(m *record.Message, body cell.Cell) ([hashSize]byte, error) {
	r.begin()
	r.bits.Store(0b1000, 4) // ext_in_msg_info$10, addr_none$00
	if err := r.address(m.Destination, nil); err != nil {
		return [hashSize]byte{}, err
	}
	r.bits.Store(0b00000, 5) // import_fee 0, no init
	r.either(body, true)
	return r.end()
}

func (r *root) begin() {
	r.bits.Reset()
	r.count = 0
}

func (r *root) end() ([hashSize]byte, error) {
	if r.count > len(r.cells) {
		return [hashSize]byte{}, errUntold
	}
	return r.bits.Hash(r.cells[:r.count])
}

// info stores CommonMsgInfo.
func (r *root) info(m *record.Message) error {
	if len(m.ValueExtra) > 0 {
		return errUntold
	}
	u := &r.bits
	switch m.Kind {
	case record.Message_INTERNAL: // int_msg_info$0
		u.Store(bit(m.IhrDisabled)<<2|bit(m.Bounce)<<1|bit(m.Bounced), 4)
	case record.Message_EXTERNAL_IN: // ext_in_msg_info$10
		u.Store(0b10, 2)
	case record.Message_EXTERNAL_OUT: // ext_out_msg_info$11
		u.Store(0b11, 2)
	default:
		return errUntold
	}
	if err := r.address(m.Source, m.SourceExternal); err != nil {
		return err
	}
	if err := r.address(m.Destination, m.DestinationExternal); err != nil {
		return err
	}
	switch m.Kind {
	case record.Message_EXTERNAL_IN:
		r.coins(m.ImportFee)
		return nil
	case record.Message_INTERNAL:
		r.coins(m.Value)
		u.Store(0, 1) // extra currencies
		if m.ExtraFlags != nil {
			r.coins(*m.ExtraFlags)
		} else {
			r.coins(m.IhrFee)
		}
		r.coins(m.FwdFee)
	}
	u.Store(m.CreatedLt, 64)
	u.Store(uint64(m.CreatedAt), 32)
	return nil
}

// address stores MsgAddress.
func (r *root) address(a []byte, external *record.ExternalAddress) error {
	u := &r.bits
	switch {
	case external != nil: // addr_extern$01
		n := int(external.Bits)
		if external.Bits >= 1<<9 || len(external.Data) != (n+7)/8 || len(a) != 0 {
			return errUntold
		}
		u.Store(0b01, 2)
		u.Store(uint64(n), 9)
		u.StoreBytes(external.Data, n)
	case len(a) == 0: // addr_none$00
		u.Store(0b00, 2)
	default: // addr_std$10
		if len(a) != schema.AddressSize {
			return errUntold
		}
		workchain := schema.Workchain(a)
		if workchain != int32(int8(workchain)) {
			return errUntold
		}
		u.Store(0b100<<8|uint64(uint8(workchain)), 3+8)
		u.StoreBytes(schema.AccountID(a), 256)
	}
	return nil
}

// coins stores a VarUInteger 16.
func (r *root) coins(v uint64) {
	n := uint(0)
	for v>>(8*n) != 0 {
		n++
	}
	r.bits.Store(uint64(n), 4)
	r.bits.Store(v, 8*n)
}

// either stores Either X ^X of the cell that X is or would be.
func (r *root) either(c cell.Cell, inRef bool) {
	if inRef {
		r.bits.Store(1, 1)
		r.ref(c)
		return
	}
	r.bits.Store(0, 1)
	s := c.RawSlice()
	r.bits.StoreBits(&s, s.BitsLeft())
	for i := range c.Refs() {
		r.ref(c.Ref(i))
	}
}

func (r *root) ref(c cell.Cell) {
	if r.count < len(r.cells) {
		r.cells[r.count] = c
	}
	r.count++
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
