package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/query/list"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/ton/address"
)

// CodeHashes holds which codes accounts have, of those that were active last when
// there are too many. It is read once, beside the requests, and then learns of
// the accounts of every bundle that becomes visible. An account that it does not
// hold has to be looked up.
type CodeHashes struct {
	reader   *reader.Reader
	accounts int // about so many are held; 0 holds none
	count    prometheus.Gauge
	turn     sync.Mutex // of those who bring it to a watermark
	mutex    sync.RWMutex
	held     map[uint64]holding
	codes    []Hash // what holdings name by number; the first is NoCode
	numbers  map[Hash]uint32
	upTo     uint32 // the bundle up to which it holds; 0 before it was read
	absent   map[uint64]absence
}

// NewCodeHashes makes an empty cache of about so many accounts; 0 holds none.
func NewCodeHashes(r *reader.Reader, accounts int, count prometheus.Gauge) *CodeHashes {
	return &CodeHashes{reader: r, accounts: accounts, count: count}
}

// absence is held of an account that was looked up in vain: much is sent to where
// nothing is. A replica may have its rows later, so that it does not last.
type absence struct {
	tag   uint32
	until time.Time
}

const (
	absentFor = 10 * time.Second
	// maxAbsent is how many are held.
	maxAbsent = 100_000
)

// holding is what is held of an account, 24 bytes with its key.
type holding struct {
	version uint64
	tag     uint32 // the last bytes of the account
	code    uint32
}

// unclear stands for a code that has to be looked up.
const unclear = ^uint32(0)

// NoCode and NotKnown stand for the absence of code, and of the account: no code
// has these hashes.
var NoCode, NotKnown = Hash{}, Hash{1}

func keyAndTag(a *address.Address) (uint64, uint32) {
	return maphash.Bytes(seed, a[:]), binary.LittleEndian.Uint32(a[schema.AddressSize-4:])
}

func (d *CodeHashes) get(a address.Address) (Hash, bool) {
	key, tag := keyAndTag(&a)
	h, ok := d.held[key]
	switch {
	case ok && h.tag == tag && h.code != unclear:
		return d.codes[h.code], true
	case !ok:
		gone, ok := d.absent[key]
		return NotKnown, ok && gone.tag == tag && time.Now().Before(gone.until)
	}
	return Hash{}, false
}

// miss keeps in mind which accounts were looked up in vain.
func (d *CodeHashes) miss(list []address.Address, found map[address.Address]Hash) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	until := time.Now().Add(absentFor)
	for _, a := range list {
		if found[a] != NotKnown {
			continue
		}
		if d.absent == nil || len(d.absent) >= maxAbsent {
			d.absent = map[uint64]absence{}
		}
		key, tag := keyAndTag(&a)
		d.absent[key] = absence{tag, until}
	}
}

// put adds what a row says: of an account's rows the one with the greatest
// version counts. Of two accounts that share a key one is held.
func (d *CodeHashes) put(a address.Address, version uint64, code uint32) {
	key, tag := keyAndTag(&a)
	if old, there := d.held[key]; !there || old.tag != tag || old.version <= version {
		d.held[key] = holding{version, tag, code}
	}
}

// number is how holdings name a code.
func (d *CodeHashes) number(code Hash) uint32 {
	n, ok := d.numbers[code]
	if !ok {
		n = uint32(len(d.codes))
		d.codes, d.numbers[code] = append(d.codes, code), n
	}
	return n
}

