package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/schema"
	"tonscribe/ton/address"

	"tonscribe/query/list"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
)

// Entry is what an address book says of an account.
type Entry struct {
	// Known says that the account is or was on the chain.
	Known bool
	// Code is nil when it has none.
	Code *Code
}

// directory holds which codes accounts have, of those that were active last when
// there are too many. It is read once, beside the requests, and then learns of
// the accounts of every bundle that becomes visible. An account that it does not
// hold has to be looked up.
type directory struct {
	turn    sync.Mutex // of those who bring it to a watermark
	mutex   sync.RWMutex
	held    map[uint64]holding
	codes   []Hash // what holdings name by number; the first is noCode
	numbers map[Hash]uint32
	upTo    uint32 // the bundle up to which it holds; 0 before it was read
	absent  map[uint64]absence
}

// absence is held of an account that was looked up in vain: much is sent to where
// nothing is. A replica may have its rows later, so that it does not last.
type absence struct {
	tag   uint32
	until time.Time
}

const (
	absentFor = 10 * time.Second
	// mostAbsent is how many are held.
	mostAbsent = 100_000
)

// holding is what is held of an account, 24 bytes with its key.
type holding struct {
	version uint64
	tag     uint32 // the last bytes of the account
	code    uint32
}

// unclear stands for a code that has to be looked up.
const unclear = ^uint32(0)

// noCode and notKnown stand for the absence of code, and of the account: no code
// has these hashes.
var noCode, notKnown = Hash{}, Hash{1}

// seed of the keys: nobody can make accounts that share one.
var seed = maphash.MakeSeed()

func keyAndTag(a *Address) (uint64, uint32) {
	return maphash.Bytes(seed, a[:]), binary.LittleEndian.Uint32(a[schema.AddressSize-4:])
}

func (d *directory) get(a Address) (Hash, bool) {
	key, tag := keyAndTag(&a)
	h, ok := d.held[key]
	switch {
	case ok && h.tag == tag && h.code != unclear:
		return d.codes[h.code], true
	case !ok:
		gone, ok := d.absent[key]
		return notKnown, ok && gone.tag == tag && time.Now().Before(gone.until)
	}
	return Hash{}, false
}

// miss keeps in mind which accounts were looked up in vain.
func (d *directory) miss(list []Address, found map[Address]Hash) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	until := time.Now().Add(absentFor)
	for _, a := range list {
		if found[a] != notKnown {
			continue
		}
		if d.absent == nil || len(d.absent) >= mostAbsent {
			d.absent = map[uint64]absence{}
		}
		key, tag := keyAndTag(&a)
		d.absent[key] = absence{tag, until}
	}
}

// put adds what a row says: of an account's rows the one with the greatest
// version counts. Of two accounts that share a key one is held.
func (d *directory) put(a Address, version uint64, code uint32) {
	key, tag := keyAndTag(&a)
	if old, there := d.held[key]; !there || old.tag != tag || old.version <= version {
		d.held[key] = holding{version, tag, code}
	}
}

// number is how holdings name a code.
func (d *directory) number(code Hash) uint32 {
	n, ok := d.numbers[code]
	if !ok {
		n = uint32(len(d.codes))
		d.codes, d.numbers[code] = append(d.codes, code), n
	}
	return n
}

// readDirectory fills the directory anew.
func (s *Store) readDirectory(ctx context.Context, v *View) error {
	after, err := s.beforeDirectory(ctx)
	if err != nil {
		return err
	}
	fresh := &directory{held: map[uint64]holding{}, codes: []Hash{noCode}, numbers: map[Hash]uint32{noCode: 0}}
	if err := s.holdAccounts(ctx, after, fresh); err != nil {
		return err
	}
	d := &s.directory
	d.turn.Lock()
	defer d.turn.Unlock()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.held, d.codes, d.numbers, d.upTo = fresh.held, fresh.codes, fresh.numbers, v.Watermark
	s.metrics.directory.Set(float64(len(d.held)))
	return nil
}

// beforeDirectory is the bundle behind which about as many accounts were active
// last as the directory may hold, -1 when it may hold all.
func (s *Store) beforeDirectory(ctx context.Context) (int64, error) {
	budget := uint64(s.configuration.DirectoryAccounts)
	rows, err := s.rowsOf(ctx, "accounts", "count()")
	if err == nil && rows > budget && rows <= 4*budget { // before merges an account may have several
		rows, err = s.rowsOf(ctx, "accounts", "uniq(workchain, account)")
	}
	if err != nil || rows <= budget {
		return -1, err
	}
	level := 1 - float64(budget)/float64(rows)
	bound, err := s.reader.Number(ctx, "directory", fmt.Sprintf("SELECT toUInt64(quantileTDigest(%g)(mc_seqno)) AS n FROM accounts", level))
	return int64(bound) - 1, err
}

// rowsOf is a number of the rows of a table.
func (s *Store) rowsOf(ctx context.Context, table, number string) (uint64, error) {
	return s.reader.Number(ctx, "directory", "SELECT "+number+" AS n FROM "+table)
}

