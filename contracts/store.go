package contracts

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/rs/zerolog"

	"tonscribe/internal/descriptors"
	"tonscribe/internal/localstore"
)

// The store's keys begin with one of these. Accounts are 36 bytes, hashes 32.
const (
	keyEntry    = 'a' // account → entry
	keyArrived  = 'b' // masterchain seqno → AccountBatch: what lite servers gave for the bundle
	keyCode     = 'c' // code hash → BoC
	keyHeld     = 'h' // account → nothing: transfers wait for it, of which nothing else is known
	keyLibrary  = 'l' // library hash → BoC
	keyMessage  = 'm' // message hash → account, lt of the transfer that it carries
	keyAsked    = 'q' // library hash, parent → nothing: the parent's children are to be checked again when it has come
	keyParent   = 'p' // account → state of a contract that others are checked against
	keyRetry    = 'r' // parent → the child after which its children are to be checked
	keyTransfer = 't' // account, lt → transfer or burn that is not finished
	keyUnread   = 'u' // hash of a code or library, account → Account that is looked into when that has come
	keyLacks    = 'v' // account → the hash under which it is unread
	keyWaiting  = 'w' // parent, child → nothing: a claim that waits
	keyCame     = 'x' // hash of a code or library that has come, for which accounts are unread
	keyConfig   = 'C' // masterchain seqno → parameters of the chain from that bundle on, BoC
	keyMarker   = 'M' // → masterchain seqno of the last bundle that is done
	keyVersion  = 'V' // → version of this layout
)

const storeVersion = 2

// store is what the stage remembers. Reads see what was written to the batch.
type store struct {
	stored localstore.Store
	db     *localstore.DB
	cache  *pebble.Cache
	batch  *pebble.Batch
	marker uint32 // in the batch
}

func openStore(c Configuration, log zerolog.Logger) (*store, error) {
	cache := pebble.NewCache(c.CacheBytes)
	options := &pebble.Options{Cache: cache, MaxOpenFiles: descriptors.StoreFiles()}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	stored := localstore.Store{Dir: c.Dir, Log: log, Remedy: "stop, delete the folder " + c.Dir + " and start again; contracts then reads the log again from its oldest bundle, and what is older comes from lite servers"}
	db, err := stored.Open(options)
	if err != nil {
		cache.Unref()
		return nil, fmt.Errorf("contracts: store %s: %w", c.Dir, err)
	}
	s := &store{stored: stored, db: db, cache: cache, batch: db.NewIndexedBatch()}
	if err := s.check(); err != nil {
		return nil, errors.Join(fmt.Errorf("contracts: store %s: %w", c.Dir, err), s.close())
	}
	return s, nil
}

// check reads the marker and refuses another layout.
func (s *store) check() error {
	version, err := s.get(keyVersion)
	if err != nil {
		return err
	}
	marker, err := s.get(keyMarker)
	if err != nil {
		return err
	}
	switch {
	case version == nil && marker == nil:
		return s.set([]byte{storeVersion}, keyVersion)
	case len(version) != 1 || version[0] != storeVersion || marker != nil && len(marker) != 4:
		return fmt.Errorf("its layout is %x, this program knows %d: delete the folder to build it anew", version, storeVersion)
	case marker != nil:
		s.marker = binary.BigEndian.Uint32(marker)
	}
	return nil
}

func (s *store) close() error {
	var err error
	if s.batch != nil {
		err = s.batch.Close()
	}
	err = errors.Join(err, s.db.Close())
	s.cache.Unref()
	return err
}

// commit makes everything durable up to the bundle.
func (s *store) commit() error {
	batch := s.batch
	s.batch = nil // it is the commit's
	err := s.db.Do(func() error {
		err := batch.Commit(pebble.Sync)
		return errors.Join(err, batch.Close())
	})
	if err != nil {
		return fmt.Errorf("contracts: store: %w", err)
	}
	s.batch = s.db.NewIndexedBatch()
	return nil
}

func (s *store) mark(mcSeqno uint32) error {
	s.marker = mcSeqno
	return s.set(number(mcSeqno), keyMarker)
}

// number is a part of a key or a value: four bytes in the order of numbers.
func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func key(kind byte, parts ...[]byte) []byte {
	k := []byte{kind}
	for _, part := range parts {
		k = append(k, part...)
	}
	return k
}

// get gives a copy of a value, nil when there is none.
func (s *store) get(kind byte, parts ...[]byte) ([]byte, error) {
	value, closer, err := s.batch.Get(key(kind, parts...))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("contracts: store: %w", s.stored.Explain(err))
	}
	value = append([]byte{}, value...)
	return value, closer.Close()
}

func (s *store) set(value []byte, kind byte, parts ...[]byte) error {
	if err := s.batch.Set(key(kind, parts...), value, nil); err != nil {
		return fmt.Errorf("contracts: store: %w", s.stored.Explain(err))
	}
	return nil
}

func (s *store) delete(kind byte, parts ...[]byte) error {
	if err := s.batch.Delete(key(kind, parts...), nil); err != nil {
		return fmt.Errorf("contracts: store: %w", s.stored.Explain(err))
	}
	return nil
}

// newest is the value of the highest key that begins with a kind and whose rest
// is a number up to the one given; nil when there is none.
func (s *store) newest(kind byte, upTo uint32) (value []byte, err error) {
	it, err := s.batch.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: append(binary.BigEndian.AppendUint32([]byte{kind}, upTo), 0)})
	if err != nil {
		return nil, fmt.Errorf("contracts: store: %w", s.stored.Explain(err))
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if it.Last() {
		value = append([]byte{}, it.Value()...)
	}
	return value, s.stored.Explain(it.Error())
}

// setNow stores a value at once, for good, whatever becomes of the batch.
func (s *store) setNow(value []byte, kind byte, parts ...[]byte) error {
	if err := s.db.Do(func() error { return s.db.Set(key(kind, parts...), value, pebble.Sync) }); err != nil {
		return fmt.Errorf("contracts: store: %w", err)
	}
	return nil
}

// each visits the keys that begin with a prefix, without the prefix, after the
// one given, until visit gives false.
func (s *store) each(prefix, after []byte, visit func(rest, value []byte) bool) (err error) {
	lower := append(append([]byte{}, prefix...), after...)
	if len(after) > 0 {
		lower = append(lower, 0)
	}
	upper := append([]byte{}, prefix...)
	for i := len(upper) - 1; i >= 0; i-- {
		if upper[i]++; upper[i] != 0 {
			break
		}
	}
	it, err := s.batch.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return fmt.Errorf("contracts: store: %w", s.stored.Explain(err))
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		if !visit(append([]byte{}, it.Key()[len(prefix):]...), append([]byte{}, it.Value()...)) {
			break
		}
	}
	return s.stored.Explain(it.Error())
}
