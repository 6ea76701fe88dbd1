package action

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/schema/record"
)

// Action is what a part of a trace was.
type Action struct {
	ID      [32]byte
	Type    *Type
	Details []Value // by Type.Details
	Success bool

	StartLt, EndLt       uint64
	StartUtime, EndUtime uint32

	// Transactions are the hashes of the action's transactions and of the one that
	// sent its first message, in the order of the trace.
	Transactions [][]byte
	// Accounts are those of the transactions, and of the details that are accounts,
	// each once.
	Accounts []Address
	// Ancestors are the actions that this one is a part of, outermost first.
	Ancestors []*Action

	// Rule is the name of the rule that recognised it, empty for what every message
	// is without one.
	Rule string

	found []found
}

// Found is a message that a part of a pattern matched.
type Found struct {
	Label string // of the part, empty where it has none
	Kept  bool   // it is no part of the action
	// Message is what matched, nil for a transaction without one.
	Message *record.Message
	// Transaction is the one that received the message; of a log, that sent it.
	Transaction *record.Transaction
}

// Found are the messages that the rule's pattern matched, by its labels, and those
// that were consumed beside it. Only an action that Classify returned knows them.
func (a *Action) Found() (list []Found) {
	for _, f := range a.found {
		f.block.Each(func(p *Block) bool {
			if len(p.Parts) == 0 {
				list = append(list, Found{f.label, f.kept, p.Message, p.Tx})
			}
			return true
		})
	}
	return list
}

// Parent is the action that this one is a part of, nil for none.
func (a *Action) Parent() *Action {
	if n := len(a.Ancestors); n > 0 {
		return a.Ancestors[n-1]
	}
	return nil
}

// Shown reports whether a client that supports some types sees the action: its
// type is supported, and no action that it is a part of is.
func (a *Action) Shown(supported map[*Type]bool) bool {
	return supported[a.Type] && !slices.ContainsFunc(a.Ancestors, func(p *Action) bool { return supported[p.Type] })
}

// stepsPerBlock and minSteps bound the work of patterns on a trace. What is not
// recognised within stays what its messages are.
const (
	stepsPerBlock = 1 << 11
	minSteps      = 1 << 20
	maxSteps      = 1 << 24
)

// scan is the work on one trace.
type scan struct {
	facts Facts
	known map[string]*record.Contract
	basic []Block // in the order of the trace
	made  []*Block
	root  *Block
	order []*Block // those in no other block, breadth first
	steps int

	wanted   []uint64 // rules by index that could match
	failures []error
}

func (s *scan) contract(account Address) *record.Contract {
	if len(account) == 0 {
		return nil
	}
	c, ok := s.known[string(account)]
	if !ok {
		c = s.facts.Contract(account)
		if s.known == nil {
			s.known = map[string]*record.Contract{}
		}
		s.known[string(account)] = c
	}
	return c
}

// Classify recognises the actions of a trace, in the order of their beginning. The
// same tree and facts give the same actions. The error names the rules that
// panicked, which is a defect of theirs: they are taken to have found nothing, and
// the actions are those of the others.
func Classify(t *trace.Tree, facts Facts) ([]*Action, error) {
	if len(t.Nodes) == 1 && t.Root.Tx.InMsg == nil {
		return nil, nil // a tick or tock by itself, or a part of a split or merge
	}
	s := &scan{facts: facts}
	s.blocksOf(t)
	s.run(false)
	list := append(s.actions(), s.ghosts(t)...)
	if len(list) == 0 {
		list = s.unrecognised()
	}
	slices.SortStableFunc(list, func(a, b *Action) int {
		return cmp.Or(cmp.Compare(a.StartLt, b.StartLt), cmp.Compare(a.EndLt, b.EndLt))
	})
	return list, errors.Join(s.failures...)
}