// holdAccounts adds the accounts whose rows came after a bundle.
func (s *Store) holdAccounts(ctx context.Context, after int64, d *directory) error {
	var workchain proto.ColInt32
	var version proto.ColUInt64
	var active proto.ColUInt8
	account, code := proto.ColFixedStr{Size: 32}, proto.ColFixedStr{Size: 32}
	result := proto.Results{
		{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version},
		{Name: "code_hash", Data: &code}, {Name: "active", Data: &active},
	}
	statement := fmt.Sprintf("SELECT workchain, account, version, code_hash, status = 'active' AS active FROM accounts WHERE mc_seqno > %d", after)
	return s.reader.Run(ctx, "directory", statement, result, func(rows int) error {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		for i := range rows {
			number := unclear
			// An active account without a code is one whose code is not known yet.
			if hash := Hash(code.Row(i)); hash != noCode || active[i] == 0 {
				number = d.number(hash)
			}
			d.put(address.New(workchain[i], account.Row(i)), version[i], number)
		}
		return nil
	})
}

// learn brings the directory to the view, once it was read, and says whether it
// can be used.
func (d *directory) learn(ctx context.Context, s *Store, v *View) (bool, error) {
	if upTo := d.holdsUpTo(); upTo == 0 || upTo >= v.Watermark {
		return upTo > 0, nil
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	return d.learnInTurn(ctx, s, v)
}

// learnInTurn is what one at a time does; whoever had the turn before may have
// done it, or dropped everything.
func (d *directory) learnInTurn(ctx context.Context, s *Store, v *View) (bool, error) {
	upTo := d.holdsUpTo()
	if upTo == 0 || upTo >= v.Watermark {
		return upTo > 0, nil
	}
	if err := s.holdAccounts(ctx, int64(upTo), d); err != nil {
		return false, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.upTo = v.Watermark
	if len(d.held) > 2*s.configuration.DirectoryAccounts {
		d.held, d.upTo = nil, 0 // to be read anew
	}
	s.metrics.directory.Set(float64(len(d.held)))
	return d.upTo > 0, nil
}

func (d *directory) holdsUpTo() uint32 {
	d.mutex.RLock()
	defer d.mutex.RUnlock()
	return d.upTo
}

// Directory has an entry for every account of the list.
func (s *Store) Directory(ctx context.Context, v *View, list []Address) (map[Address]Entry, error) {
	codes, err := s.codesOf(ctx, v, list)
	if err != nil {
		return nil, err
	}
	wanted := make([]Hash, 0, len(codes))
	for _, h := range codes {
		if h != noCode && h != notKnown {
			wanted = append(wanted, h)
		}
	}
	known, err := s.Codes(ctx, wanted)
	if err != nil {
		return nil, err
	}
	entries := make(map[Address]Entry, len(codes))
	for a, h := range codes {
		entries[a] = Entry{Known: h != notKnown, Code: known[h]}
	}
	return entries, nil
}

// codesOf gives the code hash of every account, or noCode or notKnown.
func (s *Store) codesOf(ctx context.Context, v *View, list []Address) (map[Address]Hash, error) {
	found := make(map[Address]Hash, len(list))
	if len(list) == 0 {
		return found, nil
	}
	d := &s.directory
	usable, err := d.learn(ctx, s, v)
	if err != nil {
		return nil, err
	}
	missing := list
	if usable {
		missing = nil
		d.mutex.RLock()
		for _, a := range list {
			if h, ok := d.get(a); ok {
				found[a] = h
			} else {
				missing = append(missing, a)
			}
		}
		d.mutex.RUnlock()
	}
	for _, a := range missing {
		found[a] = notKnown
	}
	if err := s.readCodesOf(ctx, missing, found); err != nil {
		return nil, err
	}
	if usable && len(missing) > 0 {
		d.miss(missing, found)
	}
	return found, nil
}

func (s *Store) readCodesOf(ctx context.Context, accounts []Address, found map[Address]Hash) error {
	var mutex sync.Mutex
	versions := make(map[Address]uint64, len(accounts))
	_, err := reader.Gather(ctx, reader.Chunks(accounts, s.reader.Splits(len(accounts)), list.CompareAddresses), func(ctx context.Context, part []Address) ([]struct{}, error) {
		var workchain proto.ColInt32
		account, code := proto.ColFixedStr{Size: 32}, proto.ColFixedStr{Size: 32}
		var version proto.ColUInt64
		result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version}, {Name: "code_hash", Data: &code}}
		statement := "SELECT workchain, account, version, code_hash FROM accounts WHERE " + sql.AnyAccount(sql.Account, part)
		return nil, s.reader.Run(ctx, "directory", statement, result, func(rows int) error {
			mutex.Lock()
			defer mutex.Unlock()
			for i := range rows {
				a := address.New(workchain[i], account.Row(i))
				if _, wanted := found[a]; wanted && version[i] >= versions[a] {
					found[a], versions[a] = Hash(code.Row(i)), version[i]
				}
			}
			return nil
		})
	})
	return err
}
