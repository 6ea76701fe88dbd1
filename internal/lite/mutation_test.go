package lite

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/report"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/litetest"
)

// reading is a question and what is taken from an answer to it that passes, in a
// form that compares.
type reading struct {
	request any
	read    func(answer any) ([]byte, error)
}

// readings of a devnet's answers.
func readings(t testing.TB, d *litetest.Devnet) map[string]reading {
	t.Helper()
	accounts, last, _ := someAccounts(t, d)
	account, head := accounts[0], d.Master(20).ID
	tx := last[account.StringRaw()]
	return map[string]reading{
		"getBlockProof": {ton.GetBlockProof{Mode: 1, KnownBlock: d.Init(), TargetBlock: head}, func(answer any) ([]byte, error) {
			p := &Pool{configuration: quick(), metrics: someMetrics(t), network: &GlobalConfig{}, chain: newMasterchain(nil)}
			part, ok := answer.(ton.PartialBlockProof)
			if !ok {
				return nil, ErrRefused
			}
			reached, err := p.climb(&part, d.Init(), head)
			if err != nil {
				return nil, err
			}
			return append(reached.RootHash, reached.FileHash...), nil
		}},
		"getAccountState": {ton.GetAccountState{ID: head, Account: ton.AccountID{ID: account.Data()}}, func(answer any) ([]byte, error) {
			got, err := readAccount(answer, head, account)
			if err != nil {
				return nil, err
			}
			if got.State == nil {
				return []byte{}, nil
			}
			return got.State.Hash(), nil
		}},
		"getAllShardsInfo": {ton.GetAllShardsInfo{ID: head}, func(answer any) ([]byte, error) {
			shards, err := readShards(t.Context(), answer, head)
			var ids []byte
			for _, shard := range shards {
				ids = append(append(ids, shard.RootHash...), shard.FileHash...)
			}
			return ids, err
		}},
		"getBlockHeader": {ton.GetBlockHeader{ID: head}, func(answer any) ([]byte, error) {
			id, _, err := ReadHeader(answer)
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(id.RootHash, head.RootHash) {
				return nil, ErrRefused
			}
			return id.RootHash, nil
		}},
		"getTransactions": {ton.GetTransactions{Limit: 5, AccID: &ton.AccountID{ID: account.Data()}, LT: int64(tx.LT), TxHash: tx.Hash[:]}, func(answer any) ([]byte, error) {
			list, err := readTransactions(answer, account, tx.LT, tx.Hash[:], 5)
			if err != nil || len(list) == 0 {
				return nil, ErrRefused // an empty list is the server's word, a shorter one too
			}
			return list[0].Hash(), nil
		}},
	}
}

// take reads an answer in whatever form a server sent it.
func (r reading) take(data []byte) (got []byte, err error) {
	err = guarded(func() error {
		answer, err := parse(data)
		if err != nil {
			return err
		}
		got, err = r.read(answer)
		return err
	})
	return got, err
}

// honest is the answer of a devnet, and what is taken from it.
func (r reading) honest(t testing.TB, d *litetest.Devnet) (answer, want []byte) {
	t.Helper()
	answer, err := tl.Serialize(d.Handle(t.Context(), litetest.Request{Query: r.request}), true)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = r.take(bytes.Clone(answer)); err != nil {
		t.Fatalf("the real answer: %v", err)
	}
	return answer, want
}

// Real answers with bytes changed, cut off and doubled: none of them ends the
// process, none takes long, and none that differs from the real one passes for
// another block, account or transaction.
func TestChangedAnswersAreRefusedOrTheSame(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 20)
	for name, r := range readings(t, d) {
		t.Run(name, func(t *testing.T) {
			honest, want := r.honest(t, d)
			chance := rand.New(rand.NewPCG(1, 2))
			began := time.Now()
			for n := range 1500 {
				if got, err := r.take(mutate(chance, honest)); err == nil && !bytes.Equal(got, want) {
					t.Fatalf("change %d passes as %X, real is %X", n, got, want)
				}
			}
			t.Logf("%d bytes, %s per changed answer", len(honest), time.Since(began)/1500)
		})
	}
}

// FuzzAnswers is the same with what the fuzzer thinks of: the first byte says what
// was asked.
func FuzzAnswers(f *testing.F) {
	d := litetest.NewDevnet(f, 1, 20)
	all := readings(f, d)
	names := slices.Sorted(maps.Keys(all))
	wants := make([][]byte, len(names))
	for i, name := range names {
		honest, want := all[name].honest(f, d)
		f.Add(append([]byte{byte(i)}, honest...))
		wants[i] = want
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		i := int(data[0]) % len(names)
		costtest.Check(t, func() {
			if got, err := all[names[i]].take(bytes.Clone(data[1:])); err == nil && !bytes.Equal(got, wants[i]) {
				t.Fatalf("%s: passes as %X, real is %X", names[i], got, wants[i])
			}
		})
	})
}

func someMetrics(t testing.TB) *metrics {
	t.Helper()
	return newMetrics(report.Silent())
}

func mutate(chance *rand.Rand, honest []byte) []byte {
	data := bytes.Clone(honest)
	switch chance.IntN(6) {
	case 0:
		return data[:chance.IntN(len(data))]
	case 1:
		at := chance.IntN(len(data))
		return append(data[:at:at], honest[chance.IntN(len(honest)):]...)
	case 2: // lengths and counts are often at the beginning of something
		at := chance.IntN(min(len(data), 400))
		data[at] = 0xff
	default:
		for range 1 + chance.IntN(3) {
			data[chance.IntN(len(data))] ^= 1 << chance.IntN(8)
		}
	}
	return data
}