// run tries the rules in their order.
func (s *scan) run(ghosts bool) {
	s.steps = min(max(len(s.basic)*stepsPerBlock, minSteps), maxSteps)
	s.wanted = make([]uint64, (len(registry.rules)+63)/64)
	for i := range s.basic {
		b := &s.basic[i]
		switch op, ok := b.Opcode(); {
		case b.kind == kindTransfer:
			s.want(registry.transfers)
		case ok && (b.kind == kindCall || b.kind == kindLog):
			s.want(registry.byOpcode[op])
		}
		if b.deployed {
			s.want(registry.deploys)
		}
	}
	s.want(registry.always)
	s.walk()
	for word := range s.wanted {
		for done := uint64(0); ; {
			left := s.wanted[word] &^ done
			if left == 0 {
				break
			}
			bit := bits.TrailingZeros64(left)
			// What is wanted later at this place or before was passed.
			done |= 1<<bit | (1<<bit - 1)
			if rule := registry.rules[word*64+bit]; rule.Ghosts == ghosts {
				s.try(rule)
			}
		}
	}
}

func (s *scan) want(rules []*Rule) {
	for _, r := range rules {
		s.wanted[r.index/64] |= 1 << (r.index % 64)
	}
}

// try matches a rule with every block that is in no other one.
func (s *scan) try(rule *Rule) {
	m := &Match{scan: s}
	changed := false
	for _, b := range s.order {
		if b.within != nil {
			continue
		}
		m.Block = b
		if made := s.find(rule, m); made != nil {
			changed = s.consume(rule, m, made) || changed
		}
		m.release(0)
		if s.steps < 0 {
			break
		}
	}
	if changed {
		s.walk()
	}
}

// find returns what the rule makes of the block at which the match begins.
func (s *scan) find(rule *Rule, m *Match) (made *Made) {
	defer func() {
		if r := recover(); r != nil {
			made = nil
			s.failures = append(s.failures, fmt.Errorf("%s: %v", rule.Name, r))
		}
	}()
	if !m.match(rule.Pattern, m.Block) {
		return nil
	}
	return rule.Make(m)
}

// walk puts the blocks that are in no other one in order, breadth first.
func (s *scan) walk() {
	s.order = append(s.order[:0], s.root.Top())
	for i := 0; i < len(s.order); i++ {
		s.order = append(s.order, s.order[i].Children...)
	}
}

// consume makes one block of those that a rule took.
func (s *scan) consume(rule *Rule, m *Match, made *Made) bool {
	parts := made.only
	if parts == nil {
		for _, b := range made.also {
			m.returns(b)
		}
		for _, f := range m.found {
			if !f.kept {
				parts = append(parts, f.block)
			}
		}
		parts = append(parts, made.also...)
	}
	slices.SortFunc(parts, func(a, b *Block) int { return a.index - b.index })
	parts = slices.CompactFunc(parts, func(a, b *Block) bool { return a == b })
	if len(parts) == 0 || slices.ContainsFunc(parts, func(p *Block) bool { return p.within != nil }) {
		return false
	}
	found := slices.Clone(m.found)
	for _, p := range parts {
		if !p.taken {
			found = append(found, foundBeside(p))
		}
	}
	first := parts[0]
	b := &Block{
		Message: nil, Tx: first.Tx, Type: made.typ, data: made.data, Failed: m.Block.Failure(),
		Parts: parts, rule: rule, index: first.index, scan: s,
		found: found, extras: made.extras, others: made.others,
	}
	if made.failed != nil {
		b.Failed = *made.failed
	}
	for _, p := range parts {
		p.within = b
		b.Ghost = b.Ghost || p.Ghost
	}
	b.Parent = first.Parent
	for _, p := range parts {
		if p.Parent != nil && p.Parent.within != b {
			p.Parent.replace(p, b, p == first)
		}
		for _, c := range p.Children {
			if c.within != b {
				c.Parent = b
				b.Children = append(b.Children, c)
			}
		}
	}
	if b.Parent != nil && b.Parent.within == b { // parts that are not connected
		b.Parent = nil
	}
	slices.SortFunc(b.Children, func(x, y *Block) int {
		return cmp.Or(cmp.Compare(x.First().sent(), y.First().sent()), x.index-y.index)
	})
	s.made = append(s.made, b)
	s.want(registry.byType[b.Type])
	return true
}

// replace puts a block in the place of a child, or takes the child out.
func (b *Block) replace(child, by *Block, keep bool) {
	i := slices.Index(b.Children, child)
	switch {
	case i < 0:
	case keep:
		b.Children[i] = by
	default:
		b.Children = slices.Delete(b.Children, i, i+1)
	}
}

