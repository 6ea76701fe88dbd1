package tvm_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/ton/dns"
	"tonscribe/ton/tvm"
)

func somebody(n byte) *address.Address { return address.NewAddress(0, 0, bytes.Repeat([]byte{n}, 32)) }

// devnetCalls ask the devnet's contracts everything that they answer.
func devnetCalls() []call {
	minter := contracts.JettonMinter{Admin: somebody(1), Content: contracts.OnchainContent(map[string]string{"name": "One", "decimals": "6"})}
	collection := contracts.NFTCollection{
		Owner: somebody(1), Content: contracts.OffchainContent("https://example.com/c.json"), CommonContent: contracts.SnakeText("https://example.com/"),
		Royalty: contracts.Royalty{Numerator: 1, Denominator: 20, Destination: somebody(2)},
	}
	names := contracts.DNSCollection{Content: contracts.OffchainContent("https://example.com/n.json"), MinPrice: big.NewInt(1_000_000_000), AuctionTime: 60}
	owned := contracts.DNSItem{Collection: names.Address(0), Label: "amber"}.OwnedStateInit(names, somebody(3), 1_700_000_000, map[string]*cell.Cell{
		contracts.DNSCategoryWallet: contracts.DNSWalletRecord(somebody(4)), "text": contracts.DNSTextRecord("hello"),
	})
	multisig := contracts.Multisig{Threshold: 2, Signers: []*address.Address{somebody(1), somebody(2), somebody(3)}, Proposers: []*address.Address{somebody(4)}}
	vesting := contracts.Vesting{
		Key: bytes.Repeat([]byte{5}, 32), Subwallet: 9, StartTime: 1_700_000_000, TotalDuration: 360 * 86400, UnlockPeriod: 30 * 86400,
		TotalAmount: big.NewInt(5_000_000_000), Sender: somebody(1), Owner: somebody(2),
	}
	category := func(name string) *big.Int { return contracts.DNSIndex(name) }
	name := func(name string) *cell.Slice {
		encoded, err := dns.Encode(name)
		if err != nil {
			panic(err)
		}
		text := append([]byte{0}, encoded...)
		return cell.BeginCell().MustStoreSlice(text, uint(len(text))*8).ToSlice()
	}
	self := cell.BeginCell().MustStoreUInt(0, 8).ToSlice()
	var calls []call
	ask := func(state *tlb.StateInit, method string, stack ...any) {
		calls = append(calls, call{name: "devnet " + method, input: tvm.Input{
			Address: contracts.AddressOf(0, state), Code: state.Code, Data: state.Data, Method: method, Stack: stack,
		}})
	}
	ask(minter.StateInit(), "get_jetton_data")
	ask(minter.StateInit(), "get_wallet_address", somebody(7))
	ask(minter.Wallet(0, somebody(7)).StateInit(), "get_wallet_data")
	ask(collection.StateInit(), "get_collection_data")
	ask(collection.StateInit(), "royalty_params")
	ask(collection.StateInit(), "get_nft_address_by_index", 17)
	ask(collection.StateInit(), "get_nft_content", 17, contracts.SnakeText("17.json"))
	ask(collection.Item(0, 3).StateInit(), "get_nft_data")
	ask(contracts.Sale{
		CreatedAt: 1, Marketplace: somebody(1), Item: somebody(2), Price: big.NewInt(5), FeeAddress: somebody(1), RoyaltyAddr: somebody(3),
	}.StateInit(), "get_sale_data")
	ask(contracts.Auction{
		EndTime: 9, Marketplace: somebody(1), Item: somebody(2), Owner: somebody(3), MinBid: big.NewInt(5), FeeAddress: somebody(1), RoyaltyAddr: somebody(3),
	}.StateInit(), "get_auction_data")
	ask(contracts.DNSRoot{Owner: somebody(1), Zones: map[string]*address.Address{"ton": names.Address(0)}}.StateInit(), "dnsresolve", name("amber.ton"), category("wallet"))
	ask(names.StateInit(), "dnsresolve", name("amber"), category("wallet"))
	ask(owned, "dnsresolve", self, category("wallet"))
	ask(owned, "dnsresolve", self, 0)
	ask(owned, "dnsresolve", name("sub"), category("wallet"))
	ask(owned, "get_domain")
	ask(owned, "get_nft_data")
	ask(multisig.StateInit(), "get_multisig_data")
	ask(multisig.StateInit(), "get_order_address", 4)
	ask(multisig.Order(0, big.NewInt(4)).StateInit(), "get_order_data")
	ask(vesting.StateInit(), "get_vesting_data")
	ask(vesting.StateInit(), "get_locked_amount", 1_710_000_000)
	ask(vesting.StateInit(), "is_whitelisted", somebody(1))
	ask(vesting.StateInit(), "get_whitelist")
	ask(vesting.StateInit(), "get_locked_amount")
	ask(contracts.NominatorPool{Validator: somebody(1), MaxNominators: 3, Elector: somebody(2)}.StateInit(), "get_pool_data")
	return calls
}

func TestDevnetContractsAnswerAsInTheOfficialEmulator(t *testing.T) {
	calls := devnetCalls()
	compare(t, officialConfig(t), calls)
	for _, c := range calls {
		result, err := tvm.Run(t.Context(), c.input)
		if len(c.input.Stack) == 0 && c.input.Method == "get_locked_amount" {
			continue // an argument is missing
		}
		if c.input.Config != nil && (err != nil || !result.OK()) {
			t.Errorf("%s: exit code %d, %v", c.name, result.ExitCode, err)
		}
	}
	t.Logf("%d calls", len(calls))
}

// endlessMethods are what explorers and indexers call.
var endlessMethods = []string{"get_jetton_data", "get_wallet_data", "get_nft_data", "get_collection_data", "seqno"}

func TestMethodsThatNeverEndAreStopped(t *testing.T) {
	state := contracts.Endless{}.StateInit()
	for _, method := range endlessMethods {
		in := hostileInput(t, state.Code, 1_000_000)
		in.Data, in.Method = state.Data, method
		result, err := tvm.Run(t.Context(), in)
		if err != nil || result.OK() {
			t.Errorf("%s: exit code %d, %v, want it to fail", method, result.ExitCode, err)
		}
		if result.ExitCode != -14 {
			continue // not a method of the contract
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		in.GasLimit = 1 << 50
		if _, err := tvm.Run(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want %v", method, err, context.DeadlineExceeded)
		}
		cancel()
	}
}
