package tvm_test

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/configtest"
	nodetest "tonscribe/test/support/node"
	"tonscribe/ton/tvm"
)

const noon = 1_750_000_000

func activeAccount(t testing.TB, to *address.Address, state *tlb.StateInit, balance uint64) *cell.Cell {
	t.Helper()
	account, err := tlb.ToCell(&tlb.AccountState{
		IsValid: true, Address: to,
		StorageInfo: tlb.StorageInfo{
			StorageUsed:  tlb.StorageUsed{CellsUsed: big.NewInt(5), BitsUsed: big.NewInt(1000)},
			StorageExtra: tlb.StorageExtraNone{}, LastPaid: noon - 86400,
		},
		AccountStorage: tlb.AccountStorage{
			Status: tlb.AccountStatusActive, LastTransactionLT: 1000, Balance: tlb.FromNanoTONU(balance), StateInit: state,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// payment is a signed message to a wallet v3r2 that sends a little to itself.
func payment(t testing.TB, key ed25519.PrivateKey, to *address.Address, seqno uint32) *cell.Cell {
	t.Helper()
	out, err := tlb.ToCell(&tlb.InternalMessage{
		IHRDisabled: true, Bounce: true, DstAddr: to, Amount: tlb.FromNanoTONU(1000), Body: cell.BeginCell().EndCell(),
	})
	if err != nil {
		t.Fatal(err)
	}
	unsigned := cell.BeginCell().MustStoreUInt(wallet.DefaultSubwallet, 32).MustStoreUInt(noon+60, 32).
		MustStoreUInt(uint64(seqno), 32).MustStoreUInt(3, 8).MustStoreRef(out)
	signature := ed25519.Sign(key, unsigned.EndCell().Hash())
	message, err := tlb.ToCell(&tlb.ExternalMessage{
		DstAddr: to, Body: cell.BeginCell().MustStoreSlice(signature, 512).MustStoreBuilder(unsigned).EndCell(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return message
}

func incoming(t testing.TB, to *address.Address, amount uint64, bounce bool) *cell.Cell {
	t.Helper()
	message, err := tlb.ToCell(&tlb.InternalMessage{
		IHRDisabled: true, Bounce: bounce, SrcAddr: address.NewAddress(0, 0, bytes.Repeat([]byte{9}, 32)), DstAddr: to,
		Amount: tlb.FromNanoTONU(amount), CreatedLT: 5000, CreatedAt: noon, Body: cell.BeginCell().MustStoreUInt(0, 32).EndCell(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// deliveries are messages that are accepted, refused, bounced and skipped.
func deliveries(t testing.TB) map[string]tvm.Delivery {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, 32))
	state, err := wallet.GetStateInit(key.Public().(ed25519.PublicKey), wallet.V3R2, wallet.DefaultSubwallet)
	if err != nil {
		t.Fatal(err)
	}
	stateCell, err := tlb.ToCell(state)
	if err != nil {
		t.Fatal(err)
	}
	mine := address.NewAddress(0, 0, stateCell.Hash())
	account := activeAccount(t, mine, state, 5_000_000_000)

	code := assembly(t, "30F800") // DROP, ACCEPT
	borrowed := &tlb.StateInit{Code: libraryCell(t, code.Hash()), Data: cell.BeginCell().EndCell()}
	elsewhere := address.NewAddress(0, 0, bytes.Repeat([]byte{0x44}, 32))
	moment := tvm.Context{Now: noon, LT: 10_000, Seed: [32]byte(bytes.Repeat([]byte{0xcd}, 32))}
	// The official emulator keeps its libraries until it is given others.
	withLibrary, withOther := moment, moment
	withLibrary.Libraries = []*cell.Cell{libraries(t, code)}
	withOther.Libraries = []*cell.Cell{libraries(t, assembly(t, "30"))}
	return map[string]tvm.Delivery{
		"paid":             {Context: moment, Account: account, Message: payment(t, key, mine, 0)},
		"wrong seqno":      {Context: moment, Account: account, Message: payment(t, key, mine, 7)},
		"unsigned":         {Context: moment, Account: account, Message: payment(t, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)), mine, 0), IgnoreSignature: true},
		"received":         {Context: moment, Account: account, Message: incoming(t, mine, 10_000_000, true)},
		"absent, bounced":  {Context: moment, Address: elsewhere, Message: incoming(t, elsewhere, 10_000_000, true)},
		"absent, kept":     {Context: moment, Address: elsewhere, Message: incoming(t, elsewhere, 10_000_000, false)},
		"library":          {Context: withLibrary, Account: activeAccount(t, elsewhere, borrowed, 1_000_000_000), Message: incoming(t, elsewhere, 10_000_000, true)},
		"library missing":  {Context: withOther, Account: activeAccount(t, elsewhere, borrowed, 1_000_000_000), Message: incoming(t, elsewhere, 10_000_000, true)},
		"too little value": {Context: moment, Account: account, Message: incoming(t, mine, 1, true)},
	}
}

func TestMessagesCauseTheTransactionsOfTheOfficialEmulator(t *testing.T) {
	config := officialConfig(t)
	tried := deliveries(t)
	var names []string
	request := struct {
		Config     string           `json:"config"`
		Deliveries []map[string]any `json:"deliveries"`
	}{Config: toBase64(config.Root())}
	for name, d := range tried {
		state := d.Account
		if state == nil {
			state = cell.BeginCell().MustStoreBoolBit(false).EndCell()
		}
		shard := cell.BeginCell().MustStoreRef(state).MustStoreSlice(d.LastHash[:], 256).MustStoreUInt(d.LastLT, 64).EndCell()
		one := map[string]any{
			"account": toBase64(shard), "message": toBase64(d.Message), "now": d.Now, "lt": fmt.Sprint(d.LT),
			"seed": hex.EncodeToString(d.Seed[:]), "unsigned": d.IgnoreSignature,
		}
		if len(d.Libraries) > 0 {
			one["libraries"] = toBase64(d.Libraries[0])
		}
		names, request.Deliveries = append(names, name), append(request.Deliveries, one)
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(nodetest.Run(t, body, "testdata/transactions.js")))
	for _, name := range names {
		if !lines.Scan() {
			t.Fatalf("%s: no answer", name)
		}
		var want struct {
			Transaction, Error string
			Exit               int
		}
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		d := tried[name]
		d.Config = config
		got, err := tvm.Deliver(d)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hash := ""
		if got.Transaction != nil {
			hash = hex.EncodeToString(got.Transaction.Hash())
		}
		if hash != want.Transaction {
			t.Errorf("%s: transaction %q, official %q (%s)", name, hash, want.Transaction, want.Error)
		}
		if !got.Accepted && got.ExitCode != want.Exit {
			t.Errorf("%s: refused with exit code %d, official %d", name, got.ExitCode, want.Exit)
		}
	}
}

func TestFeesAddUpToWhatTheAccountLoses(t *testing.T) {
	config := officialConfig(t)
	for name, d := range deliveries(t) {
		d.Config = config
		outcome, err := tvm.Deliver(d)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !outcome.Accepted {
			continue
		}
		var transaction tlb.Transaction
		if err := tlb.Parse(&transaction, outcome.Transaction); err != nil {
			t.Fatal(err)
		}
		fees := outcome.Fees
		if transaction.IO.In.MsgType == tlb.MsgTypeInternal && fees.InForward.Sign() != 0 {
			t.Errorf("%s: %s nanotons for the import of an internal message, want 0", name, fees.InForward)
		}
		if transaction.IO.In.MsgType == tlb.MsgTypeExternalIn && fees.InForward.Sign() <= 0 {
			t.Errorf("%s: %s nanotons for the import of an external message, want more than 0", name, fees.InForward)
		}
		t.Logf("%s: exit code %d, fees: import %s, storage %s, gas %s", name, outcome.ExitCode, fees.InForward, fees.Storage, fees.Gas)
	}
}

func TestMessagesAreDeliveredWithThePreviousBlocksThatAreKnown(t *testing.T) {
	to := somebody(3)
	code := assembly(t, "F8340030F800") // PREVMCBLOCKS, DROP, ACCEPT
	message, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: to, Body: cell.BeginCell().EndCell()})
	if err != nil {
		t.Fatal(err)
	}
	blocks := tvm.Tuple{tvm.Tuple{big.NewInt(1)}, tvm.Tuple{big.NewInt(2)}, tvm.Tuple{}}
	for _, c := range []struct {
		known tvm.Tuple
		exit  int
	}{{blocks, 0}, {nil, 7}} {
		out, err := tvm.Deliver(tvm.Delivery{
			Context: tvm.Context{Config: configtest.Of(t, nil, nil), Now: noon, LT: 2_000_001, BlockLT: 2_000_000, PrevBlocks: c.known},
			Account: activeAccount(t, to, &tlb.StateInit{Code: code, Data: cell.BeginCell().EndCell()}, 1e9), LastLT: 1000, Message: message,
		})
		if err != nil || out.ExitCode != c.exit || out.Accepted != (c.exit == 0) {
			t.Errorf("%d known: exit code %d, accepted %t, %v; want %d", len(c.known), out.ExitCode, out.Accepted, err, c.exit)
		}
	}
}
