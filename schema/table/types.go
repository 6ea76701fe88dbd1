package table

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Type is a ClickHouse type of columns. Its values are Vs in memory, which the
// driver takes as a slice without reflection.
//
// For sums a value is one or four words of 64 bits, which Go and ClickHouse make
// alike.
type Type[V any] struct {
	name   string
	wide   bool // four words
	signed bool
	words  func(V) [4]uint64
	// expressions are the words in SQL, %s being the column.
	expressions string
	// text writes words so that they can stand in a condition.
	text func([]uint64) string
	// named are the values that have names.
	named map[string]int8
}

// The types of columns.
var (
	UInt8   = numbers[uint8]("UInt8")
	UInt16  = numbers[uint16]("UInt16")
	UInt32  = numbers[uint32]("UInt32")
	UInt64  = numbers[uint64]("UInt64")
	Int32   = signed[int32]("Int32")
	Int64   = signed[int64]("Int64")
	UInt256 = Type[*big.Int]{name: "UInt256", wide: true, words: wordsOfNumber, text: textOfNumber,
		expressions: "reinterpretAsUInt64(substring(reinterpretAsFixedString(%s), {at}, 8))"}
	Bool = Type[bool]{name: "Bool", expressions: "%s", text: textOf[uint64], words: func(v bool) [4]uint64 {
		if v {
			return [4]uint64{1}
		}
		return [4]uint64{}
	}}
	// Prefix is the first 64 bits of a hash or an account id, or a shard; ShortPrefix
	// the first 32 of a hash.
	Prefix      = inHex(UInt64)
	ShortPrefix = inHex(UInt32)
	// Hash is 32 bytes.
	Hash = Type[[]byte]{name: "FixedString(32)", wide: true, words: wordsOfHash, text: textOfHash,
		expressions: "reinterpretAsUInt64(substring(%s, {at}, 8))"}
	String = texts("String", "%s", func(v string) string { return v })
	// Word is one of few strings.
	Word    = texts("LowCardinality(String)", "%s", func(v string) string { return v })
	Strings = texts("Array(String)", "arrayStringConcat(%s, '\\n')", func(v []string) string { return strings.Join(v, "\n") })
	UInt32s = texts("Array(UInt32)", "arrayStringConcat(arrayMap(n -> toString(n), %s), '\\n')", func(v []uint32) string {
		return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(v)), "\n"), "[]")
	})
)

// Enum8 is a type of named values, which begin with first and follow each other.
func Enum8(first int8, names ...string) Type[int8] {
	values, named := make([]string, len(names)), make(map[string]int8, len(names))
	for i, name := range names {
		named[name] = first + int8(i)
		values[i] = fmt.Sprintf("'%s' = %d", name, named[name])
	}
	t := signed[int8]("Enum8(" + strings.Join(values, ", ") + ")")
	t.named = named
	t.expressions = "toUInt64(CAST(%s, 'Int8'))"
	t.text = func(words []uint64) string {
		if i := int64(words[0]) - int64(first); i >= 0 && i < int64(len(names)) {
			return "'" + names[i] + "'"
		}
		return textOf[int64](words)
	}
	return t
}

func numbers[V uint8 | uint16 | uint32 | uint64](name string) Type[V] {
	return Type[V]{name: name, words: func(v V) [4]uint64 { return [4]uint64{uint64(v)} }, expressions: "%s", text: textOf[uint64]}
}

func signed[V int8 | int32 | int64](name string) Type[V] {
	return Type[V]{name: name, signed: true, words: func(v V) [4]uint64 { return [4]uint64{uint64(int64(v))} }, expressions: "toUInt64(%s)", text: textOf[int64]}
}

func inHex[V any](t Type[V]) Type[V] {
	t.text = func(words []uint64) string { return fmt.Sprintf("0x%016x", words[0]) }
	return t
}

// texts is a type whose only word is the XXH64 of a text.
func texts[V any](name, expression string, text func(V) string) Type[V] {
	return Type[V]{
		name: name, words: func(v V) [4]uint64 { return [4]uint64{xxhash.Sum64String(text(v))} }, expressions: "xxHash64(" + expression + ")",
		text: func(words []uint64) string { return fmt.Sprintf("a text with XXH64 %016x", words[0]) },
	}
}

func textOf[N uint64 | int64](words []uint64) string { return fmt.Sprint(N(words[0])) }

func wordsOfHash(v []byte) (w [4]uint64) {
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(v[8*i:])
	}
	return w
}

func textOfHash(words []uint64) string {
	var b [32]byte
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return "unhex('" + hex.EncodeToString(b[:]) + "')"
}

// wordsOfNumber are the words of a number of 256 bits, the lowest first.
func wordsOfNumber(v *big.Int) (w [4]uint64) {
	var b [32]byte
	v.FillBytes(b[:])
	for i := range w {
		w[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return w
}

func textOfNumber(words []uint64) string {
	n := new(big.Int)
	for i := 3; i >= 0; i-- {
		n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(words[i]))
	}
	return n.String()
}
