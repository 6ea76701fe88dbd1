package contracts_test

import (
	"crypto/ed25519"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
)

type elections struct {
	*world
	elector, config, at *address.Address
	pool                contracts.NominatorPool
}

var validator = userOf(-1, 0x60)

func newElections(t *testing.T) elections {
	w := newWorld(t)
	e := elections{world: w, elector: userOf(-1, 0x33), config: userOf(-1, 0x55)}
	elector := contracts.Elector{ElectionID: w.now, Period: 100, HeldFor: 50, MinStake: ton(300), Config: e.config}
	config := contracts.Config{Params: testConfig(), Key: ed25519.NewKeyFromSeed(seed(1)).Public().(ed25519.PublicKey), Elector: e.elector}
	e.pool = contracts.NominatorPool{
		Validator: validator, ValidatorShare: 4000, MaxNominators: 2, MinValidatorStake: ton(100), MinNominatorStake: ton(10), Elector: e.elector,
	}
	e.at = e.pool.Address(-1)
	w.placeTickTock(e.elector, elector.StateInit(), ton(10))
	w.placeTickTock(e.config, config.StateInit(), ton(10))
	w.place(e.at, e.pool.StateInit(), ton(20))
	return e
}

// delegate lets alice give 300 and bob 100, the validator 200.
func (e elections) delegate() {
	e.t.Helper()
	e.send(alice, e.at, ton(301), contracts.CommentBody(contracts.PoolDeposit))
	e.send(bob, e.at, ton(101), contracts.CommentBody(contracts.PoolDeposit))
	e.send(validator, e.at, ton(201), contracts.PoolValidatorDepositBody(1))
}

func TestNominatorsDepositAndWithdraw(t *testing.T) {
	e := newElections(t)
	e.delegate()
	got := e.get(e.at, "get_pool_data")
	expectValues(t, "get_pool_data", append(got[:9:9], got[10:]...), 0, 2, 0, ton(200), account(validator), 4000, 2, ton(100), ton(10), nil, 0, 0, 0, 0, 0, nil)
	expectValues(t, "get_nominator_data", e.get(e.at, "get_nominator_data", account(alice)), ton(300), 0, false)
	nominators := fmt.Sprint(list(t, e.get(e.at, "list_nominators")[0]))
	if want := fmt.Sprint([]any{
		[]any{account(alice), ton(300), 0, 0}, []any{account(bob), ton(100), 0, 0},
	}); nominators != want {
		t.Errorf("list_nominators is\n  %s\nwant\n  %s", nominators, want)
	}
	if trace := e.send(carol, e.at, ton(20), contracts.CommentBody(contracts.PoolDeposit)); trace[0].ExitCode != 61 {
		t.Errorf("a third of two: %s", text(trace))
	}
	if trace := e.send(alice, e.at, ton(20), contracts.CommentBody("x")); trace[0].ExitCode != 64 {
		t.Errorf("another text: %s", text(trace))
	}
	before := e.balance(alice)
	trace := e.send(alice, e.at, ton(1), contracts.CommentBody(contracts.PoolWithdraw))
	expect(t, trace, hop{to: e.at}, hop{to: alice})
	e.gained(alice, before, 300.98)
	if exit, _, _ := e.tryGet(e.at, 1_000_000, "get_nominator_data", account(alice)); exit != 86 {
		t.Errorf("get_nominator_data of one who left ends with %d, want 86", exit)
	}
	if trace := e.send(validator, e.at, ton(1), contracts.PoolValidatorWithdrawBody(1, ton(201))); trace[0].ExitCode != 78 {
		t.Errorf("too much for the validator: %s", text(trace))
	}
	before = e.balance(validator)
	e.send(validator, e.at, ton(1), contracts.PoolValidatorWithdrawBody(1, ton(200)))
	e.gained(validator, before, 200.9)
}

