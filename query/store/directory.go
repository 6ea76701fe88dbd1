package store

import (
	"context"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Entry is what an address book says of an account.
type Entry struct {
	// Known says that the account is or was on the chain.
	Known bool
	// Code is nil when it has none.
	Code *Code
}

// mostEntries is how many accounts a directory remembers, at least; at most
// twice as many.
const mostEntries = 100_000

// entryAge bounds how long an entry is believed: an account of a zerostate comes
// without a transaction.
const entryAge = time.Minute

// directory remembers which code accounts have. An account's code changes by a
// transaction, and the follower tells of the accounts of every new bundle.
type directory struct {
	mutex      sync.Mutex
	young, old map[Address]Hash
	begun      time.Time // the younger half
	// turn changes when something was forgotten: what was read before may be old.
	turn uint64
}

// noCode and notKnown stand for the absence of code, and of the account: no code
// has these hashes.
var noCode, notKnown = Hash{}, Hash{1}

func (d *directory) get(a Address) (Hash, bool) {
	if h, ok := d.young[a]; ok {
		return h, true
	}
	h, ok := d.old[a]
	return h, ok
}

func (d *directory) put(a Address, h Hash) {
	if now := time.Now(); d.young == nil || len(d.young) >= mostEntries || now.Sub(d.begun) > entryAge {
		d.young, d.old, d.begun = map[Address]Hash{}, d.young, now
	}
	d.young[a] = h
}

// learn takes the transactions of new bundles.
func (d *directory) learn(list []*record.Transaction) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.turn++
	for _, tx := range list {
		delete(d.young, Address(tx.Account))
		delete(d.old, Address(tx.Account))
	}
}

// forget empties the directory.
func (d *directory) forget() {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.turn++
	d.young, d.old = nil, nil
}

// Directory has an entry for every account of the list.
func (s *Store) Directory(ctx context.Context, list []Address) (map[Address]Entry, error) {
	codes, err := s.codesOf(ctx, list)
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
func (s *Store) codesOf(ctx context.Context, list []Address) (map[Address]Hash, error) {
	found := make(map[Address]Hash, len(list))
	var missing []Address
	d := &s.directory
	d.mutex.Lock()
	turn := d.turn
	for _, a := range list {
		if h, ok := d.get(a); ok {
			found[a] = h
		} else {
			found[a] = notKnown
			missing = append(missing, a)
		}
	}
	d.mutex.Unlock()
	if len(missing) == 0 {
		return found, nil
	}
	if err := s.readCodesOf(ctx, missing, found); err != nil {
		return nil, err
	}
	if s.configuration.HeadBlockBytes == 0 {
		return found, nil // nobody tells of new bundles
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.turn == turn {
		for _, a := range missing {
			d.put(a, found[a])
		}
	}
	return found, nil
}

func (s *Store) readCodesOf(ctx context.Context, list []Address, found map[Address]Hash) error {
	var mutex sync.Mutex
	versions := make(map[Address]uint64, len(list))
	return s.inAccountParts(ctx, list, func(ctx context.Context, part []Address) error {
		var workchain proto.ColInt32
		account, code := proto.ColFixedStr{Size: 32}, proto.ColFixedStr{Size: 32}
		var version proto.ColUInt64
		result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version}, {Name: "code_hash", Data: &code}}
		statement := "SELECT workchain, account, version, code_hash FROM accounts WHERE " + accounts("workchain", "account_prefix", part)
		return s.run(ctx, "directory", statement, result, func(rows int) error {
			mutex.Lock()
			defer mutex.Unlock()
			for i := range rows {
				a := joinAddress(workchain[i], account.Row(i))
				if _, wanted := found[a]; wanted && version[i] >= versions[a] {
					found[a], versions[a] = Hash(code.Row(i)), version[i]
				}
			}
			return nil
		})
	})
}

func joinAddress(workchain int32, id []byte) (a Address) {
	a[0], a[1], a[2], a[3] = byte(workchain>>24), byte(workchain>>16), byte(workchain>>8), byte(workchain)
	copy(a[schema.AddressSize-len(id):], id)
	return a
}
