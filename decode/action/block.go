package action

import (
	"bytes"
	"cmp"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// kind is what a basic block is made of.
type kind uint8

const (
	kindMade     kind = iota // by a rule
	kindCall                 // an internal message that is no plain transfer
	kindTransfer             // a plain transfer: no opcode, or that of a comment
	kindExternal             // a message from outside
	kindLog                  // a message to outside
	kindNone                 // a transaction without inbound message
)

// Block is a part of a trace: a message with the transaction that received it, or
// what a rule made of several blocks. Blocks form the tree that their messages do.
type Block struct {
	// Message is that of a basic block, nil for a transaction without one.
	Message *record.Message
	// Tx is the transaction that received the message; of a log, that sent it.
	Tx *record.Transaction
	// Ghost marks a message that a rejected external message asked for and that was
	// never sent.
	Ghost bool

	// Type is that of the action which the block is, nil for none.
	Type *Type
	// Failed reports that the action had no effect.
	Failed bool
	// Parent is the block that sent the first message, nil for that of the root.
	Parent *Block
	// Children are the blocks that its messages led to, in the order in which those were sent.
	Children []*Block
	// Parts are the blocks that a rule made it of, in the order of the trace.
	Parts []*Block

	kind     kind
	sender   *Block // the basic block that sent the message
	deployed bool   // the transaction made the account active
	data     any    // *T of the type
	index    int    // in the order of the trace; of the first part
	within   *Block
	rule     *Rule
	found    []found
	extras   []Address // accounts of the action besides
	others   []Address // of the details, that are no accounts of the action
	scan     *scan
	body     Reader
	read     bool
	taken    bool // by the match that is being tried
}

// Opcode returns the first 32 bits of the message's body, false where there are
// none, and for what a rule made.
func (b *Block) Opcode() (uint32, bool) {
	if b == nil || b.Message == nil || b.Message.Opcode == nil {
		return 0, false
	}
	return *b.Message.Opcode, true
}

// IsCall reports whether b is an internal message with one of the opcodes.
func (b *Block) IsCall(opcodes ...uint32) bool {
	return b != nil && b.kind == kindCall && b.hasOpcode(opcodes)
}

// IsLog reports whether b is a message to outside with one of the opcodes.
func (b *Block) IsLog(opcodes ...uint32) bool {
	return b != nil && b.kind == kindLog && b.hasOpcode(opcodes)
}

func (b *Block) hasOpcode(opcodes []uint32) bool {
	op, ok := b.Opcode()
	if !ok {
		return false
	}
	for _, o := range opcodes {
		if o == op {
			return true
		}
	}
	return false
}

// IsTransfer reports whether b is a plain transfer of toncoins.
func (b *Block) IsTransfer() bool { return b != nil && b.kind == kindTransfer }

// internal reports whether b is a message from one account to another.
func (b *Block) internal() bool { return b.kind == kindCall || b.kind == kindTransfer }

// Source is who sent the message, nil for outside.
func (b *Block) Source() Address { return b.Message.GetSource() }

// Destination is who received the message, nil for outside.
func (b *Block) Destination() Address { return b.Message.GetDestination() }

// Value is that of the message, in nanotons.
func (b *Block) Value() uint64 { return b.Message.GetValue() }

// Aborted reports whether the transaction that received the message was aborted.
func (b *Block) Aborted() bool { return b.Ghost || b.kind != kindLog && b.Tx.GetAborted() }

// Skipped reports whether the transaction that received the message left out something
// that it was to send, as it may be told to where that fails.
func (b *Block) Skipped() bool { return b.kind != kindLog && b.Tx.GetAction().GetSkippedActions() > 0 }

// underWay is the message with an opcode that the transaction sent and nobody in the trace
// has received, nil for none: of a trace that goes on, a part is known.
func (b *Block) underWay(opcode uint32) *record.Message {
	for _, m := range b.Tx.GetOutMsgs() {
		if m.Kind == record.Message_INTERNAL && m.Opcode != nil && *m.Opcode == opcode && !b.scan.received(b, m) {
			return m
		}
	}
	return nil
}

// received reports whether the trace has the transaction that received a block's message.
func (s *scan) received(by *Block, m *record.Message) bool {
	for i := range s.basic {
		if b := &s.basic[i]; b.sender == by && bytes.Equal(b.Message.GetHash(), m.Hash) {
			return true
		}
	}
	return false
}

// Deployed reports whether the transaction made its account active.
func (b *Block) Deployed() bool { return b.deployed }

// Comment is the text of the message's comment, nil where there is none; encrypted
// ones are base64.
func (b *Block) Comment() *string {
	if t := tonTransfer.Of(b); t != nil {
		return t.Comment
	}
	return nil
}

// Body returns a Reader behind the opcode of the message's body.
func (b *Block) Body() Reader {
	r := b.Whole()
	r.Skip(32)
	return r
}

// Whole returns a Reader of the message's body from its beginning.
func (b *Block) Whole() Reader {
	if !b.read {
		b.read = true
		b.body = openBoC(b.Message.GetBody())
	}
	return b.body
}

// InitState returns a Reader of the message's StateInit, false where it has none.
func (b *Block) InitState() (Reader, bool) {
	if len(b.Message.GetInitState()) == 0 {
		return Reader{}, false
	}
	return openBoC(b.Message.InitState), true
}

// openBoC begins to read the single root of a bag. A bag that is none gives a
// Reader without bits, which fails.
func openBoC(boc []byte) Reader {
	bag, err := cell.Parse(boc)
	if err != nil {
		return Reader{}
	}
	root, err := bag.Single()
	if err != nil {
		return Reader{}
	}
	return Reader{root.Slice(), bag}
}

// Contract returns what the account is as of the trace, nil where nothing is
// known.
func (b *Block) Contract(account Address) *record.Contract { return b.scan.contract(account) }

// Each visits b, and what it was made of, down to the basic blocks, until visit
// returns false.
func (b *Block) Each(visit func(*Block) bool) bool {
	if !visit(b) {
		return false
	}
	for _, p := range b.Parts {
		if !p.Each(visit) {
			return false
		}
	}
	return true
}

// First returns the first basic block of b.
func (b *Block) First() *Block {
	for len(b.Parts) > 0 {
		b = b.Parts[0]
	}
	return b
}

// Top returns the block that b is a part of in the end, b itself if of none.
func (b *Block) Top() *Block {
	for b.within != nil {
		b = b.within
	}
	return b
}

// sent is the logical time of the message, or of the transaction without one.
func (b *Block) sent() uint64 {
	if lt := b.Message.GetCreatedLt(); lt != 0 {
		return lt
	}
	return b.Tx.GetLt()
}

// blocksOf makes the basic blocks of a tree, in the order of the trace.
func (s *scan) blocksOf(t *trace.Tree) {
	of := make(map[*trace.Node]*Block, len(t.Nodes))
	total := len(t.Nodes)
	for _, n := range t.Nodes {
		for _, m := range n.Tx.OutMsgs {
			if m.Kind == record.Message_EXTERNAL_OUT {
				total++
			}
		}
	}
	s.basic = make([]Block, 0, total)
	for _, n := range t.Nodes {
		b := s.add(Block{Message: n.Tx.InMsg, Tx: n.Tx})
		of[n] = b
		if n.Parent != nil {
			b.Parent = of[n.Parent]
			b.sender = b.Parent
		}
		for _, m := range n.Tx.OutMsgs {
			if m.Kind == record.Message_EXTERNAL_OUT {
				log := s.add(Block{Message: m, Tx: n.Tx, Parent: b, sender: b, kind: kindLog})
				b.Children = append(b.Children, log)
			}
		}
		s.classify(b)
	}
	for _, n := range t.Nodes {
		if len(n.Children) == 0 {
			continue
		}
		b := of[n]
		logs := b.Children
		b.Children = make([]*Block, 0, len(logs)+len(n.Children))
		for _, c := range bySending(n.Children) {
			for len(logs) > 0 && logs[0].Message.CreatedLt < c.Tx.InMsg.CreatedLt {
				b.Children, logs = append(b.Children, logs[0]), logs[1:]
			}
			b.Children = append(b.Children, of[c])
		}
		b.Children = append(b.Children, logs...)
	}
	s.root = &s.basic[0]
}

// bySending are the children of a node in the order in which their messages were sent.
func bySending(children []*trace.Node) []*trace.Node {
	order := func(a, b *trace.Node) int { return cmp.Compare(a.Tx.InMsg.CreatedLt, b.Tx.InMsg.CreatedLt) }
	if slices.IsSortedFunc(children, order) {
		return children
	}
	children = slices.Clone(children)
	slices.SortStableFunc(children, order)
	return children
}

func (s *scan) add(b Block) *Block {
	b.index, b.scan = len(s.basic), s
	s.basic = append(s.basic, b)
	return &s.basic[len(s.basic)-1]
}

// classify makes a block of a transaction what it is before any rule.
func (s *scan) classify(b *Block) {
	m := b.Message
	switch {
	case m == nil:
		b.kind = kindNone
	case m.Kind != record.Message_INTERNAL:
		b.kind = kindExternal
	case m.Opcode == nil || *m.Opcode == opComment || *m.Opcode == opEncryptedComment:
		b.kind = kindTransfer
	default:
		b.kind = kindCall
	}
	tx := b.Tx
	b.deployed = !b.Ghost && tx.EndStatus == record.AccountStatus_ACCOUNT_ACTIVE &&
		tx.OrigStatus != record.AccountStatus_ACCOUNT_ACTIVE && tx.OrigStatus != record.AccountStatus_ACCOUNT_FROZEN
	basicAction(b)
}
