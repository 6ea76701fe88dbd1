package table_test

import (
	"bytes"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

func hash(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

// address is one of the basechain.
func address(n byte) []byte { return append(make([]byte, 4), hash(n)...) }

func pointer[T any](v T) *T { return &v }

func amount(n int64) *big.Int { return big.NewInt(n) }

const none = int32(-2147483648)

func prefix(n uint64) uint64 { return 0x0101010101010101 * n }

var (
	block = &record.Block{
		McSeqno: 70, Id: &record.BlockId{Workchain: 0, Shard: 1 << 63, Seqno: 81, RootHash: hash(1), FileHash: hash(2)},
		GenUtime: 1700, StartLt: 1000, EndLt: 1010, TxCount: 3, KeyBlock: true, GlobalId: -239,
	}
	transaction = &record.Transaction{
		Account: address(3), Lt: 1001, Hash: hash(4), McSeqno: 70, Block: &record.BlockRef{Workchain: 0, Shard: 1 << 63, Seqno: 81}, Now: 1700,
		Type: record.TransactionType_ORD, OrigStatus: record.AccountStatus_ACCOUNT_UNINIT, EndStatus: record.AccountStatus_ACCOUNT_ACTIVE, Aborted: true,
		TotalFees: 500, Storage: &record.StoragePhase{FeesCollected: 20}, Compute: &record.ComputePhase{ExitCode: -14, GasUsed: 300, GasFees: 120},
		Action: &record.ActionPhase{ResultCode: 37, TotalActionFees: pointer(uint64(40)), TotalFwdFees: pointer(uint64(60))},
		InMsg: &record.Message{Hash: hash(5), BodyHash: hash(6), Kind: record.Message_INTERNAL, Source: address(7), Destination: address(3),
			Value: 900, Opcode: pointer(uint32(0xf8a7ea5)), CreatedLt: 990, CreatedAt: 1699},
		OutMsgs: []*record.Message{{Hash: hash(8), BodyHash: hash(9), Kind: record.Message_EXTERNAL_OUT, Source: address(3), CreatedLt: 1002, CreatedAt: 1700}},
	}
	account = &record.Account{
		Account: address(3), McSeqno: 70, LastTransLt: 1001, LastTransHash: hash(4), Now: 1700, Hash: hash(10),
		State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, Balance: 11, CodeHash: hash(12)},
	}
	code     = &record.Code{Hash: hash(12), Methods: []uint32{85143, 97026}, MethodsKnown: true, Boc: []byte("boc")}
	contract = &record.Contract{
		Account: address(3), McSeqno: 70, FirstMcSeqno: 60, LastTransLt: 1001, Interfaces: []string{"jetton_master", "nft_item"},
		JettonMaster: &record.JettonMaster{TotalSupply: []byte{1, 0}, Mintable: true, Admin: address(13), WalletCodeHash: hash(14), MintlessRoot: hash(25),
			Content: &record.TokenContent{Attributes: []*record.TokenAttribute{{Name: "name", Value: "Gem"}, {Name: "symbol", Value: "G"}, {Name: "decimals", Value: "9"}, {Name: "uri", Value: "https://a/1"}}}},
		JettonWallet: &record.JettonWallet{Balance: []byte{2, 0}, Owner: address(15), Master: address(16)},
		NftCollection: &record.NFTCollection{Owner: address(17), NextItemIndex: []byte{5}, Unordered: true,
			Content: &record.TokenContent{Attributes: []*record.TokenAttribute{{Name: "name", Value: "Gems"}, {Name: "uri", Value: "https://a/1"}}}},
		NftItem: &record.NFTItem{Init: true, Index: []byte{6}, Collection: address(18), Owner: address(19)},
		Vesting: &record.Vesting{Owner: address(20)},
	}
	past           = &record.Contract{Account: address(3), McSeqno: 70, FirstMcSeqno: 60, JettonWallet: &record.JettonWallet{Owner: address(14), Master: address(16)}}
	jettonTransfer = &record.JettonTransfer{SourceWallet: address(3), Lt: 1001, TransactionHash: hash(4), Now: 1700, McSeqno: 71, TransactionMcSeqno: 70,
		Amount: []byte{3, 0}, Source: address(21), Destination: address(22), Master: address(16), Delivery: record.Delivery_DELIVERED}
	jettonBurn = &record.JettonBurn{Wallet: address(3), Lt: 1001, TransactionHash: hash(4), Now: 1700, McSeqno: 71, TransactionMcSeqno: 70, Aborted: true,
		Amount: []byte{4, 0}, Owner: address(21), Master: address(16), Delivery: record.Delivery_REFUSED}
	nftTransfer = &record.NFTTransfer{Item: address(3), Lt: 1001, TransactionHash: hash(4), Now: 1700, McSeqno: 71, TransactionMcSeqno: 70,
		OldOwner: address(23), NewOwner: address(24)}
	transfer = &record.Action{
		Id: hash(30), Type: "jetton_swap", Success: true, StartLt: 1001, EndLt: 1003, StartUtime: 1700, EndUtime: 1702, Transactions: [][]byte{hash(4)}, Accounts: [][]byte{address(3), address(21)},
		Ancestors: []string{"multisig_execute"}, Since: 1, Until: 1, Details: []*record.ActionDetail{
			{Name: "dex", Value: &record.ActionDetail_Text{Text: "dedust"}}, {Name: "sender", Value: &record.ActionDetail_Bytes{Bytes: address(21)}},
			{Name: "asset_in", Value: &record.ActionDetail_Bytes{Bytes: address(16)}},
			{Name: "dex_incoming_transfer", Value: &record.ActionDetail_Object{Object: &record.ActionObject{Details: []*record.ActionDetail{
				{Name: "amount", Value: &record.ActionDetail_Bytes{Bytes: []byte{1, 0}}}}}}},
			{Name: "amount_2", Value: &record.ActionDetail_Unsigned{Unsigned: 9}},
		},
	}
	// It ended at a lower lt, and later, than the transfer: the two orders differ.
	call = &record.Action{Id: hash(35), Type: "call_contract", StartLt: 1002, EndLt: 1002, StartUtime: 1703, EndUtime: 1703, Since: 1, Until: 255}
	step = &record.TraceStep{
		Trace: &record.Trace{Id: hash(4), ExternalHash: hash(31), ExternalHashNorm: hash(32), McSeqnoStart: 70, McSeqnoEnd: 71, StartLt: 1001, EndLt: 1004, StartUtime: 1700, EndUtime: 1703,
			State: record.TraceState_TRACE_COMPLETE, Nodes: 2, Edges: 3, Replaces: [][]byte{hash(33)}},
		Transactions: []*record.TraceTransaction{{Account: address(3), Lt: 1001, Hash: hash(4), McSeqno: 70}, {Account: address(3), Lt: 1004, Hash: hash(35), McSeqno: 71}},
		Actions:      []*record.Action{transfer, call}, Accounts: [][]byte{address(3)},
	}
	open = &record.TraceStep{
		Trace:        &record.Trace{Id: hash(34), McSeqnoStart: 71, McSeqnoEnd: 71, StartLt: 1005, EndLt: 1005, State: record.TraceState_TRACE_PENDING, Nodes: 1, PendingEdges: 2},
		Transactions: []*record.TraceTransaction{{Account: address(3), Lt: 1005, Hash: hash(34), McSeqno: 71}},
	}
	seal = &record.Record{McSeqno: 70, PrevMcSeqno: 69, Content: &record.Record_Seal{Seal: &record.Seal{Rows: 3, GenUtime: 1700}}}
)

// topics are the records of each topic that the golden rows are made of.
var topics = map[string]*record.Record{
	schema.Headers.Name:      {Content: &record.Record_Blocks{Blocks: &record.BlockBatch{Blocks: []*record.Block{block}}}},
	schema.Transactions.Name: {Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: []*record.Transaction{transaction}}}},
	schema.Accounts.Name:     {Content: &record.Record_Accounts{Accounts: &record.AccountBatch{Accounts: []*record.Account{account}, Codes: []*record.Code{code}}}},
	schema.Contracts.Name: {Content: &record.Record_Contracts{Contracts: &record.ContractBatch{Contracts: []*record.Contract{contract}, Past: []*record.Contract{past},
		JettonTransfers: []*record.JettonTransfer{jettonTransfer}, JettonBurns: []*record.JettonBurn{jettonBurn}, NftTransfers: []*record.NFTTransfer{nftTransfer}}}},
	schema.Traces.Name: {Content: &record.Record_Traces{Traces: &record.TraceBatch{Traces: []*record.TraceStep{step, open}}}},
}

