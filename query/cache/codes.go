package cache

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/ton/code"

	"tonscribe/query/reader"
	"tonscribe/query/sql"
)

// Hash is a 256-bit value.
type Hash = [32]byte

// Code is what is known of a contract's code.
type Code struct {
	Hash Hash
	// Methods are the ids of its get-methods, ascending; nil when not known.
	Methods []uint32
	// Interfaces are the names of what it is; nil when it is nothing that has a
	// name, empty when that is not known.
	Interfaces []string
	// retry says when a code that was not in the table is looked for again.
	retry time.Time
}

// codeRetry is how long a code that is not in the table is not looked for.
const codeRetry = 10 * time.Second

// maxCodes bounds what is held.
const maxCodes = 1 << 16

// Codes holds what is known of codes. It does not change, so a code is read once in
// the life of the process.
type Codes struct {
	reader *reader.Reader
	mutex  sync.Mutex
	held   map[Hash]*Code
	bocs   map[Hash][]byte // of some
	bytes  int             // of those
}

// NewCodes makes an empty cache.
func NewCodes(r *reader.Reader) *Codes { return &Codes{reader: r} }

// Get returns those with the hashes, each once.
func (c *Codes) Get(ctx context.Context, hashes []Hash) (map[Hash]*Code, error) {
	found := make(map[Hash]*Code, len(hashes))
	var missing []Hash
	now := time.Now()
	c.mutex.Lock()
	for _, h := range hashes {
		if known := c.held[h]; known != nil && (known.retry.IsZero() || now.Before(known.retry)) {
			found[h] = known
		} else if _, asked := found[h]; !asked {
			found[h] = nil
			missing = append(missing, h)
		}
	}
	c.mutex.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	if err := c.read(ctx, missing, found); err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.held == nil || len(c.held) > maxCodes {
		c.held = map[Hash]*Code{}
	}
	for _, h := range missing {
		if found[h] == nil {
			found[h] = unknownCode(h, now)
		}
		c.held[h] = found[h]
	}
	return found, nil
}

// unknownCode is a code that is not in the table: it may still be known by its
// hash.
func unknownCode(hash Hash, now time.Time) *Code {
	c := &Code{Hash: hash, Interfaces: []string{}, retry: now.Add(codeRetry)}
	if name, ok := code.InterfaceOf(hash); ok {
		c.Interfaces = []string{name}
	}
	return c
}

// HashesIn is the condition that the column hash has one of some values.
func HashesIn(list []Hash) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = sql.Hash(list[i][:])
	}
	return sql.In([]string{"hash"}, texts)
}

func (c *Codes) read(ctx context.Context, wanted []Hash, found map[Hash]*Code) error {
	hash := proto.ColFixedStr{Size: len(Hash{})}
	methods := proto.NewArrUInt32()
	var known proto.ColBool
	result := proto.Results{{Name: "hash", Data: &hash}, {Name: "methods", Data: methods}, {Name: "methods_known", Data: &known}}
	return c.reader.Run(ctx, "codes", "SELECT hash, methods, methods_known FROM codes WHERE "+HashesIn(wanted), result, func(rows int) error {
		for i := range rows {
			one := &Code{Hash: Hash(hash.Row(i)), Interfaces: []string{}}
			if known[i] {
				one.Methods = append([]uint32{}, methods.Row(i)...)
				one.Interfaces = code.Interfaces(one.Hash, one.Methods)
			} else if name, ok := code.InterfaceOf(one.Hash); ok {
				one.Interfaces = []string{name}
			}
			found[one.Hash] = one
		}
		return nil
	})
}

// maxCodeBytes bounds what is held of the codes themselves.
const maxCodeBytes = 16 << 20

// BoCs are the codes themselves, as bags of cells; those that are not there
// are missing. The ones that were asked for last are held.
func (c *Codes) BoCs(ctx context.Context, wanted []Hash) (map[Hash][]byte, error) {
	found := make(map[Hash][]byte, len(wanted))
	var missing []Hash
	c.mutex.Lock()
	for _, h := range wanted {
		if boc, ok := c.bocs[h]; ok {
			found[h] = boc
		} else {
			missing = append(missing, h)
		}
	}
	c.mutex.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	read := make(map[Hash][]byte, len(missing))
	hash := proto.ColFixedStr{Size: len(Hash{})}
	var boc proto.ColStr
	err := c.reader.Run(ctx, "codes", "SELECT hash, boc FROM codes WHERE "+HashesIn(missing), proto.Results{{Name: "hash", Data: &hash}, {Name: "boc", Data: &boc}}, func(rows int) error {
		for i := range rows {
			read[Hash(hash.Row(i))] = append([]byte(nil), boc.RowBytes(i)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(found, read)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for h, boc := range read {
		if c.bocs == nil || c.bytes+len(boc) > maxCodeBytes {
			c.bocs, c.bytes = map[Hash][]byte{}, 0
		}
		if _, there := c.bocs[h]; !there {
			c.bocs[h], c.bytes = boc, c.bytes+len(boc)
		}
	}
	return found, nil
}