// A round: the stake is sent, frozen, recovered with fees as the reward, and
// shared; who asked meanwhile is paid after it.
func TestStakeEarnsAReward(t *testing.T) {
	e := newElections(t)
	e.delegate()
	election := intIn(t, e.get(e.elector, "active_election_id")[0])
	stake := contracts.Stake{QueryID: 5, Validator: [32]byte{9}, StakeAt: uint32(election.Uint64()), MaxFactor: 3 << 16, ADNL: [32]byte{8}}
	trace := e.send(validator, e.at, ton(1), contracts.PoolNewStakeBody(stake, ton(501)))
	expect(t, trace, hop{to: e.at, op: 0x4e73744b}, hop{to: e.elector, op: 0x4e73744b}, hop{to: e.at, op: 0xf374484c})
	expectValues(t, "state, sent", append(e.get(e.at, "get_pool_data")[:1:1], e.get(e.at, "get_pool_data")[2]), 2, ton(501))
	expectValues(t, "participates_in", e.get(e.elector, "participates_in", new(big.Int).SetBytes(stake.Validator[:])), ton(500))
	data := e.get(e.elector, "participant_list_extended")
	expectValues(t, "participant_list_extended", append(data[:4:4], data[5:]...), election, new(big.Int).Add(election, big.NewInt(100)), ton(300), ton(500), false, false)
	want := fmt.Sprint([]any{[]any{new(big.Int).SetBytes(stake.Validator[:]), []any{ton(500), 3 << 16, account(e.at), new(big.Int).SetBytes(stake.ADNL[:])}}})
	if got := fmt.Sprint(list(t, data[4])); got != want {
		t.Errorf("participants are\n  %s\nwant\n  %s", got, want)
	}

	e.send(alice, e.at, ton(1), contracts.CommentBody(contracts.PoolWithdraw))
	expectValues(t, "get_nominator_data", e.get(e.at, "get_nominator_data", account(alice)), ton(300), 0, true)
	e.run(contracts.Message{To: e.elector, Value: ton(100)}, userOf(-1, 0)) // fees
	if tx := e.tick(e.elector, false); len(tx.OutMessages) != 0 {
		t.Errorf("a tick within the election sends %d messages", len(tx.OutMessages))
	}
	e.now += 100
	closing := e.tick(e.elector, false)
	if len(closing.OutMessages) != 1 {
		t.Fatalf("the end of the election sends %d messages, want one to the config", len(closing.OutMessages))
	}
	expect(t, e.deliver(closing.OutMessages[0].Cell), hop{to: e.config, op: 0x4e565354}, hop{to: e.elector, op: 0xee764f4b})
	if past := list(t, e.get(e.elector, "past_elections")[0]); len(past) != 1 {
		t.Errorf("past elections are %v, want one", past)
	}
	e.tick(e.elector, true)
	expectValues(t, "while it is frozen", e.get(e.elector, "compute_returned_stake", account(e.at)), 0)
	trace = e.send(validator, e.at, ton(2), contracts.RecoverStakeBody(6))
	expect(t, trace, hop{to: e.at, op: 0x47657424}, hop{to: e.elector, op: 0x47657424}, hop{to: e.at, op: 0xfffffffe})
	e.now += 50
	e.tick(e.elector, true)
	back := intIn(t, e.get(e.elector, "compute_returned_stake", account(e.at))[0])
	if back.Cmp(ton(590)) < 0 {
		t.Fatalf("of 500 TON and 100 TON of fees %s nanotons come back", back)
	}
	trace = e.send(validator, e.at, ton(2), contracts.RecoverStakeBody(6))
	expect(t, trace, hop{to: e.at, op: 0x47657424}, hop{to: e.elector, op: 0x47657424}, hop{to: e.at, op: 0xf96f7324})
	// 60 % of some 100 TON are shared 3 : 1.
	got := intIn(t, e.get(e.at, "get_nominator_data", account(bob))[0])
	if off := new(big.Int).Sub(got, ton(115)); off.CmpAbs(ton(0.5)) > 0 {
		t.Errorf("bob has %s nanotons, want about 115 TON", got)
	}
	e.send(bob, e.at, ton(1), contracts.PoolProcessWithdrawalsBody(1, 10))
	if alices := e.balance(alice); alices.Cmp(ton(344)) < 0 {
		t.Errorf("alice has %s nanotons, want about 345 TON", alices)
	}
	expectValues(t, "nominators", e.get(e.at, "get_pool_data")[1:2], 1)
}

func TestStakeForAnotherElectionComesBack(t *testing.T) {
	e := newElections(t)
	e.delegate()
	trace := e.send(validator, e.at, ton(1), contracts.PoolNewStakeBody(contracts.Stake{StakeAt: 1}, ton(501)))
	expect(t, trace, hop{to: e.at, op: 0x4e73744b}, hop{to: e.elector, op: 0x4e73744b}, hop{to: e.at, op: 0xee6f454c})
	expectValues(t, "state", e.get(e.at, "get_pool_data")[:1], 0)
}

func TestTicksAndTocksAreCounted(t *testing.T) {
	e := newElections(t)
	for range 3 {
		e.tick(e.elector, false)
		e.tick(e.elector, true)
		e.tick(e.config, false)
	}
	expectValues(t, "elector", e.get(e.elector, "get_run_counts"), 3, 3)
	expectValues(t, "config", e.get(e.config, "get_run_counts"), 3, 0, 0)
	expectValues(t, "seqno", e.get(e.config, "seqno"), 0)
	params, err := e.account(e.config).State().StateInit.Data.PeekRef(0)
	if err != nil {
		t.Fatal(err)
	}
	expectValues(t, "params", []any{params}, testConfig())
}