// raw stands for the record's bytes.
const raw = "…"

// golden are values of rows, written by hand: the first one of each table, or all.
var golden = map[string][][]any{
	"blocks": {{uint32(70), int32(0), uint64(1 << 63), uint32(81), uint32(1700), uint64(1000), uint64(1010), hash(1), hash(2), uint32(3), true, int32(-239), raw}},
	"blocks_index": {
		{int8(1), uint64(0), int32(0), uint64(1 << 63), uint32(81), uint32(70)},
		{int8(2), prefix(1), int32(0), uint64(1 << 63), uint32(81), uint32(70)},
		{int8(2), prefix(2), int32(0), uint64(1 << 63), uint32(81), uint32(70)},
		{int8(3), uint64(1700), int32(0), uint64(1 << 63), uint32(81), uint32(70)},
		{int8(4), uint64(1000), int32(0), uint64(1 << 63), uint32(81), uint32(70)},
	},
	"transactions": {{int32(0), prefix(3), uint64(1001), hash(3), uint32(1700), uint32(70), uint64(1 << 63), uint32(81), int8(0), int8(0), int8(2), true, false,
		int32(-14), uint64(300), int32(37), uint64(500), uint64(20), int8(0), uint64(900), int64(0xf8a7ea5), uint16(1), raw}},
	"transactions_index": {
		{int8(1), prefix(4), uint64(1001), int32(0), prefix(3), uint32(70), uint64(0), uint32(0), false, uint64(0), uint64(0), uint64(0), uint64(0), uint64(0)},
		{int8(2), uint64(70), uint64(1001), int32(0), prefix(3), uint32(70), uint64(1 << 63), uint32(81), false, uint64(0), uint64(0), uint64(0), uint64(0), uint64(0)},
		{int8(3), uint64(0), uint64(1001), int32(0), prefix(3), uint32(70), uint64(1 << 63), uint32(81), false, uint64(0), uint64(0), uint64(0), uint64(0), uint64(0)},
		{int8(4), uint64(1700), uint64(1001), int32(0), prefix(3), uint32(70), uint64(0), uint32(0), true, uint64(500), uint64(20), uint64(120), uint64(40), uint64(60)},
	},
	"messages_index": {
		{int8(2), prefix(6), uint64(990), uint32(0x05050505), uint32(1699), int32(0), prefix(3), uint64(1001), uint8(0), false, uint8(0), uint32(70)},
		{int8(3), uint64(0xf8a7ea5), uint64(990), uint32(0x05050505), uint32(1699), int32(0), prefix(3), uint64(1001), uint8(0), false, uint8(0), uint32(70)},
		{int8(4), uint64(0), uint64(990), uint32(0x05050505), uint32(1699), int32(0), prefix(3), uint64(1001), uint8(0), false, uint8(0), uint32(70)},
		{int8(5), uint64(1699<<32 | 0x05050505), uint64(990), uint32(0), uint32(0), int32(0), prefix(3), uint64(1001), uint8(0), false, uint8(0), uint32(70)},
		{int8(1), prefix(5), uint64(0), uint32(0), uint32(0), int32(0), prefix(3), uint64(1001), uint8(0), false, uint8(0), uint32(70)},
		{int8(2), prefix(9), uint64(1002), uint32(0x08080808), uint32(1700), int32(0), prefix(3), uint64(1001), uint8(1), false, uint8(2), uint32(70)},
	},
	"messages_by_account": {
		{int8(1), int32(0), prefix(7), uint64(990), uint32(0x05050505), uint8(0), uint64(1001), int32(0), prefix(3), uint32(1699), uint8(0), uint32(70), int64(0xf8a7ea5), hash(4)},
		{int8(0), int32(0), prefix(3), uint64(990), uint32(0x05050505), uint8(0), uint64(1001), int32(0), prefix(7), uint32(1699), uint8(0), uint32(70), int64(0xf8a7ea5), hash(0)},
		{int8(1), int32(0), prefix(3), uint64(1002), uint32(0x08080808), uint8(1), uint64(1001), none, uint64(0), uint32(1700), uint8(2), uint32(70), int64(-1), hash(0)},
		{int8(0), none, uint64(0), uint64(1002), uint32(0x08080808), uint8(1), uint64(1001), int32(0), prefix(3), uint32(1700), uint8(2), uint32(70), int64(-1), hash(0)},
	},
	"accounts":            {{int32(0), prefix(3), hash(3), uint64(2002), uint32(70), uint32(1700), int8(2), uint64(11), hash(12), raw}},
	"accounts_by_balance": {{int32(0), prefix(3), hash(3), uint64(2002), uint64(11), false}},
	"codes":               {{hash(12), []uint32{85143, 97026}, true, "boc"}},
	"contracts":           {{int32(0), prefix(3), hash(3), uint32(70), uint32(60), uint64(1001), uint32(1 | 2 | 4 | 8 | 512), []string{"jetton_master", "nft_item"}, raw}},
	"past_contracts":      {{int32(0), prefix(3), hash(3), uint32(70), raw}},
	"jetton_masters": {{int32(0), prefix(3), hash(3), uint32(70), uint32(60), uint64(1001), true, amount(256), true, int32(0), prefix(13), hash(13),
		"Gem", "G", "9", "https://a/1", hash(14), hash(25)}},
	"jetton_wallets": {{int32(0), prefix(3), hash(3), uint32(70), uint32(60), uint64(1001), true, int32(0), prefix(16), hash(16), int32(0), prefix(15), hash(15), amount(512)}},
	"nft_collections": {{int32(0), prefix(3), hash(3), uint32(70), uint32(60), uint64(1001), true, int32(0), prefix(17), hash(17), amount(5), true,
		"Gems", "https://a/1"}},
	"nft_items": {{int32(0), prefix(3), hash(3), uint32(70), uint32(60), uint64(1001), true, true, amount(6), int32(0), prefix(18), hash(18),
		int32(0), prefix(19), hash(19), none, uint64(0), hash(0)}},
	"contract_links": {
		{int8(3), none, uint64(0), uint32(60), int32(0), prefix(3), hash(3), uint32(70)},
		{int8(3), int32(0), prefix(20), uint32(60), int32(0), prefix(3), hash(3), uint32(70)},
	},
	"metadata_links": {{uint32(70), "https://a/1"}},
	"jetton_transfers": {{uint64(1001), int32(0), prefix(3), hash(3), uint32(71), uint32(70), uint32(1700), false, int8(1), int32(0), prefix(16), hash(16),
		hash(21), hash(22), amount(768), raw}},
	"jetton_burns": {{uint64(1001), int32(0), prefix(3), hash(3), uint32(71), uint32(70), uint32(1700), true, int8(2), int32(0), prefix(16), hash(16),
		int32(0), prefix(21), hash(21), amount(1024), raw}},
	"nft_transfers": {{uint64(1001), int32(0), prefix(3), hash(3), uint32(71), uint32(70), uint32(1700), false, none, uint64(0), hash(0),
		int32(0), prefix(23), hash(23), int32(0), prefix(24), hash(24), raw}},
	"transfers_by_party": {
		{schema.ListOf(schema.JettonTransfer, nil, nil, schema.TakesPart), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), ""},
		{schema.ListOf(schema.JettonTransfer, address(3), nil, schema.IsTold), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), ""},
		{schema.ListOf(schema.JettonTransfer, nil, address(16), schema.TakesPart), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), ""},
		{schema.ListOf(schema.JettonTransfer, address(22), nil, schema.Receives), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), ""},
		{schema.ListOf(schema.JettonTransfer, address(22), nil, schema.TakesPart), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), raw},
		{schema.ListOf(schema.JettonTransfer, address(22), address(16), schema.Receives), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), ""},
		{schema.ListOf(schema.JettonTransfer, address(21), nil, schema.Sends), uint64(1001), int32(0), prefix(3), uint32(71), uint32(70), uint32(1700), ""},
	},
	"transaction_traces": {
		{int32(0), prefix(3), uint64(1001), prefix(3), uint32(71), uint32(1), prefix(4), ""},
		{int32(0), prefix(3), uint64(1004), prefix(3), uint32(71), uint32(0), prefix(4), string(hash(4)[8:]) + string(hash(31))},
		{int32(0), prefix(3), uint64(1005), prefix(3), uint32(71), uint32(0), prefix(34), ""},
	},
	"traces": {
		{prefix(4), prefix(4), uint32(71), uint64(1004), uint32(1703), int8(0), uint32(2), false, raw},
		{prefix(33), prefix(33), uint32(71), uint64(1004), uint32(1703), int8(0), uint32(2), true, raw},
		{prefix(34), prefix(34), uint32(71), uint64(1005), uint32(0), int8(1), uint32(1), false, raw},
	},
	// An open trace is in no list.
	"traces_by_list": {
		{schema.AllTraces.Number(nil), uint64(1004), prefix(4), uint32(1703), uint32(71)},
		{schema.TracesOf.Number(address(3)), uint64(1004), prefix(4), uint32(1703), uint32(71)},
	},
	"actions": {
		{prefix(4), uint64(1004), uint32(0), uint32(0x23232323), uint32(71), uint32(1703), "call_contract", false, []string(nil), "", hash(0), hash(0), hash(0), hash(0), amount(0), amount(0), "", raw},
		{prefix(4), uint64(1004), uint32(1), uint32(0x1e1e1e1e), uint32(71), uint32(1702), "jetton_swap", true, []string{"multisig_execute"}, "dedust",
			hash(16), hash(0), hash(0), hash(0), amount(256), amount(9), "", raw},
	},
	"actions_by_list": {
		{schema.AllActions.Number(nil), uint64(1004), prefix(4), uint32(0), uint32(1), uint32(1703), schema.ActionType("call_contract"), uint8(1), uint8(255), uint32(71)},
		{schema.AllActions.Number(nil), uint64(1004), prefix(4), uint32(1), uint32(0), uint32(1703), schema.ActionType("jetton_swap"), uint8(1), uint8(1), uint32(71)},
		{schema.ActionsOf.Number(address(3)), uint64(1004), prefix(4), uint32(1), uint32(0), uint32(1703), schema.ActionType("jetton_swap"), uint8(1), uint8(1), uint32(71)},
		{schema.ActionsOf.Number(address(21)), uint64(1004), prefix(4), uint32(1), uint32(0), uint32(1703), schema.ActionType("jetton_swap"), uint8(1), uint8(1), uint32(71)},
	},
	"seals":    {{"headers", uint16(2), uint32(70), uint32(69), uint64(3)}},
	"progress": {{"headers", uint16(2), uint16(4), uint32(70), uint32(1700)}},
}

