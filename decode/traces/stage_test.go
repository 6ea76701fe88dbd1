package traces_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/decode/trace"
	"tonscribe/decode/traces"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/topictest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const partitions = 2

// bundle is what the stages before this one publish of a bundle.
type bundle struct {
	seqno, utime uint32
	master       *record.BlockId
	transactions []*record.Transaction
	contracts    []*record.Contract
}

// devnetBundles are those of a devnet with its traffic. Its jetton wallets are told when
// they first have a transaction, by what their messages show.
func devnetBundles(t *testing.T, n uint32) (list []*bundle) {
	t.Helper()
	const dawn = 1_760_000_000
	life := traffic.New(7, traffic.Options{Wallets: 60})
	c, err := chain.New(chain.Options{Seed: 7, GenUtime: dawn, Accounts: life.Accounts(), Params: life.Params()})
	if err != nil {
		t.Fatal(err)
	}
	decoder, known := decode.Decoder{}, map[string]bool{}
	for seqno := uint32(1); seqno <= n; seqno++ {
		b := &bundle{seqno: seqno, utime: dawn + 5*seqno}
		messages, err := life.Next(c, seqno, b.utime, 60)
		if err != nil {
			t.Fatal(err)
		}
		made, err := c.Step(b.utime, messages)
		if err != nil {
			t.Fatal(err)
		}
		id := made.Master.ID
		b.master = &record.BlockId{Workchain: id.Workchain, Shard: uint64(id.Shard), Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
		for _, block := range append(slices.Clone(made.Shards), made.Master) {
			r, err := decoder.Block(block.Data, seqno)
			if err != nil {
				t.Fatal(err)
			}
			for _, tx := range r.Transactions {
				b.transactions = append(b.transactions, tx.CloneVT())
			}
		}
		for _, tx := range b.transactions {
			const internalTransfer = 0x178d4519
			if in := tx.InMsg; in.GetOpcode() != internalTransfer || in.Opcode == nil || known[string(tx.Account)] {
				continue
			}
			known[string(tx.Account)] = true
			b.contracts = append(b.contracts, &record.Contract{Account: tx.Account, McSeqno: seqno, CodeHash: make([]byte, 32), Interfaces: []string{"jetton_wallet"},
				JettonWallet: &record.JettonWallet{Owner: tx.Account, Master: made36(9)}})
		}
		list = append(list, b)
	}
	return list
}

func made36(n byte) []byte { return append(make([]byte, 4), bytes.Repeat([]byte{n}, 32)...) }

// publish puts bundles into the log.
func publish(t *testing.T, client *kafka.Client, bundles []*bundle) {
	t.Helper()
	for p := range partitions {
		in := func(account []byte) bool { return schema.PartitionOf(schema.AccountID(account), partitions) == p }
		var transactions, contracts []*record.Record
		for _, b := range bundles {
			txs, facts := &record.TransactionBatch{}, &record.ContractBatch{}
			for _, tx := range b.transactions {
				if in(tx.Account) {
					txs.Transactions = append(txs.Transactions, tx)
				}
			}
			for _, c := range b.contracts {
				if in(c.Account) {
					facts.Contracts = append(facts.Contracts, c)
				}
			}
			sealed := func(r *record.Record, rows int) []*record.Record {
				seal := &record.Record{Index: 1, Content: &record.Record_Seal{Seal: &record.Seal{Rows: uint64(rows), Master: b.master, GenUtime: b.utime}}}
				for _, r := range []*record.Record{r, seal} {
					r.McSeqno, r.PrevMcSeqno = b.seqno, b.seqno-1
				}
				return []*record.Record{r, seal}
			}
			transactions = append(transactions, sealed(&record.Record{Content: &record.Record_Transactions{Transactions: txs}}, len(txs.Transactions))...)
			contracts = append(contracts, sealed(&record.Record{Content: &record.Record_Contracts{Contracts: facts}}, len(facts.Contracts))...)
		}
		for topic, records := range map[string][]*record.Record{schema.Transactions.Name: transactions, schema.Contracts.Name: contracts} {
			if err := client.Publish(t.Context(), topic, p, records); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// newLog is a log with the stage's topics.
func newLog(t *testing.T) *kafka.Client {
	t.Helper()
	return clienttest.Kafka(t, enginetest.Kafka(t), partitions, schema.Transactions, schema.Contracts, schema.Traces)
}

// start starts a member of the stage's group.
func start(t *testing.T, client *kafka.Client, dir string) *stage.Component {
	t.Helper()
	configuration := traces.DefaultConfiguration()
	configuration.Dir, configuration.PublishBytes = dir, 1
	c, err := traces.New(configuration, traces.Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: client})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func stop(t *testing.T, c *stage.Component) {
	t.Helper()
	if err := c.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// await returns when the member has done a bundle, or another one of them has.
func await(t *testing.T, bundle uint32, members ...*stage.Component) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		for _, c := range members {
			if testutil.ToFloat64(c.Bundle) >= float64(bundle) {
				return
			}
			if err := c.Err(); err != nil {
				t.Fatal(err)
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("bundle %d does not come", bundle)
		}
	}
}

func encoded(t *testing.T, records []*record.Record) (all []byte) {
	t.Helper()
	for _, r := range records {
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw...)
	}
	return all
}

// facts are what contracts are, in a map.
type facts map[string]*record.Contract

func (f facts) Contract(account []byte) *record.Contract { return f[string(account)] }
func (f facts) AccountData([]byte) []byte                { return nil }

// expected are the steps that bundles give whoever has all of them in memory.
func expected(t *testing.T, bundles []*bundle) (steps map[string]*record.TraceStep) {
	t.Helper()
	assembler, known, steps := trace.NewAssembler(&trace.Memory{}), facts{}, map[string]*record.TraceStep{}
	for _, b := range bundles {
		for _, c := range b.contracts {
			known[string(c.Account)] = c
		}
		list, err := assembler.Bundle(b.seqno, b.transactions)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			step, failed, err := traces.Step(&list[i], known)
			if failed != nil || err != nil {
				t.Fatal(failed, err)
			}
			steps[fmt.Sprintf("%d %x", b.seqno, step.Trace.Id)] = step
		}
	}
	return steps
}

func TestTheTopicHasEveryTraceAsOfEveryBundleThatChangesIt(t *testing.T) {
	bundles := devnetBundles(t, 30)
	client := newLog(t)
	publish(t, client, bundles)
	c := start(t, client, t.TempDir())
	await(t, 30, c)
	stop(t, c)
	want := expected(t, bundles)
	types, across, seen := map[string]int{}, 0, map[string]int{}
	for p, records := range topictest.Read(t, client, schema.Traces, 30) {
		for _, r := range records {
			for _, step := range r.GetTraces().GetTraces() {
				key := fmt.Sprintf("%d %x", r.McSeqno, step.Trace.Id)
				if !want[key].EqualVT(step) {
					t.Errorf("trace %s is\n%v, want\n%v", key, step, want[key])
				}
				delete(want, key)
				if schema.PartitionOf(step.Trace.Id, partitions) != p {
					t.Errorf("trace %s lies in partition %d", key, p)
				}
				if step.Trace.McSeqnoStart < step.Trace.McSeqnoEnd {
					across++
				}
				for _, tx := range step.Transactions {
					seen[string(tx.Hash)]++
				}
				for _, a := range step.Actions {
					types[a.Type]++
				}
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("%d steps did not come", len(want))
	}
	for _, b := range bundles {
		for _, tx := range b.transactions {
			if seen[string(tx.Hash)] != 1 {
				t.Errorf("transaction %x is in %d traces", tx.Hash, seen[string(tx.Hash)])
			}
		}
	}
	if across == 0 || types["ton_transfer"] == 0 || types["jetton_transfer"] == 0 {
		t.Errorf("%d traces go on in later bundles, actions are %v: too little is seen", across, types)
	}
}

func TestRestartsAndStandBysGiveTheSameBytes(t *testing.T) {
	bundles := devnetBundles(t, 40)
	calm := newLog(t)
	publish(t, calm, bundles)
	c := start(t, calm, t.TempDir())
	await(t, 40, c)
	stop(t, c)
	want := topictest.Read(t, calm, schema.Traces, 40)

	random := rand.New(rand.NewPCG(3, 5))
	for name, dirs := range map[string]int{"one folder": 1, "folders of two members": 2} {
		t.Run(name, func(t *testing.T) {
			client, dir := newLog(t), t.TempDir()
			done := 0
			for life := 0; done < len(bundles); life++ {
				more := min(1+random.IntN(8), len(bundles)-done)
				publish(t, client, bundles[done:done+more])
				done += more
				c := start(t, client, filepath.Join(dir, fmt.Sprint(life%dirs)))
				// It may have something left to do when it is stopped.
				await(t, uint32(done-random.IntN(min(more, done))), c)
				stop(t, c)
			}
			c := start(t, client, filepath.Join(dir, "0"))
			await(t, 40, c)
			stop(t, c)
			same(t, topictest.Read(t, client, schema.Traces, 40), want)
		})
	}
	t.Run("a stand-by", func(t *testing.T) {
		client, dir := newLog(t), t.TempDir()
		publish(t, client, bundles[:15])
		first := start(t, client, filepath.Join(dir, "first"))
		await(t, 15, first)
		second := start(t, client, filepath.Join(dir, "second"))
		publish(t, client, bundles[15:30])
		await(t, 30, first, second)
		stop(t, first)
		publish(t, client, bundles[30:])
		await(t, 40, second)
		stop(t, second)
		same(t, topictest.Read(t, client, schema.Traces, 40), want)
	})
}

func same(t *testing.T, have, want [][]*record.Record) {
	t.Helper()
	for p := range want {
		if a, b := encoded(t, have[p]), encoded(t, want[p]); !bytes.Equal(a, b) {
			t.Errorf("partition %d: %d bytes differ from the %d of an undisturbed run", p, len(a), len(b))
		}
	}
}

func TestATooLargeTraceHasNoActionsAndIsInTheListsOfAllOfItsAccounts(t *testing.T) {
	tx := &record.Transaction{Account: made36(1), Hash: bytes.Repeat([]byte{1}, 32), Lt: 5}
	a := &trace.Assembled{Trace: &record.Trace{Id: tx.Hash, Nodes: trace.MaxNodes + 1}, New: []*record.Transaction{tx}, Earlier: [][]byte{made36(2), made36(1)}}
	step, failed, err := traces.Step(a, facts{})
	if failed != nil || err != nil || len(step.Actions) != 0 || len(step.Accounts) != 2 || !bytes.Equal(step.Accounts[0], tx.Account) {
		t.Errorf("the step is %v, %v, %v", step, failed, err)
	}
}

// purchase is a trace in which an account pays a sale, which pays the seller, hands the
// item over and sends itself to nowhere, each with a bundle of its own.
func purchase(n byte, buyer, sale, seller, item []byte) (first, second []*record.Transaction) {
	hash := func(kind byte) []byte { return append(bytes.Repeat([]byte{n}, 31), kind) }
	sent := func(kind byte, from, to []byte, value uint64, body *cell.Builder) *record.Message {
		m := &record.Message{Hash: hash(kind), Source: from, Destination: to, Value: value, CreatedLt: uint64(kind), Body: body.EndCell().ToBOC()}
		if r := body.EndCell().MustBeginParse(); r.BitsLeft() >= 32 {
			opcode := uint32(r.MustLoadUInt(32))
			m.Opcode = &opcode
		}
		return m
	}
	made := func(lt uint64, in *record.Message, out ...*record.Message) *record.Transaction {
		return &record.Transaction{Account: in.Destination, Hash: hash(byte(100 + lt)), Lt: lt, InMsg: in, OutMsgs: out,
			OrigStatus: record.AccountStatus_ACCOUNT_ACTIVE, EndStatus: record.AccountStatus_ACCOUNT_ACTIVE}
	}
	friendly := address.NewAddress(0, 0, buyer[4:])
	paid := sent(2, buyer, sale, 50, cell.BeginCell())
	profit := sent(4, sale, seller, 40, cell.BeginCell())
	moved := sent(5, sale, item, 5, cell.BeginCell().MustStoreUInt(0x5fcc3d14, 32).MustStoreUInt(0, 64).MustStoreAddr(friendly).MustStoreAddr(friendly).MustStoreUInt(0, 1+4+1))
	order := &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: hash(0), Destination: buyer, Body: cell.BeginCell().EndCell().ToBOC()}
	sold := made(3, paid, profit, moved)
	sold.EndStatus = record.AccountStatus_ACCOUNT_NONEXIST
	return []*record.Transaction{made(1, order, paid), sold}, []*record.Transaction{made(6, profit), made(7, moved)}
}

func TestAContractThatEndsInATraceIsKnownToIt(t *testing.T) {
	buyer, sale, seller, item := made36(1), made36(2), made36(3), made36(4)
	facts := []*record.Contract{
		{Account: sale, McSeqno: 1, FirstMcSeqno: 1, CodeHash: made36(5)[4:], Sale: &record.Sale{Version: 1, Item: item, Owner: seller, Price: []byte{40}}},
		{Account: item, McSeqno: 1, FirstMcSeqno: 1, CodeHash: made36(6)[4:], NftItem: &record.NFTItem{Init: true}},
	}
	paid, moved := purchase(1, buyer, sale, seller, item)
	paidLater, movedLater := purchase(2, buyer, sale, seller, item) // of a sale that is no more
	bundles := []*bundle{
		{contracts: facts},
		{transactions: paid, contracts: []*record.Contract{{Account: sale, McSeqno: 2, FirstMcSeqno: 1}}},
		{transactions: moved},
		{transactions: slices.Concat(paidLater, movedLater)},
	}
	for i, b := range bundles {
		b.seqno, b.utime = uint32(i+1), uint32(1_760_000_000+i)
		b.master = &record.BlockId{Workchain: -1, Shard: 1 << 63, Seqno: b.seqno, RootHash: make([]byte, 32), FileHash: make([]byte, 32)}
		for _, tx := range b.transactions {
			tx.McSeqno = b.seqno
		}
	}
	client := newLog(t)
	publish(t, client, bundles)
	c := start(t, client, t.TempDir())
	await(t, 4, c)
	stop(t, c)
	types := map[uint32][]string{}
	for _, records := range topictest.Read(t, client, schema.Traces, 4) {
		for _, r := range records {
			for _, step := range r.GetTraces().GetTraces() {
				for _, a := range step.Actions {
					types[r.McSeqno] = append(types[r.McSeqno], a.Type)
				}
			}
		}
	}
	if !slices.Contains(types[3], "nft_purchase") || slices.Contains(types[4], "nft_purchase") || !slices.Contains(types[4], "nft_transfer") {
		t.Errorf("the trace in which the sale ended was %v, the one after it %v", types[3], types[4])
	}
}
