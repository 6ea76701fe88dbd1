package body

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	toncell "tonscribe/ton/cell"
)

// Limits of a body that is shown. Cells are shared, so that few bytes can stand for a
// tree without end.
const (
	MaxBytes  = 1 << 20              // of the bag of cells
	MaxCells  = 4096                 // in it
	maxTree   = 2<<20/8 + 2*MaxCells // as a tree: 2 Mi bits, and the descriptors of so many cells
	maxNested = 10                   // bodies inside of each other
	maxBodies = 256                  // inside of one, in all
	maxReads  = 4096                 // constructors that are read, those too that do not fit
	maxShown  = 4 << 20              // bytes of JSON, those too that were thrown away
	maxCopied = 4 * MaxCells         // cells that are shown as bags of cells
)

// Why a body is not shown. The texts are those that clients know.
var (
	ErrUnknown = errors.New("no parser succeeded")
	ErrShort   = errors.New("boc is too small")
	ErrLimit   = errors.New("the body is too large")
)

// Budget is what all bodies that a Decoder is asked for may cost together.
type Budget struct {
	Bodies int // inside of others
	Reads  int // constructors
	Shown  int // bytes of JSON
}

// Decoder shows bodies as JSON. It keeps its memory for the next one; it is not for
// use by several goroutines.
type Decoder struct {
	budget Budget
	text   func(dst []byte, text string) []byte

	bag    toncell.Bag
	writer toncell.Writer

	// The body that is shown.
	left   Budget
	copied int
	nested int
	start  int   // where its JSON begins in out
	hashed bool  // the cells of the bag have their hashes
	plain  bool  // a comment is shown like other bodies
	err    error // why it is given up

	out, scratch, boc []byte
	number            big.Int
	bytes             [128]byte
}

// NewDecoder makes a decoder, which appends texts with a function.
func NewDecoder(budget Budget, text func(dst []byte, text string) []byte) *Decoder {
	return &Decoder{budget: budget, text: text}
}

// Renew gives the decoder another budget.
func (d *Decoder) Renew(budget Budget) { d.budget = budget }

// Spent reports whether the budget is used up.
func (d *Decoder) Spent() bool {
	return d.budget.Bodies <= 0 || d.budget.Reads <= 0 || d.budget.Shown <= 0
}

// Append appends the body in a bag of cells as JSON, in the form that answers have for
// it: a record has its name as @type, then its fields in their order. With an error,
// one of those above or what is wrong with the bag, nothing is appended.
func (d *Decoder) Append(dst, boc []byte) ([]byte, error) {
	return d.append(dst, boc, false)
}

// AppendPlain is Append with a comment that is shown like other bodies, and with the
// whole bag checked.
func (d *Decoder) AppendPlain(dst, boc []byte) ([]byte, error) {
	return d.append(dst, boc, true)
}

func (d *Decoder) append(dst, boc []byte, plain bool) ([]byte, error) {
	if len(boc) > MaxBytes || d.Spent() {
		return dst, ErrLimit
	}
	parse := d.bag.Read
	if plain {
		parse = d.bag.Parse
	}
	err := parse(boc)
	var root toncell.Cell
	if err == nil {
		root, err = d.bag.Single()
	}
	if err != nil {
		return dst, fmt.Errorf("failed to deserialize boc: %w", err)
	}
	if d.bag.Len() > MaxCells || d.bag.Unfolded(root) > maxTree {
		return dst, ErrLimit
	}
	given := Budget{min(maxBodies, d.budget.Bodies), min(maxReads, d.budget.Reads), min(maxShown, d.budget.Shown)}
	d.left, d.copied, d.nested = given, 0, 0
	d.hashed, d.plain, d.err = plain, plain, nil
	d.out, d.start = dst, len(dst)
	err = d.root(root.Slice())
	d.budget.Bodies -= given.Bodies - d.left.Bodies
	d.budget.Reads -= given.Reads - d.left.Reads
	d.budget.Shown -= given.Shown - d.left.Shown + len(d.out) - d.start
	out := d.out
	d.out = nil
	if err != nil {
		return out[:len(dst)], err
	}
	return out, nil
}

const (
	opcodeBits = 32
	emptyCell  = `{"@type":"empty_cell"}`
)