// filled are the buffers of all tables with the rows of the golden records.
func filled(t testing.TB) (all []table.Buffer) {
	t.Helper()
	for _, topic := range schema.TableTopics {
		f, err := table.NewFeed(topic.Name, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := topics[topic.Name].MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(topics[topic.Name], payload); err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Buffers()...)
	}
	row := table.Seal{Record: seal, Topic: "headers", Partition: 2, Partitions: 4}
	seals, progress := table.NewRows(table.Seals), table.NewRows(table.Progress)
	seals.Add(row)
	progress.Add(row)
	return append(all, seals, progress)
}

func TestRowsAreThoseWrittenByHand(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range filled(t) {
		name := b.Table().Name
		seen[name] = true
		if len(golden[name]) == 0 || b.Rows() < len(golden[name]) {
			t.Errorf("%s: %d rows, %d written by hand", name, b.Rows(), len(golden[name]))
			continue
		}
		for n, want := range golden[name] {
			values := b.Values()
			if len(values) != len(want) {
				t.Errorf("%s: %d columns, %d written by hand", name, len(values), len(want))
				continue
			}
			for i, v := range values {
				have := reflect.ValueOf(v.Slice).Index(n).Interface()
				if want[i] == raw && have != "" {
					continue // held by TestRecordsAreTheBytesThatWereWritten
				}
				if !reflect.DeepEqual(have, want[i]) && !equalNumbers(have, want[i]) {
					t.Errorf("%s, row %d: %s is %v, want %v", name, n, v.Column, have, want[i])
				}
			}
		}
	}
	for _, declared := range table.All {
		if !seen[declared.Name] {
			t.Errorf("no record made rows of %s", declared.Name)
		}
	}
	if len(seen) != len(table.All) {
		t.Errorf("%d tables have rows, %d are declared", len(seen), len(table.All))
	}
}

