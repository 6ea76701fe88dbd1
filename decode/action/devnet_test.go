package action_test

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"

	"tonscribe/decode"
	"tonscribe/decode/action"
	"tonscribe/decode/contract"
	"tonscribe/decode/trace"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
	"tonscribe/schema/record"
	"tonscribe/test/support/configtest"
	"tonscribe/ton/address"
)

// headFacts are what contracts are at the head of a devnet.
type headFacts struct {
	testing.TB
	chain    *chain.Chain
	detector *contract.Detector
	moment   contract.Moment
	codes    map[string]*contract.Code
	known    map[string]*record.Contract // of this bundle
}

func newHeadFacts(t testing.TB, c *chain.Chain) *headFacts {
	t.Helper()
	return &headFacts{TB: t, chain: c, detector: contract.New(contract.DefaultLimits()), moment: contract.Moment{Config: configtest.Of(t, nil, nil)}, codes: map[string]*contract.Code{}}
}

// advance forgets what was known before a bundle.
func (f *headFacts) advance(now uint32) { f.moment.Now, f.known = now, map[string]*record.Contract{} }

func (f *headFacts) state(account []byte) *tlb.StateInit {
	a := address.Address(account)
	shard, err := f.chain.Account(a.Workchain(), [32]byte(a.ID()))
	if errors.Is(err, chain.ErrNoAccount) {
		return nil
	}
	if err != nil {
		f.Fatal(err)
	}
	var state tlb.AccountState
	if err := tlb.Parse(&state, shard.Account); err != nil {
		return nil // nonexistent
	}
	return state.StateInit
}

func (f *headFacts) Contract(account []byte) *record.Contract {
	if c, ok := f.known[string(account)]; ok {
		return c
	}
	f.known[string(account)] = nil
	init := f.state(account)
	if init == nil || init.Code == nil || init.Data == nil {
		return nil
	}
	code := f.codes[string(init.Code.Hash())]
	if code == nil {
		code, _ = contract.NewCode(init.Code, nil) // without its library it has no methods
		f.codes[string(init.Code.Hash())] = code
	}
	found, err := f.detector.Detect(f.Context(), contract.Account{Address: account, Code: code, Data: init.Data, Balance: big.NewInt(1e9)}, f.moment)
	if err != nil {
		f.Fatal(err)
	}
	found.Facts.CodeHash = init.Code.Hash()
	f.known[string(account)] = found.Facts
	return found.Facts
}

func (f *headFacts) AccountData(account []byte) []byte {
	if init := f.state(account); init != nil && init.Data != nil {
		return boc(init.Data)
	}
	return nil
}

// The devnet's contracts and its people know nothing of recognisers.
func TestWhatPeopleOfADevnetDoIsRecognised(t *testing.T) {
	const dawn, transactions = 1_760_000_000, 120
	life := traffic.New(5, traffic.Options{Wallets: 80})
	c, err := chain.New(chain.Options{Seed: 5, GenUtime: dawn, Accounts: life.Accounts(), Params: life.Params()})
	if err != nil {
		t.Fatal(err)
	}
	facts := newHeadFacts(t, c)
	assembler, decoder := trace.NewAssembler(&trace.Memory{}), decode.Decoder{}
	count, failed := map[string]int{}, map[string]int{}
	for seqno := uint32(1); seqno <= 90; seqno++ {
		now := dawn + 5*seqno
		messages, err := life.Next(c, seqno, now, transactions)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := c.Step(now, messages)
		if err != nil {
			t.Fatal(err)
		}
		var list []*record.Transaction
		for _, block := range append(slices.Clone(bundle.Shards), bundle.Master) {
			r, err := decoder.Block(block.Data, seqno)
			if err != nil {
				t.Fatal(err)
			}
			for _, tx := range r.Transactions {
				list = append(list, tx.CloneVT())
			}
		}
		traces, err := assembler.Bundle(seqno, list)
		if err != nil {
			t.Fatal(err)
		}
		facts.advance(now)
		for _, whole := range traces {
			if whole.All == nil {
				continue
			}
			tree, err := trace.NewTree(whole.All)
			if err != nil {
				t.Fatal(err)
			}
			checkActions(t, tree, facts)
			actions, _ := action.Classify(tree, facts)
			if len(actions) == 0 && tree.Root.Tx.InMsg != nil {
				t.Errorf("trace %x of %d transactions has no action", tree.Root.Tx.Hash, len(tree.Nodes))
			}
			for _, a := range actions {
				if count[a.Type.Name]++; !a.Success {
					failed[a.Type.Name]++
				}
			}
		}
	}
	// Auctions are given their items by hand there, which is a transfer.
	for _, name := range []string{"ton_transfer", "call_contract", "contract_deploy", "jetton_transfer", "jetton_burn", "jetton_mint",
		"nft_mint", "nft_transfer", "nft_put_on_sale", "nft_purchase", "nft_update_sale", "nft_discovery", "auction_bid",
		"nft_finish_auction", "change_dns", "renew_dns", "jetton_swap", "dex_deposit_liquidity", "dex_withdraw_liquidity"} {
		if count[name] == 0 {
			t.Errorf("no %s", name)
		}
	}
	t.Logf("actions %v\nfailed %v", count, failed)
}
