package action

import (
	"slices"

	"tonscribe/schema/record"
)

// Pattern describes blocks of a trace. It is made once, of the functions below, and
// read from top to bottom: what a block is, what its children are, what it lies
// below.
type Pattern struct {
	label    string
	opcodes  []uint32 // of a call or log
	logs     bool
	types    []*Type
	transfer bool
	anything bool
	deploys  bool
	payload  []uint32 // opcodes of what a transfer of jettons carries
	where    []func(*Block) bool
	children []*Pattern
	parent   *Pattern
	options  []*Pattern
	refer    func() *Pattern
	optional bool
	every    bool
	kept     bool
	alone    bool
}

// Call is an internal message with one of the opcodes.
func Call(opcodes ...uint32) *Pattern { return &Pattern{opcodes: opcodes} }

// Log is a message to outside with one of the opcodes.
func Log(opcodes ...uint32) *Pattern { return &Pattern{opcodes: opcodes, logs: true} }

// Plain is a plain transfer of toncoins.
func Plain() *Pattern { return &Pattern{transfer: true} }

// Is is a block that an earlier rule made an action of one of the types.
func Is(types ...typed) *Pattern {
	p := &Pattern{}
	for _, t := range types {
		p.types = append(p.types, t.describe())
	}
	return p
}

// Deploy is a message, of whatever kind, that made its receiver's account active.
func Deploy() *Pattern { return &Pattern{deploys: true} }

// Any is any block.
func Any() *Pattern { return &Pattern{anything: true} }

// OneOf is the first pattern that matches. What is asked of it besides is asked of
// whichever that is.
func OneOf(options ...*Pattern) *Pattern { return &Pattern{options: options} }

// Again is the pattern that the function returns: for one that lies in itself.
func Again(pattern func() *Pattern) *Pattern { return &Pattern{refer: pattern} }

// As names the blocks of the pattern.
func (p *Pattern) As(label string) *Pattern { p.label = label; return p }

// Where asks for more of a block. It is asked before children and parent are
// looked at.
func (p *Pattern) Where(is func(*Block) bool) *Pattern { p.where = append(p.where, is); return p }

// Carrying asks for a transfer of jettons, or the order of one, that carries one of the
// opcodes to its receiver.
func (p *Pattern) Carrying(opcodes ...uint32) *Pattern {
	p.payload = append(p.payload, opcodes...)
	return p.Where(carries(p.payload))
}

// With asks for children: each pattern takes another one, the first that matches
// and that no pattern before has taken.
func (p *Pattern) With(children ...*Pattern) *Pattern {
	p.children = append(p.children, children...)
	return p
}

// Below asks for the block that sent the message.
func (p *Pattern) Below(parent *Pattern) *Pattern { p.parent = parent; return p }

// Maybe makes a child or parent one that may be missing.
func (p *Pattern) Maybe() *Pattern { p.optional = true; return p }

// Every makes a child pattern take all children that match, one at least unless it
// is Maybe.
func (p *Pattern) Every() *Pattern { p.every = true; return p }

// Kept makes the block one that is looked at and not consumed.
func (p *Pattern) Kept() *Pattern {
	p.kept = true
	for _, o := range p.options {
		o.Kept()
	}
	return p
}

// Alone leaves excesses and bounced messages that the block led to where they are.
// Otherwise they are consumed with it.
func (p *Pattern) Alone() *Pattern {
	p.alone = true
	for _, o := range p.options {
		o.Alone()
	}
	return p
}

// found is a block that a pattern matched.
type found struct {
	label string
	block *Block
	kept  bool
}

// Match is what a rule's pattern found.
type Match struct {
	Block *Block // where the pattern begins
	scan  *scan
	found []found
}

// One returns the first block with the label, nil where there is none.
func (m *Match) One(label string) *Block {
	for i := range m.found {
		if m.found[i].label == label {
			return m.found[i].block
		}
	}
	return nil
}

// All returns the blocks with the label, in the order in which they were found.
func (m *Match) All(label string) (list []*Block) {
	for i := range m.found {
		if m.found[i].label == label {
			list = append(list, m.found[i].block)
		}
	}
	return list
}

// Trace returns the blocks that are in no other one, from the root down: for rules
// that look beyond what a pattern says. They cost as much as they look at.
func (m *Match) Trace() []*Block {
	m.scan.steps -= len(m.scan.order)
	list := make([]*Block, 0, len(m.scan.order))
	for _, b := range m.scan.order {
		if b.within == nil {
			list = append(list, b)
		}
	}
	return list
}

// Aborted reports whether the transaction of a block with one of the labels was
// aborted; missing ones were not.
func (m *Match) Aborted(labels ...string) bool {
	for _, label := range labels {
		for i := range m.found {
			if m.found[i].label == label && m.found[i].block.Failure() {
				return true
			}
		}
	}
	return false
}

