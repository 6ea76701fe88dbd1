package contracts_test

import (
	"crypto/ed25519"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// newVesting unlocks 100 TON of alice's in ten periods; admin fills the list.
func newVesting(t *testing.T) (*world, contracts.Vesting, ed25519.PrivateKey) {
	w := newWorld(t)
	key := ed25519.NewKeyFromSeed(seed(3))
	v := contracts.Vesting{
		Key: key.Public().(ed25519.PublicKey), Subwallet: 1, StartTime: uint64(w.now), TotalDuration: 1000, UnlockPeriod: 100, CliffDuration: 200,
		TotalAmount: ton(100), Sender: admin, Owner: alice,
	}
	w.deploy(v.Address(0), v.StateInit(), ton(101))
	return w, v, key
}

func TestVestingTellsItsTerms(t *testing.T) {
	w, v, _ := newVesting(t)
	at := v.Address(0)
	expectValues(t, "get_vesting_data", w.get(at, "get_vesting_data"), v.StartTime, 1000, 100, 200, ton(100), admin, alice, nil)
	expectValues(t, "wallet", append(append(w.get(at, "seqno"), w.get(at, "get_subwallet_id")...), w.get(at, "get_public_key")...), 0, 1, new(big.Int).SetBytes(v.Key))
	for after, want := range map[int64]float64{0: 100, 199: 100, 200: 80, 250: 80, 999: 10, 1000: 0} {
		expectValues(t, fmt.Sprintf("get_locked_amount after %d", after), w.get(at, "get_locked_amount", big.NewInt(int64(v.StartTime)+after)), ton(want))
	}
}

func TestVestingKeepsWhatIsLocked(t *testing.T) {
	w, v, _ := newVesting(t)
	at := v.Address(0)
	order := func(value float64, mode uint8) *cell.Cell {
		return contracts.VestingSendBody(1, contracts.Message{To: bob, Value: ton(value), Mode: mode})
	}
	trace := w.send(alice, at, ton(0.1), order(50, 3))
	expect(t, trace, hop{to: at, op: 0xa7733acd}, hop{to: alice, op: 0xf7733acd})
	w.now += 600
	trace = w.send(alice, at, ton(0.1), order(50, 3))
	expect(t, trace, hop{to: at, op: 0xa7733acd}, hop{to: bob}, hop{to: alice, op: 0xf7733acd})
	w.gained(bob, new(big.Int), 50)
	if trace := w.send(alice, at, ton(0.1), order(1, 0)); trace[0].ExitCode != 101 {
		t.Errorf("with mode 0: %s", text(trace))
	}
	if trace := w.send(bob, at, ton(0.1), order(1, 3)); trace[0].ExitCode != 120 {
		t.Errorf("by bob: %s", text(trace))
	}
}

func TestVestingSendsAnythingToTheList(t *testing.T) {
	w, v, key := newVesting(t)
	at := v.Address(0)
	trace := w.send(admin, at, ton(0.1), contracts.VestingAddWhitelistBody(1, bob, carol, user(9)))
	expect(t, trace, hop{to: at, op: 0x7258a69b}, hop{to: admin, op: 0xf258a69b})
	expectValues(t, "bob, alice", append(w.get(at, "is_whitelisted", slice(bob)), w.get(at, "is_whitelisted", slice(alice))...), true, false)
	got := fmt.Sprint(list(t, w.get(at, "get_whitelist")[0]))
	want := fmt.Sprint([]any{pair(0, bob), pair(0, carol), pair(0, user(9))})
	if got != want {
		t.Errorf("get_whitelist is\n  %s\nwant\n  %s", got, want)
	}
	if trace := w.send(alice, at, ton(0.1), contracts.VestingAddWhitelistBody(1, alice)); trace[0].ExitCode != 120 {
		t.Errorf("list filled by the owner: %s", text(trace))
	}

	external, err := v.External(0, key, 0, w.now+60, contracts.Message{To: carol, Value: ton(60), Mode: 3})
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(external)
	w.gained(carol, new(big.Int), 60)
	if again := w.deliver(external); again[0].Accepted {
		t.Error("an order is accepted twice")
	}
	expectValues(t, "seqno", w.get(at, "seqno"), 1)
}