func (d *Decoder) root(s toncell.Slice) error {
	shown := false
	switch {
	case s.Failed():
	case isEmpty(&s):
		d.out, shown = append(d.out, emptyCell...), true
	case s.BitsLeft() < opcodeBits:
		return fmt.Errorf("%w, size %d", ErrShort, s.BitsLeft())
	default:
		shown = d.body(s)
	}
	if d.fits(0); d.err != nil {
		return d.err
	}
	if !shown {
		return ErrUnknown
	}
	return nil
}

func isEmpty(s *toncell.Slice) bool { return s.BitsLeft() == 0 && s.RefsLeft() == 0 }

// body shows what a cell says as a body. Nothing is written when that is false.
func (d *Decoder) body(s toncell.Slice) bool {
	t := theTable()
	opcode, _ := s.Peek(opcodeBits)
	if t.names[uint32(opcode)] != "" {
		s.Skip(opcodeBits)
		mark := len(d.out)
		for _, l := range t.bodies[uint32(opcode)] {
			at := s
			if !d.record(l, &at) {
				continue
			}
			if opcode == Comment && d.nested == 0 && !d.plain {
				d.comment(mark)
			}
			return true
		}
		return false
	}
	if s.BitsLeft() < t.signedBits {
		return false
	}
	for _, l := range t.signed {
		mark, at := len(d.out), s
		if d.record(l, &at) {
			if isEmpty(&at) {
				return true
			}
			d.drop(mark)
		}
	}
	return false
}

// comment gives a comment the members that clients know from an earlier form.
func (d *Decoder) comment(mark int) {
	const open, shown, known, end = `{"@type":"text_comment"`, `,"text":`, `,"comment":`, `,"type":"text_comment"}`
	d.scratch = append(d.scratch[:0], d.out[mark+len(open)+len(shown):len(d.out)-1]...)
	d.out = append(append(append(d.out[:mark+len(open)], known...), d.scratch...), end...)
}

// drop forgets what was written behind a mark; it counts nevertheless.
func (d *Decoder) drop(mark int) {
	d.left.Shown -= len(d.out) - mark
	d.out = d.out[:mark]
}

// fits reports whether n bytes more can be written.
func (d *Decoder) fits(n int) bool {
	if d.err == nil && len(d.out)-d.start+n > d.left.Shown {
		d.err = ErrLimit
	}
	return d.err == nil
}

// read counts a constructor.
func (d *Decoder) read() bool {
	if d.left.Reads--; d.left.Reads < 0 {
		d.err = ErrLimit
	}
	return d.fits(0)
}

// record shows a constructor behind its tag. Nothing is written when it does not fit.
func (d *Decoder) record(l *layout, s *toncell.Slice) bool {
	if !d.read() {
		return false
	}
	mark, count := len(d.out), uint64(0)
	d.out = append(d.out, l.open...)
	for i := range l.fields {
		f := &l.fields[i]
		if f.mask != 0 && f.mask&count == 0 {
			continue
		}
		d.out = append(d.out, f.key...)
		var fits bool
		if i == l.counted {
			count, fits = d.counted(f.typ, s)
		} else {
			fits = d.value(f.typ, s, count)
		}
		if !fits {
			d.drop(mark)
			return false
		}
	}
	d.out = append(d.out, '}')
	return true
}

// counted shows a number that other fields depend on.
func (d *Decoder) counted(t *typ, s *toncell.Slice) (n uint64, fits bool) {
	if t.bits > s.BitsLeft() {
		return 0, false
	}
	n = s.Uint(uint(t.bits))
	d.decimal(n)
	return n, t.max == 0 || n <= t.max
}

func (d *Decoder) decimal(n uint64) {
	d.out = append(strconv.AppendUint(append(d.out, '"'), n, 10), '"')
}