// actions are what the blocks of the trace are in the end.
func (s *scan) actions() []*Action {
	var list []*Action
	for _, b := range s.order {
		list = s.append(list, b, nil)
	}
	for i := range s.basic {
		if b := &s.basic[i]; b.deployed && b.kind != kindNone {
			list = s.appendDeploy(list, b)
		}
	}
	return list
}

// append adds the action of a block, and those of its parts to which clients turn
// that do not know its type.
func (s *scan) append(list []*Action, b *Block, above []*Action) []*Action {
	if b.Type == nil {
		return list
	}
	a := s.action(b)
	a.Ancestors = above
	list = append(list, a)
	if b.Type.Version != V1 && len(b.Parts) > 0 {
		above = append(slices.Clip(above), a)
		for _, p := range b.Parts {
			list = s.append(list, p, above)
		}
	}
	return list
}

// idOf is the SHA-256 of the text that a block's first message and its name make.
func idOf(hash []byte, name string) [32]byte {
	text := base64.StdEncoding.AppendEncode(make([]byte, 0, 64), hash)
	return sha256.Sum256(append(text, name...))
}

// firstHash is that of the message that a basic block is, or of its transaction.
func (b *Block) firstHash() []byte {
	if b.Message != nil {
		return b.Message.Hash
	}
	return b.Tx.Hash
}

func (s *scan) action(b *Block) *Action {
	a := &Action{Type: b.Type, Success: !b.Failed, found: b.found}
	name := b.Type.Name
	if b.rule != nil {
		a.Rule = b.rule.Name
		if b.rule.Block != "" {
			name = b.rule.Block
		}
	}
	a.Details = valuesOf(b.Type.Details, reflect.ValueOf(b.data).Elem())
	c := collector{action: a}
	c.block(b)
	c.finish(b)
	a.ID = idOf(c.first.firstHash(), name)
	return a
}

// collector gathers what an action's basic blocks have in common.
type collector struct {
	action       *Action
	first        *Block // the one whose message was sent first
	transactions distinct
	accounts     distinct
}

// distinct knows which names are in a list.
type distinct struct{ many map[string]bool }

// few is how many names are looked through.
const few = 16

// addDistinct appends a name to the list where it is not in it.
func addDistinct[N ~[]byte](d *distinct, list []N, name N) []N {
	if d.many == nil {
		for _, other := range list {
			if bytes.Equal(other, name) {
				return list
			}
		}
		if list = append(list, name); len(list) > few {
			d.many = make(map[string]bool, 2*few)
			for _, other := range list {
				d.many[string(other)] = true
			}
		}
		return list
	}
	if d.many[string(name)] {
		return list
	}
	d.many[string(name)] = true
	return append(list, name)
}

func (c *collector) block(b *Block) {
	if len(b.Parts) > 0 {
		for _, p := range b.Parts {
			c.block(p)
		}
		return
	}
	a := c.action
	if c.first == nil || b.Tx.Now < a.StartUtime {
		a.StartUtime = b.Tx.Now
	}
	if lt := b.sent(); c.first == nil || lt < a.StartLt {
		a.StartLt, c.first = lt, b
	}
	a.EndLt, a.EndUtime = max(a.EndLt, b.Tx.Lt, b.sent()), max(a.EndUtime, b.Tx.Now) // a log is sent after its transaction began
	c.transaction(b.Tx)
}

func (c *collector) transaction(tx *record.Transaction) {
	c.action.Transactions = addDistinct(&c.transactions, c.action.Transactions, tx.Hash)
	c.account(tx.Account)
}

func (c *collector) account(account Address) {
	if len(account) > 0 {
		c.action.Accounts = addDistinct(&c.accounts, c.action.Accounts, account)
	}
}

// finish adds the transaction that sent the first message, and the details that
// are accounts.
func (c *collector) finish(b *Block) {
	if sender := c.first.sender; sender != nil {
		c.transaction(sender.Tx)
	}
	eachAccount(c.action.Type.Details, c.action.Details, func(account Address) {
		if !slices.ContainsFunc(b.others, func(a Address) bool { return bytes.Equal(a, account) }) {
			c.account(account)
		}
	})
	for _, a := range b.extras {
		c.account(a)
	}
}
