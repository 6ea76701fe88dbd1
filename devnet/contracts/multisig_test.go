package contracts_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

type signed struct {
	*world
	wallet contracts.Multisig
	at     *address.Address
}

// newMultisig wants two of alice, bob and carol; admin may propose.
func newMultisig(t *testing.T) signed {
	w := newWorld(t)
	wallet := contracts.Multisig{Threshold: 2, Signers: []*address.Address{alice, bob, carol}, Proposers: []*address.Address{admin}}
	m := signed{world: w, wallet: wallet, at: wallet.Address(0)}
	w.deploy(m.at, wallet.StateInit(), ton(100))
	return m
}

func (m signed) order(seqno int64) *address.Address {
	return m.wallet.Order(0, big.NewInt(seqno)).Address(0)
}

func (m signed) payment() *cell.Cell {
	m.t.Helper()
	actions := contracts.MultisigActions(contracts.MultisigAction{Message: &contracts.Message{
		To: user(0x77), Value: ton(5), Mode: 3, Body: contracts.CommentBody("salary"),
	}})
	return actions
}

func (m signed) open(from *address.Address, o contracts.NewOrder) []transaction {
	m.t.Helper()
	o.Expiration = uint64(m.now) + 3600
	return m.send(from, m.at, ton(1), contracts.MultisigNewOrderBody(o))
}

func TestOrderIsExecutedAtTheThreshold(t *testing.T) {
	m := newMultisig(t)
	order := m.order(0)
	trace := m.open(alice, contracts.NewOrder{QueryID: 1, FromSigner: true, Index: 0, Actions: m.payment()})
	expect(t, trace, hop{to: m.at, op: 0xf718510f}, hop{to: order, op: 0x9c73fba2}, hop{to: alice, op: 0x82609bf6})
	signers := m.get(m.at, "get_multisig_data")[2]
	data := m.get(m.at, "get_multisig_data")
	expectValues(t, "get_multisig_data", data[:2], 1, 2)
	if data[3] == nil {
		t.Error("no proposers")
	}
	expectValues(t, "get_order_address", m.get(m.at, "get_order_address", 0), order)
	expectValues(t, "get_order_data", m.get(order, "get_order_data"), m.at, 0, 2, false, signers, 1, 1, m.now+3600, m.payment())

	trace = m.send(bob, order, ton(0.1), contracts.MultisigApproveBody(2, 1))
	expect(t, trace, hop{to: order, op: 0xa762230f}, hop{to: bob, op: 0x82609bf6}, hop{to: m.at, op: 0x75097f5d}, hop{to: user(0x77)})
	m.gained(user(0x77), new(big.Int), 5)
	expectValues(t, "sent", m.get(order, "get_order_data")[3:4], true)
	trace = m.send(carol, order, ton(0.1), contracts.MultisigApproveBody(2, 2))
	expect(t, trace, hop{to: order, op: 0xa762230f}, hop{to: carol, op: 0xafaf283e})
}

func TestProposedOrderIsApprovedByText(t *testing.T) {
	m := newMultisig(t)
	order := m.order(0)
	trace := m.open(admin, contracts.NewOrder{Index: 0, Actions: m.payment()})
	expect(t, trace, hop{to: m.at, op: 0xf718510f}, hop{to: order, op: 0x9c73fba2})
	m.send(carol, order, ton(0.1), contracts.CommentBody("approve"))
	trace = m.send(carol, order, ton(0.1), contracts.CommentBody("approve"))
	expect(t, trace, hop{to: order}, hop{to: carol, op: 0xafaf283e})
	if trace := m.send(admin, order, ton(0.1), contracts.CommentBody("approve")); trace[0].ExitCode != 106 {
		t.Errorf("approved by a proposer: %s", text(trace))
	}
	m.send(alice, order, ton(0.1), contracts.CommentBody("approve"))
	m.gained(user(0x77), new(big.Int), 5)
}

func TestOrderChangesSigners(t *testing.T) {
	m := newMultisig(t)
	next := contracts.Multisig{Threshold: 1, Signers: []*address.Address{carol}}
	actions := contracts.MultisigActions(contracts.MultisigAction{Update: &next})
	m.open(alice, contracts.NewOrder{FromSigner: true, Actions: actions})
	m.send(bob, m.order(0), ton(0.1), contracts.MultisigApproveBody(1, 1))
	data := m.get(m.at, "get_multisig_data")
	expectValues(t, "seqno, threshold, proposers", []any{data[0], data[1], data[3]}, 1, 1, nil)
	if trace := m.open(alice, contracts.NewOrder{Seqno: big.NewInt(1), FromSigner: true, Actions: m.payment()}); trace[0].ExitCode != 106 {
		t.Errorf("opened by a former signer: %s", text(trace))
	}
	m.open(carol, contracts.NewOrder{Seqno: big.NewInt(1), FromSigner: true, Actions: m.payment()})
	m.gained(user(0x77), new(big.Int), 5)
}

func TestOrderIsRefused(t *testing.T) {
	m := newMultisig(t)
	if trace := m.open(bob, contracts.NewOrder{FromSigner: true, Index: 0, Actions: m.payment()}); trace[0].ExitCode != 106 {
		t.Errorf("with another's index: %s", text(trace))
	}
	if trace := m.open(bob, contracts.NewOrder{Seqno: big.NewInt(4), FromSigner: true, Index: 1, Actions: m.payment()}); trace[0].ExitCode != 104 {
		t.Errorf("with a wrong number: %s", text(trace))
	}
	least := intIn(t, m.get(m.at, "get_order_estimate", m.payment(), big.NewInt(int64(m.now)+3600))[0])
	body := contracts.MultisigNewOrderBody(contracts.NewOrder{FromSigner: true, Index: 1, Expiration: uint64(m.now) + 3600, Actions: m.payment()})
	if trace := m.send(bob, m.at, new(big.Int).Sub(least, big.NewInt(1)), body); trace[0].ExitCode != 1018 {
		t.Errorf("with too little value: %s", text(trace))
	}
	if trace := m.send(bob, m.at, least, body); len(trace) != 3 {
		t.Errorf("with the estimate %s: %s", least, text(trace))
	}
	m.now += 3601
	trace := m.send(alice, m.order(0), ton(0.1), contracts.MultisigApproveBody(1, 0))
	expect(t, trace, hop{to: m.order(0), op: 0xa762230f}, hop{to: alice, op: 0xafaf283e})
}

func TestOrderThatNobodyOpenedHasNoData(t *testing.T) {
	m := newMultisig(t)
	order := m.wallet.Order(0, big.NewInt(9))
	m.deploy(order.Address(0), order.StateInit(), ton(1))
	expectValues(t, "get_order_data", m.get(order.Address(0), "get_order_data"), m.at, 9, nil, nil, nil, nil, nil, nil, nil)
}