// Fill reads what is held anew.
func (d *CodeHashes) Fill(ctx context.Context, watermark uint32) error {
	after, err := d.before(ctx)
	if err != nil {
		return err
	}
	fresh := &CodeHashes{held: map[uint64]holding{}, codes: []Hash{NoCode}, numbers: map[Hash]uint32{NoCode: 0}}
	if err := d.readAfter(ctx, after, fresh); err != nil {
		return err
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.held, d.codes, d.numbers, d.upTo = fresh.held, fresh.codes, fresh.numbers, watermark
	d.count.Set(float64(len(d.held)))
	return nil
}

// before is the bundle behind which about as many accounts were active
// last as the directory may hold, -1 when it may hold all.
func (d *CodeHashes) before(ctx context.Context) (int64, error) {
	budget := uint64(d.accounts)
	rows, err := d.rows(ctx, "count()")
	if err == nil && rows > budget && rows <= 4*budget { // before merges an account may have several
		rows, err = d.rows(ctx, "uniq(workchain, account)")
	}
	if err != nil || rows <= budget {
		return -1, err
	}
	level := 1 - float64(budget)/float64(rows)
	bound, err := d.reader.Number(ctx, "directory", fmt.Sprintf("SELECT toUInt64(quantileTDigest(%g)(mc_seqno)) AS n FROM accounts", level))
	return int64(bound) - 1, err
}

// rows is a number of the rows of the table.
func (d *CodeHashes) rows(ctx context.Context, number string) (uint64, error) {
	return d.reader.Number(ctx, "directory", "SELECT "+number+" AS n FROM accounts")
}

// readAfter adds the accounts whose rows came after a bundle.
func (d *CodeHashes) readAfter(ctx context.Context, after int64, into *CodeHashes) error {
	var workchain proto.ColInt32
	var version proto.ColUInt64
	var active proto.ColUInt8
	account, code := proto.ColFixedStr{Size: 32}, proto.ColFixedStr{Size: 32}
	result := proto.Results{
		{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version},
		{Name: "code_hash", Data: &code}, {Name: "active", Data: &active},
	}
	statement := fmt.Sprintf("SELECT workchain, account, version, code_hash, status = 'active' AS active FROM accounts WHERE mc_seqno > %d", after)
	return d.reader.Run(ctx, "directory", statement, result, func(rows int) error {
		into.mutex.Lock()
		defer into.mutex.Unlock()
		for i := range rows {
			number := unclear
			// An active account without a code is one whose code is not known yet.
			if hash := Hash(code.Row(i)); hash != NoCode || active[i] == 0 {
				number = into.number(hash)
			}
			into.put(address.New(workchain[i], account.Row(i)), version[i], number)
		}
		return nil
	})
}

// Advance brings what is held to a watermark, once it was read, and reports whether
// it can be used.
func (d *CodeHashes) Advance(ctx context.Context, watermark uint32) (bool, error) {
	if upTo := d.UpTo(); upTo == 0 || upTo >= watermark {
		return upTo > 0, nil
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	return d.advanceInTurn(ctx, watermark)
}

// advanceInTurn is what one at a time does; whoever had the turn before may have
// done it, or dropped everything.
func (d *CodeHashes) advanceInTurn(ctx context.Context, watermark uint32) (bool, error) {
	upTo := d.UpTo()
	if upTo == 0 || upTo >= watermark {
		return upTo > 0, nil
	}
	if err := d.readAfter(ctx, int64(upTo), d); err != nil {
		return false, err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.upTo = watermark
	if len(d.held) > 2*d.accounts {
		d.held, d.upTo = nil, 0 // to be read anew
	}
	d.count.Set(float64(len(d.held)))
	return d.upTo > 0, nil
}

// UpTo is the bundle up to which it holds, 0 before it was read.
func (d *CodeHashes) UpTo() uint32 {
	d.mutex.RLock()
	defer d.mutex.RUnlock()
	return d.upTo
}

// Of gives the code hash of every account, or NoCode or NotKnown.
func (d *CodeHashes) Of(ctx context.Context, watermark uint32, accounts []address.Address) (map[address.Address]Hash, error) {
	found := make(map[address.Address]Hash, len(accounts))
	if len(accounts) == 0 {
		return found, nil
	}
	usable, err := d.Advance(ctx, watermark)
	if err != nil {
		return nil, err
	}
	missing := accounts
	if usable {
		missing = nil
		d.mutex.RLock()
		for _, a := range accounts {
			if h, ok := d.get(a); ok {
				found[a] = h
			} else {
				missing = append(missing, a)
			}
		}
		d.mutex.RUnlock()
	}
	for _, a := range missing {
		found[a] = NotKnown
	}
	if err := d.read(ctx, missing, found); err != nil {
		return nil, err
	}
	if usable && len(missing) > 0 {
		d.miss(missing, found)
	}
	return found, nil
}

func (d *CodeHashes) read(ctx context.Context, accounts []address.Address, found map[address.Address]Hash) error {
	var mutex sync.Mutex
	versions := make(map[address.Address]uint64, len(accounts))
	_, err := reader.Gather(ctx, reader.Chunks(accounts, d.reader.Splits(len(accounts)), list.CompareAddresses), func(ctx context.Context, part []address.Address) ([]struct{}, error) {
		var workchain proto.ColInt32
		account, code := proto.ColFixedStr{Size: 32}, proto.ColFixedStr{Size: 32}
		var version proto.ColUInt64
		result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version}, {Name: "code_hash", Data: &code}}
		statement := "SELECT workchain, account, version, code_hash FROM accounts WHERE " + sql.AnyAccount(sql.Account, part)
		return nil, d.reader.Run(ctx, "directory", statement, result, func(rows int) error {
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
