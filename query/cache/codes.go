package cache

import (
	"bytes"
	"context"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/sql"
	"tonscribe/ton/code"
)

// Hash is a 256-bit value.
type Hash = [32]byte

// CompareHashes is the order of hashes in tables.
func CompareHashes(a, b Hash) int { return bytes.Compare(a[:], b[:]) }

// HashesIn is the condition that the column hash has one of some values.
func HashesIn(list []Hash) sql.Condition {
	values := make([]sql.Bytes, len(list))
	for i := range list {
		values[i] = list[i][:]
	}
	return sql.Any("hash", values)
}

// Code is what is known of a contract's code. It does not change.
type Code struct {
	Hash Hash
	// Methods are the ids of its get-methods, ascending; nil when not known.
	Methods []uint32
	// Interfaces are the names of what it is; nil when it is nothing that has a
	// name, empty when that is not known.
	Interfaces []string
}

func (c *Code) bytes() int { return 128 + 4*len(c.Methods) + 16*len(c.Interfaces) }

// unknownCode is one of whose methods nothing is known: it may still be known by its hash.
func unknownCode(hash Hash) *Code {
	if name, ok := code.InterfaceOf(hash); ok {
		return &Code{Hash: hash, Interfaces: []string{name}}
	}
	return &Code{Hash: hash, Interfaces: []string{}}
}

// Codes are those with the hashes, be they in the table or not.
func (c *Cache) Codes(ctx context.Context, hashes []Hash) (map[Hash]*Code, error) {
	bundles := c.Memory()
	found, err := c.codes.at(ctx, hashes)
	if err != nil {
		return nil, err
	}
	held, err := heldCodes(ctx, bundles, hashes)
	if err != nil {
		return nil, err
	}
	for _, one := range held {
		found[Hash(one.Hash)] = codeOf(Hash(one.Hash), one.Methods, one.MethodsKnown)
	}
	for _, h := range hashes {
		if found[h] == nil {
			found[h] = unknownCode(h)
		}
	}
	return found, nil
}

func (c *Cache) readCodes(ctx context.Context, hashes []Hash) (map[Hash]*Code, error) {
	found := make(map[Hash]*Code, len(hashes))
	hash := proto.ColFixedStr{Size: len(Hash{})}
	methods := proto.NewArrUInt32()
	var known proto.ColBool
	result := proto.Results{{Name: "hash", Data: &hash}, {Name: "methods", Data: methods}, {Name: "methods_known", Data: &known}}
	err := c.reader.Run(ctx, "codes", "SELECT hash, methods, methods_known FROM codes WHERE "+HashesIn(hashes).String(), result, func(rows int) error {
		for i := range rows {
			h := Hash(hash.Row(i))
			found[h] = codeOf(h, methods.Row(i), known[i])
		}
		return nil
	})
	return found, err
}

// BoC is a code itself, as a bag of cells.
type BoC []byte

func (b BoC) bytes() int { return cap(b) }

// CodeBoCs are the codes themselves, as bags of cells; those that are not there
// are missing.
func (c *Cache) CodeBoCs(ctx context.Context, hashes []Hash) (map[Hash]BoC, error) {
	bundles := c.Memory()
	found, err := c.bocs.at(ctx, hashes)
	if err != nil {
		return nil, err
	}
	held, err := heldCodes(ctx, bundles, hashes)
	for _, one := range held {
		found[Hash(one.Hash)] = one.Boc
	}
	return found, err
}

func (c *Cache) readBoCs(ctx context.Context, hashes []Hash) (map[Hash]BoC, error) {
	found := make(map[Hash]BoC, len(hashes))
	hash := proto.ColFixedStr{Size: len(Hash{})}
	var column proto.ColStr
	result := proto.Results{{Name: "hash", Data: &hash}, {Name: "boc", Data: &column}}
	err := c.reader.Run(ctx, "codes", "SELECT hash, boc FROM codes WHERE "+HashesIn(hashes).String(), result, func(rows int) error {
		for i := range rows {
			found[Hash(hash.Row(i))] = slices.Clone(column.RowBytes(i))
		}
		return nil
	})
	return found, err
}
