package endpoints

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/decode/trace"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// playedTraces are the closed traces of a devnet with its traffic.
func playedTraces(t *testing.T, bundles uint32) (list [][]*record.Transaction) {
	t.Helper()
	const dawn = 1_760_000_000
	life := traffic.New(11, traffic.Options{Wallets: 60})
	c, err := chain.New(chain.Options{Seed: 11, GenUtime: dawn, Accounts: life.Accounts(), Params: life.Params()})
	if err != nil {
		t.Fatal(err)
	}
	decoder, assembler := decode.Decoder{}, trace.NewAssembler(&trace.Memory{})
	for seqno := uint32(1); seqno <= bundles; seqno++ {
		messages, err := life.Next(c, seqno, dawn+5*seqno, 60)
		if err != nil {
			t.Fatal(err)
		}
		made, err := c.Step(dawn+5*seqno, messages)
		if err != nil {
			t.Fatal(err)
		}
		var transactions []*record.Transaction
		for _, block := range append(slices.Clone(made.Shards), made.Master) {
			r, err := decoder.Block(block.Data, seqno)
			if err != nil {
				t.Fatal(err)
			}
			for _, tx := range r.Transactions {
				transactions = append(transactions, tx.CloneVT())
			}
		}
		assembled, err := assembler.Bundle(seqno, transactions)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range assembled {
			if len(a.All) > 0 {
				list = append(list, a.All)
			}
		}
	}
	return list
}

func TestChangesOfATraceAreThoseOfTheBalancesOfItsAccounts(t *testing.T) {
	compared, failed := 0, 0
	for _, list := range playedTraces(t, 40) {
		want := amounts{}
		known := !slices.ContainsFunc(list, func(tx *record.Transaction) bool {
			return tx.StateBefore == nil || tx.StateAfter == nil || tx.Destroyed
		})
		for _, tx := range list {
			want.addCoins(tx.Account, tx.StateAfter.GetBalance())
			want.add(tx.Account, new(big.Int).Neg(new(big.Int).SetUint64(tx.StateBefore.GetBalance())))
			if tx.Aborted {
				failed++
			}
		}
		if !known {
			continue
		}
		got := changesBy(list, nil)
		if len(got.coins) != len(want) {
			t.Fatalf("trace %x: %d accounts, want %d", list[0].Hash, len(got.coins), len(want))
		}
		for a, n := range want {
			if compared++; got.coins[a].Cmp(n) != 0 {
				t.Errorf("trace %x: account %s has %d more, want %d", list[0].Hash, a, got.coins[a], n)
			}
		}
		// What nobody has any more is fees, and nothing else.
		all, fees := new(big.Int), new(big.Int)
		for a := range want {
			all.Add(all, got.coins[a])
			fees.Add(fees, got.fees[a])
		}
		for _, tx := range list {
			if in := tx.InMsg; in != nil && tx == list[0] {
				all.Sub(all, new(big.Int).SetUint64(in.Value)) // of who is not in the trace
			}
		}
		if all.Add(all, fees).Sign() != 0 {
			t.Errorf("trace %x: changes and fees do not make up for each other: %d is left", list[0].Hash, all)
		}
	}
	if compared < 1000 || failed < 10 {
		t.Errorf("%d balances were compared, %d transactions failed: too little", compared, failed)
	}
}

func jettonWalletOf(n, owner, master byte) *record.Contract {
	return &record.Contract{Account: accountOf(n), JettonWallet: &record.JettonWallet{Owner: accountOf(owner), Master: accountOf(master)}}
}

func accountOf(n byte) []byte { return append(make([]byte, 4), bytes.Repeat([]byte{n}, 32)...) }

func TestJettonsMoveBetweenKnownWalletsOfOneMaster(t *testing.T) {
	wallets := map[address.Address]*record.Contract{}
	for _, c := range []*record.Contract{jettonWalletOf(1, 11, 9), jettonWalletOf(2, 12, 9), jettonWalletOf(3, 13, 8)} {
		wallets[address.Address(c.Account)] = c
	}
	opcode := uint32(0x178d4519)
	sent := func(from, to byte, amount string, change func(*record.Transaction)) *record.Transaction {
		n, _ := new(big.Int).SetString(amount, 10)
		content := cell.BeginCell().MustStoreUInt(uint64(opcode), 32).MustStoreUInt(7, 64).MustStoreBigCoins(n).EndCell()
		tx := &record.Transaction{Account: accountOf(to), TotalFees: 3, InMsg: &record.Message{Source: accountOf(from), Destination: accountOf(to), Value: 50, Opcode: &opcode, Body: content.ToBOC()}}
		if change != nil {
			change(tx)
		}
		return tx
	}
	const huge = "1000000000000000000000000000000000000"
	list := []*record.Transaction{
		sent(1, 2, huge, nil), sent(2, 1, "5", nil),
		sent(1, 2, "7", func(tx *record.Transaction) { tx.Aborted = true }),
		sent(1, 2, "7", func(tx *record.Transaction) { tx.InMsg.Bounced = true }),
		sent(1, 2, "7", func(tx *record.Transaction) { tx.InMsg.Kind = record.Message_EXTERNAL_IN }),
		sent(9, 2, "7", nil), // minted
		sent(3, 2, "7", nil), // of another jetton
		sent(1, 2, "7", func(tx *record.Transaction) { tx.InMsg.Body = []byte("none") }),
	}
	var got struct {
		Changes map[string]int64
		Fees    map[string]int64
		Jettons map[string]map[string]string
	}
	if err := json.Unmarshal(balanceChangesAnswer.Append(nil, changesBy(list, wallets)), &got); err != nil {
		t.Fatal(err)
	}
	raw := func(n byte) string { return address.Address(accountOf(n)).String() }
	less := "-999999999999999999999999999999999995"
	if len(got.Jettons) != 2 || got.Jettons[raw(11)][raw(9)] != less || got.Jettons[raw(12)][raw(9)] != less[1:] {
		t.Errorf("jettons are %v", got.Jettons)
	}
	if got.Fees[raw(2)] != 21 || got.Changes[raw(2)] != 6*50-21 || got.Changes[raw(1)] != 47 {
		t.Errorf("changes are %v, fees %v", got.Changes, got.Fees)
	}
	if none := string(balanceChangesAnswer.Append(nil, changesBy(nil, nil))); none != `{"changes":null,"fees":null,"jettons":null}` {
		t.Errorf("without transactions the answer is %s", none)
	}
}
