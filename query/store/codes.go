package store

import (
	"context"
	"maps"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/ton/code"

	"tonscribe/query/sql"
)

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

// mostCodes bounds what is held.
const mostCodes = 1 << 16

// Codes are those with the hashes, each once. What is held does not change, so a
// code is read once in the life of the process.
func (s *Store) Codes(ctx context.Context, hashes []Hash) (map[Hash]*Code, error) {
	found := make(map[Hash]*Code, len(hashes))
	var missing []Hash
	now := time.Now()
	s.codesMutex.Lock()
	for _, h := range hashes {
		if c := s.codes[h]; c != nil && (c.retry.IsZero() || now.Before(c.retry)) {
			found[h] = c
		} else if _, asked := found[h]; !asked {
			found[h] = nil
			missing = append(missing, h)
		}
	}
	s.codesMutex.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	if err := s.readCodes(ctx, missing, found); err != nil {
		return nil, err
	}
	s.codesMutex.Lock()
	defer s.codesMutex.Unlock()
	if s.codes == nil || len(s.codes) > mostCodes {
		s.codes = map[Hash]*Code{}
	}
	for _, h := range missing {
		if found[h] == nil {
			found[h] = unknownCode(h, now)
		}
		s.codes[h] = found[h]
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

func hashes(list []Hash) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = sql.Hash(list[i][:])
	}
	return sql.In([]string{"hash"}, texts)
}

func (s *Store) readCodes(ctx context.Context, wanted []Hash, found map[Hash]*Code) error {
	hash := proto.ColFixedStr{Size: len(Hash{})}
	methods := proto.NewArrUInt32()
	var known proto.ColBool
	result := proto.Results{{Name: "hash", Data: &hash}, {Name: "methods", Data: methods}, {Name: "methods_known", Data: &known}}
	return s.reader.Run(ctx, "codes", "SELECT hash, methods, methods_known FROM codes WHERE "+hashes(wanted), result, func(rows int) error {
		for i := range rows {
			c := &Code{Hash: Hash(hash.Row(i)), Interfaces: []string{}}
			if known[i] {
				c.Methods = append([]uint32{}, methods.Row(i)...)
				c.Interfaces = code.Interfaces(c.Hash, c.Methods)
			} else if name, ok := code.InterfaceOf(c.Hash); ok {
				c.Interfaces = []string{name}
			}
			found[c.Hash] = c
		}
		return nil
	})
}

// mostCodeBytes bounds what is held of the codes themselves.
const mostCodeBytes = 16 << 20

// CodeBoCs are the codes themselves, as bags of cells; those that are not there
// are missing. The ones that were asked for last are held.
func (s *Store) CodeBoCs(ctx context.Context, wanted []Hash) (map[Hash][]byte, error) {
	found := make(map[Hash][]byte, len(wanted))
	var missing []Hash
	s.codesMutex.Lock()
	for _, h := range wanted {
		if boc, ok := s.bocs[h]; ok {
			found[h] = boc
		} else {
			missing = append(missing, h)
		}
	}
	s.codesMutex.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	read := make(map[Hash][]byte, len(missing))
	hash := proto.ColFixedStr{Size: len(Hash{})}
	var boc proto.ColStr
	err := s.reader.Run(ctx, "codes", "SELECT hash, boc FROM codes WHERE "+hashes(missing), proto.Results{{Name: "hash", Data: &hash}, {Name: "boc", Data: &boc}}, func(rows int) error {
		for i := range rows {
			read[Hash(hash.Row(i))] = append([]byte(nil), boc.RowBytes(i)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(found, read)
	s.codesMutex.Lock()
	defer s.codesMutex.Unlock()
	for h, boc := range read {
		if s.bocs == nil || s.bocBytes+len(boc) > mostCodeBytes {
			s.bocs, s.bocBytes = map[Hash][]byte{}, 0
		}
		if _, there := s.bocs[h]; !there {
			s.bocs[h], s.bocBytes = boc, s.bocBytes+len(boc)
		}
	}
	return found, nil
}