// value shows a value of a type; count is the number that the record's fields depend
// on. When the value does not fit, a part of it may have been written.
func (d *Decoder) value(t *typ, s *toncell.Slice, count uint64) bool {
	switch t.kind {
	case asUint, asInt:
		return d.integer(t, s)
	case asBits:
		if t.of {
			return d.bits(s, t.bits*int(count))
		}
		return d.bits(s, t.bits)
	case asBool:
		d.out = strconv.AppendBool(d.out, s.Bool())
		return !s.Failed()
	case asVarUint:
		return d.varUint(s, t.bits)
	case asText:
		return d.snake(s)
	case asCell:
		return d.rest(s)
	case asCellRef:
		c := s.Ref()
		return c.Valid() && d.cell(c)
	case asRecord:
		return d.oneOf(t, s)
	case asAddress:
		return d.address(t, s)
	case asRef:
		return d.ref(t.elem, s)
	case asNamedRef:
		d.out = append(d.out, `{"cell_reference":`...)
		if !d.ref(t.elem, s) {
			return false
		}
		d.out = append(d.out, '}')
		return true
	case asHashmap:
		return d.hashmap(t.elem, s, t.bits)
	case asHashmapE:
		return d.hashmapE(t, s)
	case asOutList:
		return d.outList(s)
	case asExtended:
		return d.extended(s)
	case asMessages:
		return d.messages(s)
	case asChunks:
		return d.chunks(s, count)
	}
	return false
}

// oneOf shows the first constructor that fits.
func (d *Decoder) oneOf(t *typ, s *toncell.Slice) bool {
	for _, l := range t.cases {
		if l.tagBits > 0 {
			if tag, ok := s.Peek(uint(l.tagBits)); !ok || tag != l.tag {
				continue
			}
		}
		before := *s
		s.Skip(l.tagBits)
		if d.record(l, s) {
			return true
		}
		*s = before
	}
	return false
}

// address shows a MsgAddress.
func (d *Decoder) address(t *typ, s *toncell.Slice) bool {
	const head, size = 0b100, 3 + 8 + 256 // addr_std$10 without anycast
	if tag, ok := s.Peek(3); !ok || tag != head || s.BitsLeft() < size {
		return d.oneOf(t, s)
	}
	s.Skip(3)
	d.out = append(d.out, `{"@type":"addr_std","anycast":{"@type":"nothing_from_maybe"},"workchain_id":"`...)
	d.out = strconv.AppendInt(d.out, s.Int(8), 10)
	d.out = append(d.out, `","address":`...)
	d.bits(s, 256)
	d.out = append(d.out, '}')
	return true
}

// ref shows a cell that has a value of a type and nothing else.
func (d *Decoder) ref(t *typ, s *toncell.Slice) bool {
	c := s.Ref()
	if !c.Valid() {
		return false
	}
	if t.kind == asCell {
		return d.cell(c)
	}
	in := c.Slice()
	return !in.Failed() && d.value(t, &in, 0) && isEmpty(&in)
}

// integer shows a number.
func (d *Decoder) integer(t *typ, s *toncell.Slice) bool {
	switch {
	case t.bits > s.BitsLeft():
		return false
	case t.bits > 64:
		d.large(s, t.bits, t.kind == asInt)
	case t.kind == asInt:
		d.out = append(strconv.AppendInt(append(d.out, '"'), s.Int(uint(t.bits)), 10), '"')
	default:
		n := s.Uint(uint(t.bits))
		d.decimal(n)
		return t.max == 0 || n <= t.max
	}
	return true
}

// large shows a number of more than 64 bits, which are there.
func (d *Decoder) large(s *toncell.Slice, n int, signed bool) {
	sign, _ := s.Peek(1)
	b := d.bytes[:(n+7)/8]
	from := 0
	if first := uint(n % 8); first > 0 { // bits that fill no whole byte
		b[0], from = byte(s.Uint(first)), 1
	}
	s.Read(b[from:])
	d.number.SetBytes(b)
	if signed && sign == 1 {
		d.number.Sub(&d.number, new(big.Int).Lsh(big.NewInt(1), uint(n)))
	}
	d.out = append(d.number.Append(append(d.out, '"'), 10), '"')
}

// varUint shows a VarUInteger, the length of which has some bits.
func (d *Decoder) varUint(s *toncell.Slice, lengthBits int) bool {
	n := int(s.Uint(uint(lengthBits)))
	if s.Failed() || n*8 > s.BitsLeft() {
		return false
	}
	d.out = append(d.out, `{"@type":"var_uint","len":"`...)
	d.out = strconv.AppendInt(d.out, int64(n), 10)
	d.out = append(d.out, `","value":`...)
	if n > 8 {
		d.large(s, n*8, false)
	} else {
		d.decimal(s.Uint(uint(n) * 8))
	}
	d.out = append(d.out, '}')
	return true
}

const upperHex = "0123456789ABCDEF"

