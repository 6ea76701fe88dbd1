package contracts_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

func TestForwarderSendsToMany(t *testing.T) {
	w := newWorld(t)
	first, second := contracts.Forwarder{ID: 1}, contracts.Forwarder{ID: 2}
	w.deploy(first.Address(0), first.StateInit(), ton(1))
	w.deploy(second.Address(0), second.StateInit(), ton(1))
	var leaves []contracts.Target
	for i := range byte(100) {
		leaves = append(leaves, contracts.Target{To: user(i + 1), Value: ton(0.01)})
	}
	targets := append(leaves[:50:50], contracts.Target{To: second.Address(0), Value: ton(2), Body: contracts.ForwardBody(2, false, leaves[50:]...)})
	trace := w.send(admin, first.Address(0), ton(5), contracts.ForwardBody(1, true, targets...))
	if len(trace) != 1+50+1+50+1 {
		t.Fatalf("trace of %d transactions, want 103", len(trace))
	}
	expectValues(t, "get_runs", append(w.get(first.Address(0), "get_runs"), w.get(second.Address(0), "get_runs")...), 1, 1, 2, 1)
	w.gained(admin, new(big.Int), 2.43)
}

func TestForwarderSendsAsManyAsATransactionCan(t *testing.T) {
	w := newWorld(t)
	f := contracts.Forwarder{}
	w.deploy(f.Address(0), f.StateInit(), ton(1))
	var targets []contracts.Target
	for range contracts.MaxTargets {
		targets = append(targets, contracts.Target{To: user(1), Value: ton(0.001)})
	}
	trace := w.send(admin, f.Address(0), ton(5), contracts.ForwardBody(1, false, targets...))
	if len(trace) != 1+contracts.MaxTargets || trace[0].aborted() {
		t.Errorf("trace of %d transactions, want %d", len(trace), 1+contracts.MaxTargets)
	}
}

func TestForwarderFailsAsItIsTold(t *testing.T) {
	w := newWorld(t)
	f := contracts.Forwarder{}
	at := f.Address(0)
	w.deploy(at, f.StateInit(), ton(1))
	compute := w.send(admin, at, ton(0.1), contracts.FailBody(1, contracts.FailCompute, 777))
	if compute[0].ExitCode != 777 || !compute[0].aborted() || len(compute) != 2 {
		t.Errorf("compute phase: %s", text(compute))
	}
	action := w.send(admin, at, ton(0.1), contracts.FailBody(1, contracts.FailAction, 0))
	description := action[0].tx.Description.(tlb.TransactionDescriptionOrdinary)
	if action[0].ExitCode != 0 || description.ActionPhase == nil || description.ActionPhase.ResultCode != 37 || len(action) != 2 {
		t.Errorf("action phase: %s", text(action))
	}
	gas := w.send(admin, at, ton(0.1), contracts.FailBody(1, contracts.FailOutOfGas, 0))
	if gas[0].ExitCode != -14 {
		t.Errorf("out of gas: %s", text(gas))
	}
	w.send(admin, at, ton(0.1), contracts.DeleteBody(1))
	if status := w.account(at).State().Status; w.active(at) {
		t.Errorf("the account is %s after its end", status)
	}
}

// explorerMethods are asked of every contract by those who look for jettons,
// items, sales and names.
var explorerMethods = []string{"get_jetton_data", "get_wallet_data", "get_nft_data", "get_collection_data", "get_sale_data", "seqno"}

func TestEndlessMethodsEndWithTheGas(t *testing.T) {
	w := newWorld(t)
	e := contracts.Endless{ID: 1}
	w.deploy(e.Address(0), e.StateInit(), ton(1))
	for _, method := range explorerMethods {
		if exit, used, _ := w.tryGet(e.Address(0), 100_000, method); exit != -14 || used < 100_000 {
			t.Errorf("%s ends with %d after %d gas, want -14 after 100000", method, exit, used)
		}
	}
}

func TestBombsAreDeployedAndTellTheirContent(t *testing.T) {
	for name, content := range map[string]*cell.Cell{
		"deep": contracts.DeepContent(480), "shared": contracts.SharedContent(40), "huge": contracts.HugeContent(50_000),
	} {
		t.Run(name, func(t *testing.T) { dropBomb(t, content) })
	}
}

func dropBomb(t *testing.T, content *cell.Cell) {
	t.Helper()
	w := newWorld(t)
	b := contracts.Bomb{ID: 1, Content: content}
	w.deploy(b.Address(0), b.StateInit(), ton(5))
	expectValues(t, "get_jetton_data", w.get(b.Address(0), "get_jetton_data")[3:4], content)
	expectValues(t, "get_nft_data", w.get(b.Address(0), "get_nft_data")[4:], content)
	expectValues(t, "get_collection_data", w.get(b.Address(0), "get_collection_data")[1:2], content)
	expectValues(t, "get_nft_content", w.get(b.Address(0), "get_nft_content", 0, content), content)
	expectValues(t, "get_nft_address_by_index", w.get(b.Address(0), "get_nft_address_by_index", 0), b.Address(0))
	expectValues(t, "get_wallet_address", w.get(b.Address(0), "get_wallet_address", slice(alice)), b.Address(0))
}
