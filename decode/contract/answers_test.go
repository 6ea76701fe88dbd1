package contract_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
)

// text is a slice, in an answer.
type text string

// answering is the code of a contract whose get-methods leave values on the
// stack, bottom first: int64, *address.Address (nil: addr_none), text, *cell.Cell
// and nil. It begins as compilers make it: SETCP0, 19 DICTPUSHCONST,
// DICTIGETJMPZ, 11 THROWARG.
func answering(t *testing.T, methods map[string][]any) *cell.Cell {
	t.Helper()
	dict := cell.NewDict(19)
	for name, values := range methods {
		key := cell.BeginCell().MustStoreUInt(uint64(code.MethodID(name)), 19).EndCell()
		if err := dict.Set(key, leaving(t, values)); err != nil {
			t.Fatal(err)
		}
	}
	return cell.BeginCell().MustStoreSlice([]byte{0xff, 0x00, 0xf4, 0xa4, 0x13, 0xf4, 0xbc, 0xf2, 0xc8, 0x0b}, 80).MustStoreRef(dict.AsCell()).EndCell()
}

// leaving pushes a value and goes on in its last reference.
func leaving(t *testing.T, values []any) *cell.Cell {
	t.Helper()
	b := cell.BeginCell()
	if len(values) == 0 {
		return b.EndCell()
	}
	const pushRef, pushRefSlice, pushNull = 0x88, 0x89, 0x6d
	switch v := values[0].(type) {
	case int:
		// PUSHINT of 8*2+19 bits.
		b.MustStoreUInt(0x82, 8).MustStoreUInt(2, 5).MustStoreInt(int64(v), 35)
	case *address.Address:
		b.MustStoreUInt(pushRefSlice, 8).MustStoreRef(cell.BeginCell().MustStoreAddr(v).EndCell())
	case text:
		b.MustStoreUInt(pushRefSlice, 8).MustStoreRef(cell.BeginCell().MustStoreSlice([]byte(v), uint(len(v))*8).EndCell())
	case *cell.Cell:
		b.MustStoreUInt(pushRef, 8).MustStoreRef(v)
	case nil:
		b.MustStoreUInt(pushNull, 8)
	default:
		t.Fatalf("a value of type %T", v)
	}
	return b.MustStoreRef(leaving(t, values[1:])).EndCell()
}

func answer(t *testing.T, methods map[string][]any) *record.Contract {
	t.Helper()
	return detect(t, contract.Account{Address: raw(person(99)), Code: codeOf(answering(t, methods)),
		Data: cell.BeginCell().EndCell(), Balance: big.NewInt(1e9)}).Facts
}

// none is addr_none.
var none = address.NewAddressNone()

func number(n int64) []byte { return big.NewInt(n).Bytes() }

