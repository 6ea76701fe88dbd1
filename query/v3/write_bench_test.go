package v3

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tonscribe/decode"
	"tonscribe/devnet/contracts"
	"tonscribe/query/api"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// BenchmarkWrite writes rows of answers as JSON and gathers the addresses of their
// address book: ns and allocations are those of one row.
func BenchmarkWrite(b *testing.B) {
	var messages []render.MessageRow
	transactions := recordedTransactions(b)
	for _, tx := range transactions {
		for _, m := range append([]*record.Message{tx.InMsg}, tx.OutMsgs...) {
			messages = append(messages, render.MessageRow{Message: m})
		}
	}
	var rows []render.TransactionRow
	for _, tx := range transactions {
		rows = append(rows, render.TransactionOf(tx))
	}
	benchmarkRows(b, "transaction", render.Transaction, rows)
	benchmarkRows(b, "message", render.Message, messages)
	benchmarkPage(b, "messages_page", render.Message, messages)
	benchmarkRows(b, "block", render.Block, []*record.Block{aBlock()})
	benchmarkRows(b, "jetton_transfer", render.JettonTransfer, []render.JettonTransferRow{{JettonTransfer: aTransfer()}})
	benchmarkRows(b, "jetton_wallet", render.JettonWallet, []render.JettonWalletRow{{Contract: aJettonWallet()}})
	benchmarkRows(b, "nft_item", render.NFTItem, []render.ItemRow{{Contract: anItem()}})
	benchmarkRows(b, "account_state", render.Account, []render.AccountRow{{Account: anAccount()}})
}

func benchmarkRows[R any](b *testing.B, name string, shape *api.Shape[R], rows []R) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		w := &api.Writer{JSON: make([]byte, 0, 1<<16), Book: api.Book{}, Parts: render.StateBoCs}
		size := 0
		for i := range b.N {
			w.JSON = w.JSON[:0]
			shape.Write(w, rows[i%len(rows)])
			w.Done() // every row has the budget of an answer
			size += len(w.JSON)
		}
		b.SetBytes(int64(size / b.N))
	})
}

// benchmarkPage is of a whole page of rows.
func benchmarkPage[R any](b *testing.B, name string, shape *api.Shape[R], rows []R) {
	page := make([]R, params.MaxLimit)
	for i := range page {
		page[i] = rows[i%len(rows)]
	}
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		w := &api.Writer{}
		for range b.N {
			w.JSON, w.Book = w.JSON[:0], api.Book{}
			api.WriteList(w, shape, page, api.Same[R])
			w.Done()
		}
		b.SetBytes(int64(len(w.JSON)))
	})
}

func recordedTransactions(b *testing.B) (list []*record.Transaction) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(b), "api_v3_rebuilt_txs/walletkit/*.json"))
	if err != nil || len(files) == 0 {
		b.Fatal("no recorded transactions", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		var rebuilt struct{ Transactions []struct{ BOC string } }
		if err := json.Unmarshal(text, &rebuilt); err != nil {
			b.Fatal(file, err)
		}
		for _, tx := range rebuilt.Transactions {
			boc, err := base64.StdEncoding.DecodeString(tx.BOC)
			if err != nil {
				b.Fatal(err)
			}
			decoded, err := decode.Transaction(boc)
			if err != nil {
				b.Fatal(err)
			}
			decoded.Block = &record.BlockRef{Shard: 1 << 63, Seqno: 45_000_000}
			list = append(list, decoded)
		}
	}
	return list
}

func anAddress(last byte) []byte { return append(make([]byte, 4), aHash(last)...) }

func aHash(last byte) []byte { return append(bytes.Repeat([]byte{0xa7}, 31), last) }

func aBlock() *record.Block {
	return &record.Block{
		Id:       &record.BlockId{Shard: 1 << 63, Seqno: 45_000_000, RootHash: aHash(1), FileHash: aHash(2)},
		GlobalId: -239, GenUtime: 1_760_000_000, StartLt: 60_000_000_000_000, EndLt: 60_000_000_000_010, TxCount: 120,
		RandSeed: aHash(3), CreatedBy: aHash(4), McSeqno: 44_000_000, PrevBlocks: []*record.BlockId{{Shard: 1 << 63, Seqno: 44_999_999}},
	}
}

func aTransfer() *record.JettonTransfer {
	return &record.JettonTransfer{
		QueryId: 1 << 50, Source: anAddress(1), Destination: anAddress(2), Amount: []byte{1, 2, 3, 4}, SourceWallet: anAddress(3), Master: anAddress(4),
		TransactionHash: aHash(1), Lt: 60_000_000_000_000, Now: 1_760_000_000, ResponseDestination: anAddress(1), ForwardAmount: []byte{1},
		ForwardPayload: contracts.CommentBody("for the coffee").ToBOC(),
	}
}

func aJettonWallet() *record.Contract {
	return &record.Contract{
		Account: anAddress(1), CodeHash: aHash(1), DataHash: aHash(2), LastTransLt: 60_000_000_000_000,
		JettonWallet: &record.JettonWallet{Balance: []byte{1, 2, 3, 4}, Owner: anAddress(2), Master: anAddress(3)},
	}
}

func anItem() *record.Contract {
	return &record.Contract{
		Account: anAddress(1), CodeHash: aHash(1), DataHash: aHash(2), LastTransLt: 60_000_000_000_000,
		NftItem: &record.NFTItem{
			Init: true, Index: []byte{1, 2}, Collection: anAddress(2), Owner: anAddress(3),
			Content: &record.TokenContent{Attributes: []*record.TokenAttribute{{Name: "uri", Value: "https://example.org/items/258.json"}}},
		},
	}
}

func anAccount() *record.Account {
	return &record.Account{
		Account: anAddress(1), Hash: aHash(1), LastTransHash: aHash(2), LastTransLt: 60_000_000_000_000, Data: make([]byte, 100),
		State: &record.AccountState{Balance: 1_000_000_000, Status: record.AccountStatus_ACCOUNT_ACTIVE, DataHash: aHash(3), CodeHash: aHash(4)},
	}
}
