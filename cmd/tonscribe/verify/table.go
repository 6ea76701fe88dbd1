package verify

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/cespare/xxhash/v2"

	"tonscribe/schema/record"
)

// table declares what the rows of a table should be.
type table struct {
	name string
	// of narrows a table that has rows of several kinds to one of them; empty
	// means all.
	of      string
	columns []column
	// key is how many of the columns, the first ones, are the key.
	key int
	// rows hands out the table's rows for an item; nil means one.
	rows func(i *item, add func(*item))
}

// item is what a row is made of.
type item struct {
	block       *record.Block
	transaction *record.Transaction
	message     *record.Message
	account     *record.Account
	contract    *record.Contract
	transfer    *transfer
	hash        []byte // of the block or message, the one that the row is for
	workchain   int32  // of the account
	prefix      uint64 // of the account
	id          []byte // of the account, of contracts and transfers only
	direction   uint64 // 0 consumed, 1 produced
	norm        uint64
}

// column declares a column: how it is read as 64-bit words, and which these
// should be.
type column struct {
	name  string
	form  form
	value func(*item) uint64
	bytes func(*item) []byte // of formHash, formWide and formText, instead of value
	// text is the expression of formText; empty means the column.
	text string
}

// form is what the words of a column mean.
type form int

const (
	formNumber form = iota
	formSigned
	formBits // of a hash, an account or a shard
	formEnum
	formHash // 32 bytes in four words
	formWide // a number of 256 bits in four words, the lowest first; its bytes are the magnitude
	formText // any text, in one word: its XXH64
)

// words are the expressions for the words of the column.
func (c column) words() []string {
	switch c.form {
	case formEnum:
		return []string{fmt.Sprintf("toUInt64(CAST(%s, 'Int8'))", c.name)}
	case formHash:
		var list []string
		for i := range 4 {
			list = append(list, fmt.Sprintf("reinterpretAsUInt64(substring(%s, %d, 8))", c.name, 8*i+1))
		}
		return list
	case formWide:
		var list []string
		for i := range 4 {
			list = append(list, fmt.Sprintf("reinterpretAsUInt64(substring(reinterpretAsFixedString(%s), %d, 8))", c.name, 8*i+1))
		}
		return list
	case formText:
		if c.text != "" {
			return []string{"xxHash64(" + c.text + ")"}
		}
		return []string{"xxHash64(" + c.name + ")"}
	}
	return []string{fmt.Sprintf("toUInt64(%s)", c.name)}
}

func (c column) width() int {
	if c.form == formHash || c.form == formWide {
		return 4
	}
	return 1
}

func (c column) append(dst []uint64, i *item) []uint64 {
	switch c.form {
	case formHash:
		var b [32]byte
		copy(b[:], c.bytes(i))
		for n := range 4 {
			dst = append(dst, binary.LittleEndian.Uint64(b[8*n:]))
		}
	case formWide:
		var b [32]byte
		magnitude := c.bytes(i)
		copy(b[max(0, 32-len(magnitude)):], magnitude)
		for n := range 4 {
			dst = append(dst, binary.BigEndian.Uint64(b[24-8*n:]))
		}
	case formText:
		dst = append(dst, xxhash.Sum64(c.bytes(i)))
	default:
		dst = append(dst, c.value(i))
	}
	return dst
}

// format writes a value so that it can stand in a condition.
func (c column) format(words []uint64) string {
	switch c.form {
	case formSigned, formEnum:
		return fmt.Sprint(int64(words[0]))
	case formBits:
		return fmt.Sprintf("0x%016x", words[0])
	case formHash:
		var b [32]byte
		for n, w := range words {
			binary.LittleEndian.PutUint64(b[8*n:], w)
		}
		return "unhex('" + hex.EncodeToString(b[:]) + "')"
	case formWide:
		n := new(big.Int)
		for at := 3; at >= 0; at-- {
			n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(words[at]))
		}
		return n.String()
	case formText:
		return fmt.Sprintf("a text with XXH64 %016x", words[0])
	}
	return fmt.Sprint(words[0])
}

// each hands out the rows of an item.
func (t *table) each(i *item, add func(*item)) {
	if t.rows == nil {
		add(i)
		return
	}
	t.rows(i, add)
}

// hash of the row that an item makes.
func (t *table) hash(i *item) uint64 {
	h := uint64(seed)
	var scratch [4]uint64
	for n := range t.columns {
		for _, word := range t.columns[n].append(scratch[:0], i) {
			h = intHash(h ^ word)
		}
	}
	return h
}

// row is an item's row in words.
func (t *table) row(i *item) []uint64 {
	row := make([]uint64, 0, len(t.columns)+3)
	for _, c := range t.columns {
		row = c.append(row, i)
	}
	return row
}

// hashSQL is the expression for the hash of a row.
func (t *table) hashSQL() string {
	h := fmt.Sprintf("toUInt64(%d)", uint64(seed))
	for _, w := range t.words() {
		h = fmt.Sprintf("intHash64(bitXor(%s, %s))", h, w)
	}
	return h
}

func (t *table) words() []string {
	var list []string
	for _, c := range t.columns {
		list = append(list, c.words()...)
	}
	return list
}

// keyWords is how many words the key has.
func (t *table) keyWords() (n int) {
	for _, c := range t.columns[:t.key] {
		n += c.width()
	}
	return n
}

func (t *table) keyNames() string {
	names := make([]string, t.key)
	for i, c := range t.columns[:t.key] {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// rowsOf is the condition for the table's rows of some bundles.
func (t *table) rowsOf(bundles string) string {
	if t.of == "" {
		return bundles
	}
	return t.of + " AND " + bundles
}

// where writes the key of a row as a condition.
func (t *table) where(row []uint64) string {
	var parts []string
	if t.of != "" {
		parts = append(parts, t.of)
	}
	for _, c := range t.columns[:t.key] {
		parts = append(parts, c.name+" = "+c.format(row[:c.width()]))
		row = row[c.width():]
	}
	return strings.Join(parts, " AND ")
}

// values writes a whole row.
func (t *table) values(row []uint64) string {
	var parts []string
	for _, c := range t.columns {
		parts = append(parts, c.name+" "+c.format(row[:c.width()]))
		row = row[c.width():]
	}
	return strings.Join(parts, ", ")
}

// firstColumn finds the first column in which two rows differ.
func (t *table) firstColumn(have, want []uint64) (name, haveValue, wantValue string) {
	for _, c := range t.columns {
		n := c.width()
		for w := range n {
			if have[w] != want[w] {
				return c.name, c.format(have[:n]), c.format(want[:n])
			}
		}
		have, want = have[n:], want[n:]
	}
	return "", "", ""
}
