package action

import (
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
)

// Opcodes that bodies of every protocol have.
const (
	opComment          = 0x00000000
	opEncryptedComment = 0x2167da4b
	opExcess           = 0xd53276db
	opBounce           = 0xffffffff
	opBounceV2         = 0xfffffffe
)

// core has what every message is that no rule recognises.
var core = &Protocol{
	Name:  "core",
	Types: []typed{callContract, contractDeploy, tonTransfer, tickTock, unknown},
}

var (
	callContract   = NewType[contractCall]("call_contract", V1)
	contractDeploy = NewType[contractCreation]("contract_deploy", V1)
	tonTransfer    = NewType[toncoins]("ton_transfer", V1)
	tickTock       = NewType[ticked]("tick_tock", V1)
	unknown        = NewType[struct{}]("unknown", V2)
)

type contractCall struct {
	Opcode          *Opcode    `detail:"opcode,optional"`
	Source          Address    `detail:"source,account,optional"`
	Destination     Address    `detail:"destination,account,optional"`
	Value           *uint64    `detail:"value,optional"`
	ExtraCurrencies Currencies `detail:"extra_currencies"`
}

type contractCreation struct {
	Opcode      *Opcode `detail:"opcode,optional"`
	Source      Address `detail:"source,account,optional"`
	Destination Address `detail:"destination,account,optional"`
	Value       *uint64 `detail:"value,optional"`
}

type toncoins struct {
	Source          Address    `detail:"source,account"`
	Destination     Address    `detail:"destination,account"`
	Value           uint64     `detail:"value"`
	ExtraCurrencies Currencies `detail:"value_extra_currencies"`
	Comment         *string    `detail:"comment"`
	Encrypted       bool       `detail:"encrypted"`
}

type ticked struct {
	Account Address `detail:"account,account,optional"`
}

// basicAction makes a block the action that its message is by itself.
func basicAction(b *Block) {
	m := b.Message
	switch b.kind {
	case kindCall:
		callContract.set(b, &contractCall{opcodeOf(m), m.Source, m.Destination, &m.Value, m.ValueExtra})
		b.Failed = b.Aborted() && (m.Value != 0 || len(m.ValueExtra) > 0 || m.Opcode == nil || *m.Opcode == 0)
	case kindTransfer:
		t := &toncoins{Source: m.Source, Destination: m.Destination, Value: m.Value, ExtraCurrencies: m.ValueExtra}
		t.Comment, t.Encrypted = b.Whole().Rest().Comment()
		t.Encrypted = t.Encrypted || m.Opcode != nil && *m.Opcode == opEncryptedComment
		tonTransfer.set(b, t)
		b.Failed = b.Aborted() && (m.Bounce || b.Tx.EndStatus != record.AccountStatus_ACCOUNT_UNINIT &&
			b.Tx.GetCompute().GetSkipReason() != record.ComputePhase_NO_GAS)
	case kindNone:
		if b.Tx.Type == record.TransactionType_TICK_TOCK {
			tickTock.set(b, &ticked{b.Tx.Account})
			b.Failed = b.Aborted()
		}
	}
}

func opcodeOf(m *record.Message) *Opcode {
	if m == nil || m.Opcode == nil {
		return nil
	}
	op := Opcode(*m.Opcode)
	return &op
}

// appendDeploy adds the deployment of a block's account, which is an action of its
// own whatever its message is part of.
func (s *scan) appendDeploy(list []*Action, b *Block) []*Action {
	m := b.Message
	deploy := &Block{Message: m, Tx: b.Tx, sender: b.sender, kind: b.kind, index: b.index, scan: s, Failed: b.Aborted()}
	creation := &contractCreation{Opcode: opcodeOf(m), Source: m.Source, Destination: m.Destination}
	if b.kind != kindExternal {
		creation.Value = &m.Value
	}
	contractDeploy.set(deploy, creation)
	return append(list, s.action(deploy))
}

// unrecognised is what a trace without any action is.
func (s *scan) unrecognised() []*Action {
	first := s.root.Tx
	if first.InMsg == nil {
		return nil
	}
	b := &Block{Message: first.InMsg, Tx: first, scan: s}
	unknown.set(b, &struct{}{})
	for i := range s.basic {
		b.Failed = b.Failed || s.basic[i].Aborted()
		if i > 0 {
			b.Parts = append(b.Parts, &s.basic[i])
		}
	}
	if len(b.Parts) > 0 {
		b.Parts = append([]*Block{s.root}, b.Parts...)
	}
	a := s.action(b)
	copy(a.ID[:], first.Hash)
	return []*Action{a}
}

// ghosts recognises what a rejected external message asked for: one that led to no other
// message, whether it deployed its wallet or not.
func (s *scan) ghosts(t *trace.Tree) []*Action {
	if s.root.kind != kindExternal || len(t.Nodes) > 1 || len(s.root.Tx.OutMsgs) > 0 {
		return nil
	}
	sent := signedMessages(s.root.Whole())
	if len(sent) == 0 {
		return nil
	}
	g := &scan{facts: s.facts, basic: make([]Block, 0, len(sent)+1)}
	g.root = g.add(Block{Message: s.root.Message, Tx: s.root.Tx, kind: kindExternal})
	for _, m := range sent {
		m.Source, m.CreatedLt, m.CreatedAt = s.root.Tx.Account, s.root.Tx.Lt, s.root.Tx.Now
		b := g.add(Block{Message: m, Tx: s.root.Tx, Parent: g.root, sender: g.root, Ghost: true})
		g.root.Children = append(g.root.Children, b)
		g.classify(b)
		b.Type = nil // only what a rule makes of it counts
	}
	g.run(true)
	s.failures = append(s.failures, g.failures...)
	return g.actions()
}
