package oracle

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
	nodetest "tonscribe/test/support/node"
)

// dawn is the time of the devnet's zerostates.
const dawn = 1_760_000_000

// life is a devnet that has lived for a while: with traffic of every kind, a
// split and a merge.
type life struct {
	options  chain.Options
	chain    *chain.Chain
	bundles  []*chain.Bundle
	accounts []chain.Account
}

func live(t *testing.T, blocks, transactions int) *life {
	t.Helper()
	town := traffic.New(3, traffic.Options{})
	l := &life{accounts: town.Accounts()}
	l.options = chain.Options{Seed: 3, GenUtime: dawn, Accounts: l.accounts, Params: town.Params()}
	var err error
	if l.chain, err = chain.New(l.options); err != nil {
		t.Fatal(err)
	}
	for seqno := uint32(1); seqno <= uint32(blocks); seqno++ {
		switch _, shards := l.chain.Head(); {
		case seqno == uint32(blocks)/3:
			err = l.chain.Split(uint64(shards[0].ID.Shard))
		case seqno == 2*uint32(blocks)/3:
			err = l.chain.Merge(uint64(shards[0].ID.Shard))
		}
		if err != nil {
			t.Fatal(err)
		}
		messages, err := town.Next(l.chain, seqno, dawn+seqno, transactions)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := l.chain.Step(dawn+seqno, messages)
		if err != nil {
			t.Fatal(err)
		}
		l.bundles = append(l.bundles, bundle)
	}
	return l
}

// order is the blocks of a bundle, shards first.
func order(b *chain.Bundle) []*chain.Block {
	return append(b.Shards[:len(b.Shards):len(b.Shards)], b.Master)
}

// execution is a line for emulate_chain.js: a state to begin with, or a
// transaction.
type execution struct {
	Account        string
	State          string `json:",omitempty"`
	Message, Which string `json:",omitempty"`
	Now            uint32 `json:",omitempty"`
	LT             string `json:",omitempty"`
	Seed, Hash     string `json:",omitempty"`
}

func base(c *cell.Cell) string { return base64.StdEncoding.EncodeToString(c.ToBOC()) }

func name(workchain int32, id [32]byte) string { return fmt.Sprintf("%d:%x", workchain, id) }

func TestOfficialEmulatorMakesTheSameTransactions(t *testing.T) {
	l := live(t, 130, 30)
	var input bytes.Buffer
	fmt.Fprintln(&input, base(l.chain.Config()))
	lines := json.NewEncoder(&input)
	beginning, err := chain.New(l.options)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	turns := map[string]int{} // of accounts, from one status to another
	count := 0
	for _, bundle := range l.bundles {
		for _, block := range order(bundle) {
			decoded, err := decode.Block(block.Data, bundle.Master.ID.SeqNo)
			if err != nil {
				t.Fatal(err)
			}
			for _, transaction := range block.Transactions {
				account := name(transaction.Workchain, transaction.Account)
				if !said[account] {
					said[account] = true
					encodeState(t, lines, beginning, transaction)
				}
				encode(t, lines, execute(t, account, transaction, block.GenUtime, decoded.Block.RandSeed))
				turns[turn(t, transaction)]++
				count++
			}
		}
	}
	out := strings.TrimSpace(string(nodetest.Run(t, input.Bytes(), "emulate_chain.js")))
	if want := fmt.Sprintf("executed %d", count); out != want {
		t.Errorf("%d transactions, the official emulator differs:\n%.6000s", count, out)
	}
	for _, want := range []string{"ACTIVE to NON_EXIST", "ACTIVE to FROZEN", "FROZEN to ACTIVE", "FROZEN to NON_EXIST"} {
		if turns[want] == 0 {
			t.Errorf("no account went from %s", want)
		}
	}
	t.Logf("%d transactions of %d accounts, %v", count, len(said), turns)
}

// turn says how a transaction changed its account's status.
func turn(t *testing.T, made chain.Transaction) string {
	t.Helper()
	var tx tlb.Transaction
	if err := tlb.Parse(&tx, made.Cell); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s to %s", tx.OrigStatus, tx.EndStatus)
}

// encodeState writes the state that an account has in the zerostate, if it has
// one.
func encodeState(t *testing.T, lines *json.Encoder, beginning *chain.Chain, made chain.Transaction) {
	t.Helper()
	state, err := beginning.Account(made.Workchain, made.Account)
	if errors.Is(err, chain.ErrNoAccount) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := tlb.ToCell(state)
	if err != nil {
		t.Fatal(err)
	}
	encode(t, lines, execution{Account: name(made.Workchain, made.Account), State: base(c)})
}

func encode(t *testing.T, lines *json.Encoder, line execution) {
	t.Helper()
	if err := lines.Encode(line); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, account string, made chain.Transaction, now uint32, seed []byte) execution {
	t.Helper()
	var tx tlb.Transaction
	if err := tlb.Parse(&tx, made.Cell); err != nil {
		t.Fatal(err)
	}
	line := execution{Account: account, Now: now, LT: fmt.Sprint(made.LT), Seed: hex.EncodeToString(seed), Hash: hex.EncodeToString(made.Hash[:])}
	if d, ok := tx.Description.(tlb.TransactionDescriptionTickTock); ok {
		line.Which = "tick"
		if d.IsTock {
			line.Which = "tock"
		}
		return line
	}
	messages, err := made.Cell.PeekRef(0)
	if err != nil {
		t.Fatal(err)
	}
	message, err := messages.PeekRef(0)
	if err != nil {
		t.Fatal(err)
	}
	line.Message = base(message)
	return line
}

func TestIndependentReaderAppliesEveryStateUpdate(t *testing.T) {
	interpreter := python(t)
	l := live(t, 24, 12)
	dir := t.TempDir()
	var input bytes.Buffer
	var want []string
	save := func(kind, file string, boc []byte) {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, boc, 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&input, kind, path)
	}
	master, basechain := l.chain.Zerostates()
	for i, zerostate := range []*chain.Zerostate{master, basechain} {
		save("state", fmt.Sprint("zerostate", i), zerostate.Data)
		want = append(want, fmt.Sprintf("OK %x", zerostate.ID.RootHash))
	}
	for _, bundle := range l.bundles {
		for _, block := range order(bundle) {
			save("block", fmt.Sprintf("%d_%x_%d", block.ID.Workchain, uint64(block.ID.Shard), block.ID.SeqNo), block.Data)
			want = append(want, fmt.Sprintf("OK %x %x %d", block.ID.RootHash, block.State.Hash(), len(block.Transactions)))
		}
	}
	command := exec.CommandContext(t.Context(), interpreter, "-I", "apply_updates.py")
	command.Stdin = &input
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("apply_updates.py: %v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("answer %d is %s, want %s", i, got[i], want[i])
		}
	}
}
