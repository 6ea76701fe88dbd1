package clients

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/litetest"
	nodetest "tonscribe/test/support/node"
	pythontest "tonscribe/test/support/python"
)

//go:embed requirements.txt
var requirements []byte

func coins(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1_000_000_000)) }

// external is a signed message of the wallet that sends one coin to itself.
func external(t *testing.T, seqno uint32) *cell.Cell {
	t.Helper()
	w := wallet()
	message, err := w.External(0, payer, contracts.Order{
		Seqno: seqno, ValidUntil: uint32(time.Now().Unix()) + 3600,
		Messages: []contracts.Message{{To: w.Address(0), Value: coins(1), Mode: contracts.ModePayFees}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// prepare makes a chain on which the wallet has sent two messages, and the task
// about it.
func prepare(t *testing.T, signers chain.Consensus) (*devnet, task) {
	d := newDevnet(t, signers)
	for seqno := range uint32(12) {
		d.step()
		if seqno == 3 || seqno == 6 {
			if err := d.send(external(t, seqno/6)); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := wallet()
	shown, err := d.chain.Account(0, [32]byte(w.Address(0).Data()))
	if err != nil {
		t.Fatal(err)
	}
	var account tlb.AccountState
	if err := tlb.Parse(&account, shown.Account); err != nil {
		t.Fatal(err)
	}
	newest, err := d.store.Bundle(d.store.Last())
	if err != nil {
		t.Fatal(err)
	}
	config, err := d.server.GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	return d, task{
		Config: config, Wallet: w.Address(0).StringRaw(), Seqno: 2, Absent: "0:" + hex.EncodeToString(bytes.Repeat([]byte{7}, 32)),
		Balance: account.Balance.Nano().String(), LastLT: fmt.Sprint(shown.LastTransLT), LastHash: hex.EncodeToString(shown.LastTransHash),
		Masterseqn: d.store.Last(), Message: base64.StdEncoding.EncodeToString(external(t, 2).ToBOC()),
		Signatures: signaturesOf(newest),
	}
}

func TestTonLiteClientReadsTheDevnet(t *testing.T) {
	nodetest.Modules(t)
	d, task := prepare(t, chain.Simplex)
	d.live()
	script, err := filepath.Abs("ton_lite_client.js")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", nodetest.Run(t, nil, script, d.write(task)))
}

// Version 0.1.43 takes signatures of simplex for ordinary ones.
func TestPytoniqProvesTheDevnet(t *testing.T) {
	python := pythontest.Interpreter(t, requirements)
	d, task := prepare(t, chain.Catchain)
	d.live()
	out, err := runPython(t, python, "pytoniq_client.py", d.write(task))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// The official C++ client proves every block from the first on by its signatures.
func TestTonlibFollowsTheDevnetWhateverSignsIt(t *testing.T) {
	python := pythontest.Interpreter(t, requirements)
	for _, signers := range litetest.Signers {
		t.Run(string(signers), func(t *testing.T) {
			d, task := prepare(t, signers)
			d.live()
			out, err := runPython(t, python, "tonlib_client.py", d.write(task))
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// What it finds is worth something: it refuses a slot that nobody signed for.
func TestTonlibRefusesAForgedSlot(t *testing.T) {
	python := pythontest.Interpreter(t, requirements)
	d, task := prepare(t, chain.Simplex)
	d.forge = true
	d.step()
	out, err := runPython(t, python, "tonlib_client.py", d.write(task))
	if err == nil || !strings.Contains(string(out), "sync") || !strings.Contains(string(out), "signature") {
		t.Errorf("%v\n%s", err, out)
	}
}

// runPython runs a script in a folder of its own: clients keep there what they
// trust.
func runPython(t *testing.T, python, script string, arguments ...string) ([]byte, error) {
	t.Helper()
	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, append([]string{path}, arguments...)...)
	command.Dir = t.TempDir()
	return command.CombinedOutput()
}
