package detect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"runtime"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"golang.org/x/sync/errgroup"

	"tonscribe/decode/contract"
	"tonscribe/internal/stage"
	"tonscribe/schema/record"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

// work turns bundles into records, with the store's help.
type work struct {
	*Component
	store      *stage.Store
	partitions int

	codes      map[[32]byte]*contract.Code
	parents    map[string]*contract.Account
	config     *tvm.Config
	configured bool   // config is the chain's
	root       []byte // of the names
	renamed    bool   // the config names another one
	libraries  *cell.Dictionary
	known      []*cell.Cell // libraries, as contracts are given them
	zones      zones
	fetcher    *fetcher // nil without lite servers
	seeker     seeker
	horizon    uint32 // the last bundle that was published before the session, as far as the log tells

	// Of the bundle that is being worked out.
	now       *bundle
	changes   map[string]*change
	transfers map[string]*transfer
	formers   map[string]*change // what accounts claimed before, by account and lt
	senders   map[string]bool    // accounts with orders in the bundle, nil before somebody asks
}

// change is what a bundle does to an account.
type change struct {
	account  []byte
	old, new *entry          // nil: nothing
	state    *record.Account // nil when the account itself did not change
	code     *contract.Code
	data     *cell.Cell
	unread   bool         // the state could not be looked into
	waited   *unreadState // what the account waited for until the bundle, nil for nothing
	fresh    bool         // new was read from the state
	former   *change      // what it claimed before the bundle, nil unless transfers wait for that
	until    uint64       // of what an account claimed before: the lt up to which it did
	opened   bool         // of that, too: it was looked into with the bundle
	missing  *[32]byte    // the library for want of which not all of it was
	gas      int64        // that it took
}

const (
	maxCodes   = 16384
	maxParents = 16384
)

func (c *Component) begin(session *stage.Session) (*work, error) {
	w := &work{Component: c, store: session.Store, partitions: session.Partitions,
		codes: map[[32]byte]*contract.Code{}, parents: map[string]*contract.Account{}, libraries: cell.NewDict(256),
		fetcher: newFetcher(c), seeker: seeker{list: keyWaiting}, horizon: session.Published}
	var err error
	if w.zones, err = c.configuration.zones(); err != nil {
		return nil, err
	}
	if w.config, err = DefaultConfig(); err != nil {
		return nil, err
	}
	if err := w.recall(); err != nil {
		return nil, err
	}
	return w, w.findZone(context.Background())
}

// recall takes up the config, the zones and the libraries that bundles brought before.
func (w *work) recall() error {
	config, err := w.store.Newest(keyConfig, w.store.Marker())
	if err != nil {
		return err
	}
	if config != nil {
		if err := w.useConfig(config); err != nil {
			return err
		}
	}
	if err := w.store.Each([]byte{keyZone}, nil, func(collection, zone []byte) bool {
		if _, known := w.zones[string(collection)]; !known {
			w.zones[string(collection)] = string(zone)
		}
		return true
	}); err != nil {
		return err
	}
	var problem error
	err = w.store.Each([]byte{keyLibrary}, nil, func(_, boc []byte) bool {
		problem = w.addLibrary(boc)
		return problem == nil
	})
	return errors.Join(err, problem)
}

// Bundle works out the next bundle.
func (w *work) Bundle(ctx context.Context, in *stage.Bundle) (stage.Output, error) {
	return w.bundle(ctx, newBundle(in))
}

func (w *work) bundle(ctx context.Context, b *bundle) (stage.Output, error) {
	w.now, w.changes, w.transfers = b, map[string]*change{}, map[string]*transfer{}
	w.formers, w.senders = map[string]*change{}, nil
	for _, step := range []func(context.Context) error{
		w.takeFetched, w.keepConfig, w.keepLibraries, w.keepCodes, w.detectChanged, w.keepParents, w.check, w.retry, w.link, w.follow,
	} {
		if err := step(ctx); err != nil {
			return stage.Output{}, err
		}
		if ctx.Err() != nil {
			return stage.Output{}, context.Cause(ctx)
		}
	}
	return w.finish()
}

