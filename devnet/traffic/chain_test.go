package traffic

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"

	"tonscribe/devnet/chain"
)

const dawn = 1_750_000_000

// life is a town on a chain, and what has happened there.
type life struct {
	town  *Traffic
	chain *chain.Chain
	seqno uint32 // of the next masterchain block

	asked, got        int
	done              map[string]int
	caused            map[string]float64
	endings           map[string]int
	turns             map[string]int // of accounts, from one status to another
	refused, expected int
	blocks            []*chain.Block // of the masterchain
}

func options(town *Traffic) chain.Options {
	return chain.Options{Seed: 1, GenUtime: dawn, Accounts: town.Accounts(), Params: town.Params()}
}

func begin(t testing.TB, seed uint64) *life {
	t.Helper()
	town := New(seed, Options{})
	c, err := chain.New(options(town))
	if err != nil {
		t.Fatal(err)
	}
	return &life{
		town: town, chain: c, seqno: 1, done: map[string]int{}, caused: map[string]float64{}, endings: map[string]int{}, turns: map[string]int{},
	}
}

func (l *life) now() uint32 { return dawn + l.seqno }

// live goes on for some blocks with about so many transactions in each.
func (l *life) live(t testing.TB, blocks, asked int) {
	t.Helper()
	for range blocks {
		s := l.town.begin(l.chain, l.seqno, l.now())
		_, err := l.town.next(s, asked)
		if err != nil {
			t.Fatal(err)
		}
		l.asked += asked
		l.step(t, s)
	}
}

// step makes a block of what was prepared and returns its ordinary transactions.
func (l *life) step(t testing.TB, s *step) int {
	t.Helper()
	for name, n := range s.done {
		l.done[name] += n
		l.caused[name] += s.caused[name]
	}
	l.expected += s.refused
	bundle, err := l.chain.Step(l.now(), s.messages)
	if err != nil {
		t.Fatal(err)
	}
	l.seqno++
	l.refused += len(bundle.Refused)
	l.blocks = append(l.blocks, bundle.Master)
	made := 0
	for _, block := range append(bundle.Shards, bundle.Master) {
		for _, one := range block.Transactions {
			var transaction tlb.Transaction
			if err := tlb.Parse(&transaction, one.Cell); err != nil {
				t.Fatal(err)
			}
			if from, to := transaction.OrigStatus, transaction.EndStatus; from != to {
				l.turns[string(from)+" to "+string(to)]++
			}
			if how, ordinary := ending(&transaction); ordinary {
				l.endings[how]++
				made++
			}
		}
	}
	l.got += made
	return made
}

// restart goes on with another chain and another town from where it is.
func (l *life) restart(t testing.TB, seed uint64) {
	t.Helper()
	head := chain.Head{Earlier: l.blocks[:len(l.blocks)-1]}
	head.Master, head.Shards = l.chain.Head()
	l.town = New(seed, Options{})
	var err error
	if l.chain, err = chain.Resume(options(l.town), head); err != nil {
		t.Fatal(err)
	}
}

// sameBlocks tells the first difference between two masterchains.
func sameBlocks(t testing.TB, a, b *life) {
	t.Helper()
	if len(a.blocks) != len(b.blocks) {
		t.Fatalf("%d masterchain blocks, and %d", len(a.blocks), len(b.blocks))
	}
	for i := range a.blocks {
		if !bytes.Equal(a.blocks[i].ID.FileHash, b.blocks[i].ID.FileHash) {
			t.Fatalf("masterchain block %d is %x, and %x", i+1, a.blocks[i].ID.FileHash, b.blocks[i].ID.FileHash)
		}
	}
}

// rest makes blocks without new messages until nothing is on its way.
func (l *life) rest(t testing.TB) (made int) {
	t.Helper()
	for idle := 0; idle < 3; {
		more := l.step(t, l.town.begin(l.chain, l.seqno, l.now()))
		if made += more; more == 0 {
			idle++
		} else {
			idle = 0
		}
	}
	return made
}

// fromTheBlock reports whether a message is one that the collator made, which
// brings fees to the elector.
func fromTheBlock(message *tlb.Message) bool {
	from := message.Msg.SenderAddr()
	return message.MsgType == tlb.MsgTypeInternal && from.Workchain() == -1 && bytes.Equal(from.Data(), make([]byte, 32))
}

// ending is how a transaction with a message ended, in a word or two.
func ending(tx *tlb.Transaction) (how string, ordinary bool) {
	description, ok := tx.Description.(tlb.TransactionDescriptionOrdinary)
	if !ok || fromTheBlock(tx.IO.In) {
		return "", false
	}
	switch phase := description.ComputePhase.Phase.(type) {
	case tlb.ComputePhaseSkipped:
		return "skipped " + string(phase.Reason.Type), true
	case tlb.ComputePhaseVM:
		if !phase.Success {
			return fmt.Sprintf("exit code %d", phase.Details.ExitCode), true
		}
	}
	if phase := description.ActionPhase; phase != nil && !phase.Success {
		return fmt.Sprintf("action code %d", phase.ResultCode), true
	}
	return "done", true
}