// Failure reports whether b had no effect: its transaction was aborted, or the
// action that it is failed.
func (b *Block) Failure() bool {
	if b.kind == kindMade {
		return b.Failed
	}
	return b.Aborted()
}

// Contract returns what the account is as of the trace, nil where nothing is
// known.
func (m *Match) Contract(account Address) *record.Contract { return m.scan.contract(account) }

// Data returns a Reader of the account's data as of the trace, false where it is
// not known.
func (m *Match) Data(account Address) (Reader, bool) {
	boc := m.scan.facts.AccountData(account)
	if len(boc) == 0 {
		return Reader{}, false
	}
	return openBoC(boc), true
}

// is tests a block by itself.
func (p *Pattern) is(b *Block) bool {
	switch {
	case len(p.opcodes) > 0:
		if p.logs && b.kind != kindLog || !p.logs && b.kind != kindCall || !b.hasOpcode(p.opcodes) {
			return false
		}
	case len(p.types) > 0:
		if b.kind != kindMade {
			return false
		}
		ok := false
		for _, t := range p.types {
			ok = ok || b.Type == t
		}
		if !ok {
			return false
		}
	case p.transfer:
		if b.kind != kindTransfer {
			return false
		}
	case p.deploys:
		if !b.deployed {
			return false
		}
	}
	for _, is := range p.where {
		if !is(b) {
			return false
		}
	}
	return true
}

// match tries a pattern on a block, and on what is around it.
func (m *Match) match(p *Pattern, b *Block) bool {
	if m.scan.steps--; m.scan.steps < 0 || b == nil {
		return false
	}
	if p.refer != nil {
		return m.match(p.refer(), b)
	}
	if len(p.options) > 0 {
		return m.option(p, b)
	}
	if b.taken || !p.is(b) {
		return false
	}
	before := len(m.found)
	m.take(p.label, b, p.kept)
	if m.below(p, b) && m.above(p, b) {
		return true
	}
	m.release(before)
	return false
}

func (m *Match) take(label string, b *Block, kept bool) {
	b.taken = true
	m.found = append(m.found, found{label, b, kept})
}

// release forgets the blocks that were found from one on.
func (m *Match) release(from int) {
	for _, f := range m.found[from:] {
		f.block.taken = false
	}
	m.found = m.found[:from]
}

// option tries the options of a pattern, and then what is asked of all of them.
func (m *Match) option(p *Pattern, b *Block) bool {
	before := len(m.found)
	if !slices.ContainsFunc(p.options, func(o *Pattern) bool { return m.match(o, b) }) {
		return false
	}
	if p.label != "" && m.found[before].label == "" {
		m.found[before].label = p.label
	}
	if p.is(b) && m.below(p, b) && m.above(p, b) {
		return true
	}
	m.release(before)
	return false
}

// below tries the patterns of children.
func (m *Match) below(p *Pattern, b *Block) bool {
	for _, c := range p.children {
		ok := false
		for _, child := range b.Children {
			if m.scan.steps--; m.scan.steps < 0 {
				return false
			}
			if !child.taken && m.match(c, child) {
				ok = true
				if !c.every {
					break
				}
			}
		}
		if !ok && !c.optional {
			return false
		}
	}
	if !p.alone && !p.kept && len(p.options) == 0 {
		m.returns(b)
	}
	return true
}

// returns takes what came back from a block, and from the receiver of that.
func (m *Match) returns(b *Block) {
	for _, child := range b.Children {
		if !child.taken && child.isReturn() {
			m.take(labelReturn, child, false)
			for _, back := range child.Children {
				if !back.taken && back.Message.GetBounced() {
					m.take(labelReturn, back, false)
				}
			}
		}
	}
}

// labelReturn is the label of what came back: excesses and bounced messages.
const labelReturn = "return"

// foundBeside is a block that a rule consumes besides those of its pattern.
func foundBeside(b *Block) found { return found{label: "beside", block: b} }

// isReturn reports whether b is an excess or a message that came back.
func (b *Block) isReturn() bool {
	return b.kind == kindCall && (b.Message.Bounced || b.hasOpcode([]uint32{opExcess, opBounce, opBounceV2}))
}

func (m *Match) above(p *Pattern, b *Block) bool {
	return p.parent == nil || m.match(p.parent, b.Parent) || p.parent.optional
}

// starts are what a rule can begin with.
type starts struct {
	opcodes                     []uint32
	types                       []*Type
	transfer, deploys, anything bool
}

func (p *Pattern) starts() (s starts) {
	switch {
	case p.refer != nil:
		return p.refer().starts()
	case len(p.options) == 0:
		return starts{p.opcodes, p.types, p.transfer, p.deploys, p.anything}
	}
	for _, o := range p.options {
		other := o.starts()
		s.opcodes, s.types = append(s.opcodes, other.opcodes...), append(s.types, other.types...)
		s.transfer, s.deploys, s.anything = s.transfer || other.transfer, s.deploys || other.deploys, s.anything || other.anything
	}
	return s
}