// bits shows bits as hex digits. Where they fill no whole digit, a one, zeros and an
// underscore follow.
func (d *Decoder) bits(s *toncell.Slice, n int) bool {
	if n > s.BitsLeft() {
		return false
	}
	b := d.bytes[:(n+7)/8]
	s.ReadBits(b, n)
	d.out = append(d.out, '"')
	for _, x := range b[:n/8] {
		d.out = append(d.out, upperHex[x>>4], upperHex[x&15])
	}
	if rest := n % 8; rest > 0 {
		last := b[n/8]
		if rest >= 4 {
			d.out = append(d.out, upperHex[last>>4])
			last, rest = last<<4, rest-4
		}
		if rest > 0 {
			d.out = append(d.out, upperHex[last>>4|8>>rest], '_')
		}
	}
	d.out = append(d.out, '"')
	return true
}

// snake shows the text in the rest of a cell and in the chain of first references
// behind it.
func (d *Decoder) snake(s *toncell.Slice) bool {
	d.scratch = d.scratch[:0]
	for {
		n := s.BitsLeft()
		if n%8 != 0 || !d.read() || !d.fits(len(d.scratch)+n/8) {
			return false
		}
		at := len(d.scratch)
		d.scratch = append(d.scratch, d.bytes[:n/8]...)
		s.Read(d.scratch[at:])
		if s.RefsLeft() == 0 {
			break
		}
		if *s = s.Next(); s.Failed() {
			return false
		}
	}
	d.out = d.text(d.out, cleaned(string(d.scratch)))
	return d.fits(0)
}

// cleaned has replacement characters for zeros and for what is not UTF-8.
func cleaned(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// rest shows all that is left.
func (d *Decoder) rest(s *toncell.Slice) bool {
	shown := d.free(*s, toncell.Cell{})
	s.Skip(s.BitsLeft())
	for s.RefsLeft() > 0 {
		s.Ref()
	}
	return shown
}

// cell shows a cell that has no type.
func (d *Decoder) cell(c toncell.Cell) bool {
	if c.Kind() != toncell.Ordinary {
		return d.copy(c)
	}
	return d.free(c.Slice(), c)
}

// free shows what has no type: as a body where it is one, or else as a bag of cells.
// The cell is not valid where s is a part of one.
func (d *Decoder) free(s toncell.Slice, c toncell.Cell) bool {
	if isEmpty(&s) {
		d.out = append(d.out, emptyCell...)
		return true
	}
	if s.BitsLeft() >= opcodeBits && d.nested < maxNested && d.left.Bodies > 0 {
		d.left.Bodies--
		d.nested++
		shown := d.body(s)
		d.nested--
		if shown || d.err != nil {
			return shown
		}
	}
	if c.Valid() {
		return d.copy(c)
	}
	return d.copyPart(&s)
}

// copyPart shows what is left of a cell as a bag of cells: it is a cell of the bag
// while it is written.
func (d *Decoder) copyPart(s *toncell.Slice) bool {
	if !d.hash() {
		return false
	}
	var part toncell.Builder
	part.StoreRest(s)
	before := d.bag.Len()
	c, err := d.bag.Add(&part)
	if err != nil {
		return false
	}
	shown := d.copy(c)
	d.bag.Truncate(before)
	return shown
}

// hash gives the cells of the bag their hashes.
func (d *Decoder) hash() bool {
	if !d.hashed && d.err == nil {
		d.err = d.bag.Hash(d.bag.Root(0))
		d.hashed = d.err == nil
	}
	return d.err == nil
}

// copy shows a cell as a bag of cells without CRC-32C.
func (d *Decoder) copy(c toncell.Cell) bool {
	if !d.hash() {
		return false
	}
	size, err := d.writer.Prepare(c, MaxBytes)
	if err != nil {
		return false
	}
	if d.copied += d.writer.Cells(); d.copied > maxCopied {
		d.err = ErrLimit
	}
	if !d.fits(base64.StdEncoding.EncodedLen(size)) {
		return false
	}
	const hasCRC, crcSize = 0x40, 4
	d.boc = d.writer.Append(d.boc[:0])
	d.boc[4] &^= hasCRC
	d.out = append(base64.StdEncoding.AppendEncode(append(d.out, '"'), d.boc[:len(d.boc)-crcSize]), '"')
	return true
}

// lengthBits is how many bits numbers up to n have.
func lengthBits(n int) int { return bits.Len(uint(n)) }