func TestFactsAreReadInTheOrderOfTheirMethods(t *testing.T) {
	owner, market, item, fees, royalties := person(1), person(2), person(3), person(4), person(5)
	empty := cell.BeginCell().EndCell()
	auction := []any{0, 1_760_000_000, market, item, owner, 700, fees, 50, fees, 5, 100, royalties, 10, 200, 9000, 600, 1_750_000_000, 1_755_000_000, -1}
	sold := func(version uint32) *record.Auction {
		return &record.Auction{Version: version, EndTime: 1_760_000_000, Marketplace: raw(market), Item: raw(item), Owner: raw(owner),
			LastBid: number(700), LastMember: raw(fees), MinStep: number(50), FeeAddress: raw(fees), FeeFactor: number(5), FeeBase: number(100),
			RoyaltyAddress: raw(royalties), RoyaltyFactor: number(10), RoyaltyBase: number(200), MaxBid: number(9000), MinBid: number(600),
			CreatedAt: 1_750_000_000, LastBidAt: 1_755_000_000, Canceled: true}
	}
	v4 := sold(4)
	v4.Activated, v4.JettonWallet, v4.JettonMaster = true, raw(person(6)), raw(person(7))
	nft := []any{-1, 7, person(8), owner, empty}
	telemint := map[string][]any{"get_nft_data": nft, "get_telemint_token_name": {text("durov")},
		"get_telemint_auction_config": {market, 1000, 0, 5, 3600, 604800}, "royalty_params": {5, 100, royalties}}
	settings := record.Telemint{TokenName: []byte("durov"), Beneficiary: raw(market), InitialMinBid: number(1000), MaxBid: nil, MinBidStep: number(5),
		MinExtendTime: 3600, Duration: 604800, RoyaltyNumerator: 5, RoyaltyDenominator: 100, RoyaltyDestination: raw(royalties)}
	bidding := settings.CloneVT()
	bidding.Auction, bidding.Bidder, bidding.Bid, bidding.BidAt, bidding.MinBid, bidding.EndTime = true, raw(fees), number(2000), 1_755_000_000, number(2100), 1_760_000_000
	during := map[string][]any{"get_telemint_auction_state": {fees, 2000, 1_755_000_000, 2100, 1_760_000_000}}
	for name, values := range telemint {
		during[name] = values
	}
	pool1 := []any{5000, 6000, person(6), person(7), 20, 10, 10, fees, 1, 2}
	pool2 := []any{0, market, 5500, 5000, 6000, person(6), person(7), 20, 10, fees, 1, 2}
	reserves, tokens := [][]byte{number(5000), number(6000)}, [][]byte{raw(person(6)), raw(person(7))}
	for name, c := range map[string]struct {
		methods map[string][]any
		got     func(*record.Contract) fmt.Stringer
		want    fmt.Stringer
	}{
		"sale of version 3": {map[string][]any{"get_sale_data": {0x46495850, -1, 1_750_000_000, market, item, none, 900, fees, 45, royalties, 18}},
			func(f *record.Contract) fmt.Stringer { return f.Sale },
			&record.Sale{Version: 1, Complete: true, CreatedAt: 1_750_000_000, Marketplace: raw(market), Item: raw(item), Price: number(900),
				FeeAddress: raw(fees), Fee: number(45), RoyaltyAddress: raw(royalties), Royalty: number(18)}},
		"sale of the oldest form": {map[string][]any{"get_sale_data": {market, item, owner, 900, 45, royalties, 18}},
			func(f *record.Contract) fmt.Stringer { return f.Sale },
			&record.Sale{Version: 1, Marketplace: raw(market), Item: raw(item), Owner: raw(owner), Price: number(900), Fee: number(45),
				RoyaltyAddress: raw(royalties), Royalty: number(18)}},
		"sale of the oldest form, with an address of its fee": {map[string][]any{"get_sale_data": {market, item, owner, 900, fees, 45, royalties, 18}},
			func(f *record.Contract) fmt.Stringer { return f.Sale },
			&record.Sale{Version: 1, Marketplace: raw(market), Item: raw(item), Owner: raw(owner), Price: number(900), FeeAddress: raw(fees), Fee: number(45),
				RoyaltyAddress: raw(royalties), Royalty: number(18)}},
		"sale of version 4": {map[string][]any{"get_fix_price_data_v4": {0, 1_750_000_000, market, item, owner, 900, fees, 5000, royalties, 2000, 0, 77, nil}},
			func(f *record.Contract) fmt.Stringer { return f.Sale },
			&record.Sale{Version: 4, CreatedAt: 1_750_000_000, Marketplace: raw(market), Item: raw(item), Owner: raw(owner), Price: number(900),
				FeeAddress: raw(fees), FeeShare: 5000, RoyaltyAddress: raw(royalties), RoyaltyShare: 2000, SoldQueryId: number(77)}},
		"auction of version 3": {map[string][]any{"get_sale_data": append([]any{0x415543}, auction...)},
			func(f *record.Contract) fmt.Stringer { return f.Auction }, sold(1)},
		"auction of version 4": {map[string][]any{"get_auction_data_v4": append(append([]any{-1}, auction...), 600, 3, person(6), person(7), 0, 12345)},
			func(f *record.Contract) fmt.Stringer { return f.Auction }, v4},
		"name of Telegram": {telemint, func(f *record.Contract) fmt.Stringer { return f.Telemint }, &settings},
		"name of Telegram that is bid for": {during,
			func(f *record.Contract) fmt.Stringer { return f.Telemint }, bidding},
		"pool of STON.fi, version 1": {map[string][]any{"get_pool_data": pool1, "get_lp_account_address": {none}, "get_expected_outputs": {1}},
			func(f *record.Contract) fmt.Stringer { return f.StonfiPool },
			&record.StonfiPool{Version: 1, Reserves: reserves, Tokens: tokens}},
		"pool of STON.fi, version 2": {map[string][]any{"get_pool_data": pool2, "get_lp_account_address": {none}, "get_pool_type": {text("constant_product")}},
			func(f *record.Contract) fmt.Stringer { return f.StonfiPool },
			&record.StonfiPool{Version: 2, Router: raw(market), Reserves: reserves, Tokens: tokens}},
	} {
		if got := c.got(answer(t, c.methods)).String(); got != c.want.String() {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

// The items of Telegram leave null for whom there is none of, as their contract does.
func TestAnItemOfTelegramIsOneWithoutAnAuctionAndWithoutABid(t *testing.T) {
	methods := map[string][]any{"get_nft_data": {-1, 7, person(8), person(1), cell.BeginCell().EndCell()}, "get_telemint_token_name": {text("durov")},
		"get_telemint_auction_config": {nil, 0, 0, 0, 0, 0}, "royalty_params": {5, 100, person(5)}}
	want := &record.Telemint{TokenName: []byte("durov"), RoyaltyNumerator: 5, RoyaltyDenominator: 100, RoyaltyDestination: raw(person(5))}
	if got := answer(t, methods).Telemint; !got.EqualVT(want) {
		t.Errorf("without an auction the item is %v, want %v", got, want)
	}
	methods["get_telemint_auction_config"] = []any{person(2), 1000, 0, 5, 3600, 604800}
	methods["get_telemint_auction_state"] = []any{nil, 0, 0, 1000, 1_760_000_000}
	want.Beneficiary, want.InitialMinBid, want.MinBidStep, want.MinExtendTime, want.Duration = raw(person(2)), number(1000), number(5), 3600, 604800
	want.Auction, want.MinBid, want.EndTime = true, number(1000), 1_760_000_000
	if got := answer(t, methods).Telemint; !got.EqualVT(want) {
		t.Errorf("without a bid the item is %v, want %v", got, want)
	}
}

func TestAMasterOfAMintlessJettonHasTheRootOfItsAirdrop(t *testing.T) {
	content := contracts.OffchainContent("https://a.example/1")
	data := []any{0, -1, none, content, content}
	for name, c := range map[string]struct {
		root []any
		want []byte
	}{
		"a hash":    {[]any{1 << 33}, append(make([]byte, 27), 2, 0, 0, 0, 0)},
		"no hash":   {[]any{0}, nil},
		"negative":  {[]any{-1}, nil},
		"no number": {[]any{text("x")}, nil},
		"no answer": {[]any{}, nil},
		"no method": {nil, nil},
	} {
		methods := map[string][]any{"get_jetton_data": data}
		if c.root != nil {
			methods["get_mintless_airdrop_hashmap_root"] = c.root
		}
		master := answer(t, methods).JettonMaster
		if master == nil || !bytes.Equal(master.MintlessRoot, c.want) {
			t.Errorf("%s: the master is %v, want the root %x", name, master, c.want)
		}
	}
}

// The item of TEP-62's own contracts leaves null for what it gets from its collection
// later. Without it the collection has no content to give either.
func TestAnItemThatIsNotInitializedHasNeitherOwnerNorContent(t *testing.T) {
	want := &record.NFTItem{Index: number(7), Collection: raw(person(8))}
	for name, owner := range map[string]any{"null": nil, "addr_none": none} {
		found := detect(t, contract.Account{Address: raw(person(99)), Data: cell.BeginCell().EndCell(), Balance: big.NewInt(1e9),
			Code: codeOf(answering(t, map[string][]any{"get_nft_data": {0, 7, person(8), owner, nil}}))})
		if got := found.Facts.NftItem; !got.EqualVT(want) || found.Content != nil {
			t.Errorf("with %s as its owner the item is %v, its own content %v; want %v without", name, got, found.Content, want)
		}
	}
	if item := answer(t, map[string][]any{"get_nft_data": {-1, 7, person(8), nil, cell.BeginCell().EndCell()}}).NftItem; item != nil {
		t.Errorf("an initialized item without an owner is %v, want none", item)
	}
}

// Each value is left out in turn: then the answer is none, and no other value
// takes its place.
func TestAnAnswerThatLacksAValueIsNone(t *testing.T) {
	whole := []any{0, 1_750_000_000, person(2), person(3), person(1), 900, person(4), 5000, person(5), 2000, 0, 77, nil}
	if answer(t, map[string][]any{"get_fix_price_data_v4": whole}).Sale == nil {
		t.Fatal("the whole answer is none")
	}
	for i := range whole {
		lacking := append(append([]any{}, whole[:i]...), whole[i+1:]...)
		if sale := answer(t, map[string][]any{"get_fix_price_data_v4": lacking}).Sale; sale != nil {
			t.Errorf("without value %d the sale is %v, want none", i, sale)
		}
		wrong := append([]any{}, whole...)
		wrong[i] = text("no number, no address")
		if sale := answer(t, map[string][]any{"get_fix_price_data_v4": wrong}).Sale; sale != nil {
			t.Errorf("with a text as value %d the sale is %v, want none", i, sale)
		}
	}
}