func (w *work) keepCodes(context.Context) error {
	for _, code := range w.now.codes {
		if err := w.keepCode(code.Hash, code.Boc); err != nil {
			return err
		}
	}
	for _, t := range w.now.transactions {
		if err := w.keepDeployed(t.InMsg); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) keepCode(hash, boc []byte) error {
	if err := w.store.Set(boc, keyCode, hash); err != nil {
		return err
	}
	return w.came(hash)
}

// keepDeployed keeps the code that a message brings: where it lay in the queue
// before, a block does not show it again as a part of the account.
func (w *work) keepDeployed(m *record.Message) error {
	if len(m.GetInitState()) == 0 {
		return nil
	}
	root, err := cell.FromBOC(m.InitState)
	if err != nil {
		return nil //nolint:nilerr // a stranger's state that is none
	}
	var init tlb.StateInit
	if err := tlb.Parse(&init, root); err != nil || init.Code == nil {
		return nil //nolint:nilerr // as above
	}
	hash := init.Code.HashKey()
	if w.codes[hash] != nil {
		return nil
	}
	if known, err := w.store.Get(keyCode, hash[:]); err != nil || known != nil {
		return err
	}
	return w.keepCode(hash[:], init.Code.ToBOC())
}

// lack is why an account is not looked into.
type lack struct {
	what string // code, library or data; empty is nothing
	hash []byte // of the code or library
}

// code gives a code that has come by, nil with what is missing when it has not.
func (w *work) code(hash []byte) (*contract.Code, lack, error) {
	if known := w.codes[[32]byte(hash)]; known != nil {
		return known, lack{}, nil
	}
	missing := lack{"code", hash}
	boc, err := w.store.Get(keyCode, hash)
	if err != nil || boc == nil {
		return nil, missing, err
	}
	root, err := cell.FromBOC(boc)
	if err != nil {
		return nil, missing, nil //nolint:nilerr // a stranger's code that is none is as good as missing
	}
	code, err := contract.NewCode(root, w.library)
	if unknown, is := errors.AsType[*contract.MissingLibrary](err); is {
		return nil, lack{"library", unknown.Hash[:]}, nil
	}
	if len(w.codes) >= maxCodes {
		clear(w.codes)
	}
	w.codes[code.Hash] = code
	return code, lack{}, nil
}

// moment is when an account is looked at; 0 stands for the bundle's time.
func (w *work) moment(now uint32) contract.Moment {
	if now == 0 && w.now != nil {
		now = w.now.seal.GenUtime
	}
	return contract.Moment{Config: w.config, Libraries: w.known, Now: now}
}

// Special accounts of the masterchain, which are never looked into.
var (
	configAccount  = append([]byte{0xff, 0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x55}, 32)...)
	electorAccount = append([]byte{0xff, 0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x33}, 32)...)
)

// keepConfig takes the config that key blocks bring. As long as none came, that
// of the config contract serves, which has it in its first reference; data as
// large as mainnet's is not in the accounts.
func (w *work) keepConfig(context.Context) error {
	boc := w.now.config
	if boc == nil && !w.configured {
		boc = w.configOfContract()
	}
	if boc == nil {
		return nil
	}
	if err := w.useConfig(boc); err != nil {
		w.report.Log.Error().Err(err).Uint32("bundle", w.now.mcSeqno).Msg("the config of the chain is not understood; the one before stays")
		return nil
	}
	return w.store.Set(boc, keyConfig, number(w.now.mcSeqno))
}

func (w *work) configOfContract() []byte {
	for _, list := range [][]*record.Account{w.now.accounts, w.now.late} {
		for _, a := range list {
			if !bytes.Equal(a.Account, configAccount) || len(a.Data) == 0 {
				continue
			}
			data, err := cell.FromBOC(a.Data)
			if err != nil {
				continue
			}
			if root, err := data.PeekRef(0); err == nil {
				return root.ToBOC()
			}
		}
	}
	return nil
}

func (w *work) useConfig(boc []byte) error {
	root, err := cell.FromBOC(boc)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	config, err := tvm.Prepare(root)
	if err != nil {
		return err
	}
	w.config, w.configured = config, true
	value, err := toncell.Dictionary{Root: root, Bits: 32}.Find(number(rootParam))
	if err != nil || value == nil {
		w.root = nil
		return nil //nolint:nilerr // a chain without names
	}
	r := toncell.NewReader(toncell.ReaderOf(value).Ref())
	id := r.Hash()
	if r.Err() != nil {
		return fmt.Errorf("config parameter %d: %w", rootParam, r.Err())
	}
	w.root, w.renamed = append([]byte{0xff, 0xff, 0xff, 0xff}, id[:]...), true
	return nil
}

// entry is the newest that is known of an account, nil for nothing.
func (w *work) entry(account []byte) (*entry, error) {
	if c := w.changes[string(account)]; c != nil {
		return c.new, nil
	}
	return w.stored(account)
}

func (w *work) stored(account []byte) (*entry, error) {
	raw, err := w.store.Get(keyEntry, account)
	if err != nil || raw == nil {
		return nil, err
	}
	return decodeEntry(raw)
}

// touch makes an account a part of the bundle, whose facts may then be changed;
// nil when nothing is known of it.
func (w *work) touch(account []byte) (*change, error) {
	if c := w.changes[string(account)]; c != nil {
		return c, nil
	}
	old, err := w.stored(account)
	if err != nil || old == nil {
		return nil, err
	}
	c := &change{account: account, old: old, new: old.clone()}
	w.changes[string(account)] = c
	return c, nil
}

// ordered are the changes by account.
func (w *work) ordered() []*change {
	return slices.SortedFunc(maps.Values(w.changes), func(a, b *change) int { return bytes.Compare(a.account, b.account) })
}

// parallel calls do for 0 … n-1 on all processors.
func parallel(n int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	const portion = 16
	for from := 0; from < n; from += portion {
		group.Go(func() error {
			for i := from; i < min(from+portion, n); i++ {
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func balanceOf(nanotons uint64) *big.Int { return new(big.Int).SetUint64(nanotons) }