func equalNumbers(a, b any) bool {
	x, is := a.(*big.Int)
	y, too := b.(*big.Int)
	return is && too && x.Cmp(y) == 0
}

func TestRecordsAreTheBytesThatWereWritten(t *testing.T) {
	want := map[string]interface{ MarshalVT() ([]byte, error) }{
		"blocks": block, "accounts": account, "contracts": contract, "past_contracts": past, "jetton_transfers": jettonTransfer, "jetton_burns": jettonBurn, "nft_transfers": nftTransfer,
	}
	for _, b := range filled(t) {
		r := want[b.Table().Name]
		if r == nil {
			continue
		}
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		values := b.Values()
		i := slices.IndexFunc(values, func(v table.Values) bool { return v.Column == "record" })
		if have := values[i].Slice.([]string)[0]; have != string(raw) {
			t.Errorf("%s: the record is %x, want %x", b.Table().Name, have, raw)
		}
	}
}

// Other readers of the log have the same records.
func TestARecordIsAsItWasWhenItsRowsAreMade(t *testing.T) {
	for name, options := range map[string]table.Options{
		"what is published": {},
		"data is not kept":  {KeepsData: func(uint32) bool { return false }},
	} {
		for topic, r := range topics {
			given := r.CloneVT()
			for _, a := range given.GetAccounts().GetAccounts() {
				a.Data = []byte{1}
			}
			want := given.CloneVT()
			payload, err := given.MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			f, err := table.NewFeed(topic, options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Add(given, payload); err != nil {
				t.Fatal(err)
			}
			if !given.EqualVT(want) {
				t.Errorf("%s, %s: %v\nwant %v", topic, name, given, want)
			}
		}
	}
}

// A wallet without a balance that has not claimed what is its owner's is found by owner,
// by master and among all; others are not.
func TestWalletsThatMayClaimAreFoundWhereTheyHaveNoBalance(t *testing.T) {
	for name, c := range map[string]struct {
		claimed *bool
		balance []byte
		want    []table.LinkKey
	}{
		"no balance, not claimed": {pointer(false), nil, []table.LinkKey{{Role: schema.LinkUnclaimed, Workchain: none}, {Role: schema.LinkUnclaimed, Prefix: prefix(15)}, {Role: schema.LinkUnclaimed, Prefix: prefix(16)}}},
		"a balance, not claimed":  {pointer(false), []byte{1}, nil},
		"no balance, claimed":     {pointer(true), nil, nil},
		"no mintless jetton":      {nil, nil, nil},
	} {
		row, err := table.NewContract(&record.Contract{Account: address(3), McSeqno: 70, JettonWallet: &record.JettonWallet{Owner: address(15), Master: address(16), Claimed: c.claimed, Balance: c.balance}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var have []table.LinkKey
		row.Links(func(l *table.Link) { have = append(have, l.LinkKey) })
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: links are %v, want %v", name, have, c.want)
		}
	}
}

func TestARecordThatIsCutShortIsRefused(t *testing.T) {
	for topic, r := range topics {
		f, err := table.NewFeed(topic, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		payload, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range [][]byte{payload[:len(payload)-1], nil, append(slices.Clone(payload), payload...)} {
			if _, err := f.Add(r, cut); err == nil {
				t.Errorf("%s: %d bytes of %d are taken", topic, len(cut), len(payload))
			}
		}
	}
	if _, err := table.NewFeed("blocks", table.Options{}); err == nil {
		t.Error("a topic without tables has a feed")
	}
}

func TestAReaderInMemoryGetsTheRowsThatBuffersGet(t *testing.T) {
	for topic, r := range topics {
		payload, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		buffered, err := table.NewFeed(topic, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := buffered.Add(r, payload)
		if err != nil {
			t.Fatal(err)
		}
		taken := map[string]int{}
		f, err := table.NewFeed(topic, table.Options{Take: func(of *table.Table, words []uint64, source string) {
			taken[of.Name]++
			if place, ok := of.Place("exit_code"); ok && int64(words[place.At]) != -14 {
				t.Errorf("exit code of a transaction is %d, want -14", int64(words[place.At]))
			}
			if place, ok := of.Place("path"); ok && words[place.At] == 0 {
				t.Errorf("path of a row of %s is 0", of.Name)
			}
			if source == "" && of != &table.MetadataLinks.Table {
				t.Errorf("a row of %s has no record that it was made of", of.Name)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if have, err := f.Add(r, payload); err != nil || have != want {
			t.Errorf("%s: %d rows, %v; want %d", topic, have, err, want)
		}
		for _, b := range buffered.Buffers() {
			if have := taken[b.Table().Name]; have != b.Rows() {
				t.Errorf("%s: %d rows were taken, want %d", b.Table().Name, have, b.Rows())
			}
		}
		if len(f.Buffers()) > 0 {
			t.Errorf("%s: %d buffers, want none", topic, len(f.Buffers()))
		}
	}
}

func TestWordsOfAValueAreThoseOfARowThatHasIt(t *testing.T) {
	number := [32]byte{30: 1, 31: 2}
	for _, c := range []struct {
		table  *table.Table
		column string
		value  any
		want   []uint64
	}{
		{&table.Transactions.Table, "workchain", int32(-1), []uint64{1<<64 - 1}},
		{&table.Transactions.Table, "lt", uint64(7), []uint64{7}},
		{&table.TransactionsIndex.Table, "path", "mc_seqno", []uint64{2}},
		{&table.JettonWallets.Table, "balance", number, []uint64{258, 0, 0, 0}},
		{&table.JettonWallets.Table, "balance", 0, []uint64{0, 0, 0, 0}},
		{&table.Codes.Table, "hash", append([]byte{1}, make([]byte, 31)...), []uint64{1, 0, 0, 0}},
	} {
		place, ok := c.table.Place(c.column)
		have, err := place.WordsOf(c.value)
		if !ok || err != nil || !slices.Equal(have, c.want) {
			t.Errorf("%s.%s = %v: words %x, %v; want %x", c.table.Name, c.column, c.value, have, err, c.want)
		}
	}
	place, _ := table.TransactionsIndex.Place("path")
	if words, err := place.WordsOf("nowhere"); err == nil {
		t.Errorf("a name that the column has not: words %x, want an error", words)
	}
}
