package verify

import (
	"bytes"
	"context"
	"math/big"
	"slices"
	"sync"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	contractStage "tonscribe/decode/detect"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/tvm"
)

// reader looks at the states of accounts once more.
type reader struct {
	detector *contract.Detector
	config   *tvm.Config

	mu    sync.Mutex
	codes map[string]*contract.Code // by hash, nil for those that cannot be read
}

// maxCodes bounds the codes that are kept.
const maxCodes = 16384

// The special accounts of the masterchain are never looked at.
var (
	configAccount  = append([]byte{0xff, 0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x55}, 32)...)
	electorAccount = append([]byte{0xff, 0xff, 0xff, 0xff}, bytes.Repeat([]byte{0x33}, 32)...)
)

func newReader() (*reader, error) {
	config, err := contractStage.DefaultConfig()
	if err != nil {
		return nil, err
	}
	return &reader{detector: contract.New(contract.DefaultLimits()), config: config, codes: map[string]*contract.Code{}}, nil
}

// code gives a code of table codes; nil when it has none, or a library is needed
// to read it: the tables have none.
func (v *verifier) code(ctx context.Context, hash []byte) (*contract.Code, error) {
	v.reader.mu.Lock()
	known, there := v.reader.codes[string(hash)]
	v.reader.mu.Unlock()
	if there || len(hash) != 32 {
		return known, nil
	}
	var boc []byte
	err := v.each(ctx, "SELECT boc FROM codes WHERE hash = ? LIMIT 1", []any{string(hash)}, []any{&boc}, func() error {
		root, err := tvmcell.FromBOC(boc)
		if err != nil {
			return nil //nolint:nilerr // the check of codes says so
		}
		if code, err := contract.NewCode(root, nil); err == nil {
			known = code
		}
		return nil
	})
	v.reader.mu.Lock()
	defer v.reader.mu.Unlock()
	if len(v.reader.codes) >= maxCodes {
		clear(v.reader.codes)
	}
	v.reader.codes[string(hash)] = known
	return known, err
}

// readAgain runs the get-methods of an account on its newest state and compares
// what they give with the record of table contracts, nil when it has none.
func (w *transactionWalk) readAgain(ctx context.Context, a *record.Account, stored *record.Contract, key string) error {
	if a.State.Status != record.AccountStatus_ACCOUNT_ACTIVE || bytes.Equal(a.Account, configAccount) || bytes.Equal(a.Account, electorAccount) {
		return nil
	}
	code, err := w.code(ctx, a.State.CodeHash)
	if err != nil || code == nil || code.Empty() && stored == nil {
		return err
	}
	var data *tvmcell.Cell
	if len(a.State.DataHash) > 0 {
		if data, err = tvmcell.FromBOC(a.Data); err != nil || !bytes.Equal(data.Hash(), a.State.DataHash) {
			return nil //nolint:nilerr // not at hand; a wrong one is another check's
		}
	}
	account := contract.Account{Address: a.Account, Code: code, Data: data, Balance: new(big.Int).SetUint64(a.State.Balance)}
	found, err := w.reader.detector.Detect(ctx, account, contract.Moment{Config: w.reader.config, Now: a.Now})
	if err != nil || found.Missing != nil { // a library is not at hand
		return err
	}
	w.findings.checked(CheckContracts, 1)
	said := ownFacts(stored)
	says := confirmedOnly(ownFacts(found.Facts), said)
	if path, have, want := firstField(said, says); path != "" {
		if reads, err := w.reader.readsConfig(ctx, account, a.Now, found.Facts); err != nil || reads {
			return err
		}
		what := "field %s of the record is %s, but the account's get-methods give %s"
		if stored == nil {
			what = "no row, but the account's get-methods give facts: field %s is %s instead of %s"
		}
		w.findings.differs(CheckContracts, table.Contracts.Name, key, what, path, have, want)
		return nil
	}
	if stored != nil && schema.RolesOf(stored) != 0 && !slices.Equal(stored.Interfaces, code.Names) {
		w.findings.differs(CheckContracts, table.Contracts.Name, key, "interfaces are %v, those of the code %v", stored.Interfaces, code.Names)
	}
	return nil
}

// readsConfig reports whether the facts of an account depend on the chain's config,
// which the tables do not have.
func (r *reader) readsConfig(ctx context.Context, account contract.Account, now uint32, facts *record.Contract) (reads bool, err error) {
	found, err := r.detector.Detect(ctx, account, contract.Moment{Config: r.config, Now: now, ConfigRead: func() { reads = true }})
	return err == nil && (reads || !found.Facts.EqualVT(facts)), err
}

// ownFacts are those that an account alone tells: without what others add to
// an item, and without where they are from.
func ownFacts(c *record.Contract) *record.Contract {
	if c == nil {
		return &record.Contract{}
	}
	own := c.CloneVT()
	own.Account, own.McSeqno, own.FirstMcSeqno, own.LastTransLt, own.Now, own.CodeHash, own.DataHash, own.Interfaces = nil, 0, 0, 0, 0, nil, nil, nil
	own.LostRoles, own.WalletAgainMcSeqno = 0, 0
	if i := own.NftItem; i != nil {
		i.Content, i.Sale, i.Auction, i.RealOwner = nil, nil, nil, nil
		if i.Dns != nil {
			i.Dns.Domain = "" // the zone is added to it
		}
	}
	return own
}

// confirmedOnly takes away the claims that are not told: nobody confirmed them.
func confirmedOnly(says, stored *record.Contract) *record.Contract {
	if stored.JettonWallet == nil {
		says.JettonWallet = nil
	}
	if stored.MultisigOrder == nil {
		says.MultisigOrder = nil
	}
	if stored.DedustPool == nil {
		says.DedustPool = nil
	}
	if stored.NftItem == nil && says.NftItem.GetCollection() != nil {
		says.NftItem, says.Telemint = nil, nil
	}
	if stored.NftItem.GetDns() == nil && says.NftItem != nil {
		says.NftItem.Dns = nil // its collection names nothing
	}
	return says
}
