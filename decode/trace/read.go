package trace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/cell"
)

// Recorded is a trace that was read out of JSON. What contracts are is common to all
// that were read together.
type Recorded struct {
	Transactions []*record.Transaction // by (lt, account)
	// Foreseen are those that no block has: emulation made them.
	Foreseen map[*record.Transaction]bool
	// Contracts are what the recording knows of contracts, by the 36 bytes of their
	// addresses.
	Contracts map[string]*record.Contract
	// Data are the data cells of accounts, BoC, by the same.
	Data map[string][]byte
}

// form has what the forms of a trace, and of an answer with traces, are made of.
type form struct {
	Traces       []json.RawMessage          `json:"traces"`
	Trace        json.RawMessage            `json:"trace"`
	Transactions json.RawMessage            `json:"transactions"`
	Interfaces   map[string]json.RawMessage `json:"interfaces"`
	Metadata     map[string]metadata        `json:"metadata"`
	Contents     []content                  `json:"message_contents"`
}

// Read is ReadAll of a text that has one trace.
func Read(text []byte) (*Recorded, error) {
	list, err := ReadAll(text)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d traces, want one", len(list))
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// ReadAll reads traces from JSON. It knows two forms: the trace of a v3 answer, alone, as
// the member "trace" or as one of "traces", in which its transactions are an object
// by hash, and the recording in which "transactions" is a list, "trace" has counters
// and "interfaces" has what contracts are; bodies may lie apart, in
// "message_contents". Of an answer "metadata" says which accounts
// are tokens, and "interfaces" may stand beside "traces".
func ReadAll(text []byte) ([]*Recorded, error) {
	var f form
	if err := unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("no JSON of a trace: %w", err)
	}
	switch {
	case f.Traces == nil:
		f.Traces, f.Interfaces = []json.RawMessage{text}, nil
	case len(f.Traces) == 0:
		return nil, ErrNone
	}
	contracts, data := map[string]*record.Contract{}, map[string][]byte{}
	var list []*Recorded
	for _, one := range f.Traces {
		r := &Recorded{Contracts: contracts, Data: data}
		if err := r.read(one); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	if err := list[0].readInterfaces(f.Interfaces); err != nil {
		return nil, err
	}
	return list, list[0].readMetadata(f.Metadata)
}

func (r *Recorded) read(text []byte) error {
	var f form
	if err := unmarshal(text, &f); err != nil {
		return fmt.Errorf("no JSON of a trace: %w", err)
	}
	if len(f.Transactions) == 0 && len(f.Trace) > 0 {
		f.Transactions, f.Trace = nil, nil
		var inner struct {
			Trace form `json:"trace"`
		}
		if err := unmarshal(text, &inner); err != nil {
			return fmt.Errorf("no JSON of a trace: %w", err)
		}
		f.Transactions = inner.Trace.Transactions
	}
	if len(f.Transactions) == 0 {
		return ErrEmpty
	}
	if err := r.readTransactions(f.Transactions, f.Contents); err != nil {
		return err
	}
	return r.readInterfaces(f.Interfaces)
}

func (r *Recorded) readTransactions(text json.RawMessage, contents []content) error {
	apart := make(map[string]*content, len(contents))
	for i := range contents {
		if c := &contents[i]; len(c.Hash) > 0 {
			apart[string(c.Hash)] = c
		}
	}
	var list []json.RawMessage
	name := func(i int) string { return strconv.Itoa(i + 1) }
	if text[0] == '{' {
		var byHash map[string]json.RawMessage
		if err := unmarshal(text, &byHash); err != nil {
			return fmt.Errorf("transactions: %w", err)
		}
		hashes := slices.Sorted(maps.Keys(byHash))
		for _, h := range hashes {
			list = append(list, byHash[h])
		}
		name = func(i int) string { return hashes[i] }
	} else if err := unmarshal(text, &list); err != nil {
		return fmt.Errorf("transactions: %w", err)
	}
	if len(list) == 0 {
		return ErrEmpty
	}
	r.Foreseen = map[*record.Transaction]bool{}
	for i, text := range list {
		var t transaction
		if err := unmarshal(text, &t); err != nil {
			return fmt.Errorf("transaction %s: %w", name(i), err)
		}
		tx, err := t.record(apart)
		if err != nil {
			return fmt.Errorf("transaction %s: %w", name(i), err)
		}
		r.Transactions = append(r.Transactions, tx)
		if t.Emulated {
			r.Foreseen[tx] = true
		}
	}
	slices.SortStableFunc(r.Transactions, Order)
	r.Transactions = slices.CompactFunc(r.Transactions, func(a, b *record.Transaction) bool { return bytes.Equal(a.Hash, b.Hash) })
	return nil
}

// number is a number of 64 bits, or a decimal or hexadecimal text of one; some of
// the forms write what is above 2^63 with a sign.
type number uint64

func (n *number) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	if s == "null" || s == "" {
		return nil
	}
	if v, err := strconv.ParseUint(s, 0, 64); err == nil {
		*n = number(v)
		return nil
	}
	v, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		return fmt.Errorf("%q is no number of 64 bits", s)
	}
	*n = number(v)
	return nil
}

func (n *number) pointer() *uint64 {
	if n == nil {
		return nil
	}
	v := uint64(*n)
	return &v
}

// hash is 256 bits as base64 of either alphabet.
type hash []byte

func (h *hash) UnmarshalJSON(text []byte) error {
	b, err := bytesOf(text)
	if err == nil && b != nil && len(b) != 32 {
		err = fmt.Errorf("%s has %d bytes, want 32", text, len(b))
	}
	*h = b
	return err
}

func (h hash) text() string { return base64.StdEncoding.EncodeToString(h) }

// boc is a bag of cells as base64.
type boc []byte

func (b *boc) UnmarshalJSON(text []byte) (err error) {
	*b, err = bytesOf(text)
	return err
}

// bytesOf reads a base64 text, nil for null and for an empty one.
func bytesOf(text []byte) ([]byte, error) {
	var s *string
	if err := json.Unmarshal(text, &s); err != nil || s == nil || *s == "" {
		return nil, err
	}
	plain := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(*s, "="))
	return base64.RawStdEncoding.DecodeString(plain)
}

// account is an address in whatever form.
type account []byte

func (a *account) UnmarshalJSON(text []byte) error {
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*a = nil
	if s == nil || *s == "" || *s == "addr_none" {
		return nil
	}
	parsed, _, err := address.Parse(*s)
	if err != nil {
		return fmt.Errorf("%q: %w", *s, err)
	}
	*a = parsed[:]
	return nil
}

// currencies are amounts by the id of the currency.
type currencies map[string]json.Number

func (c currencies) record() (list []*record.ExtraCurrency, err error) {
	for id, amount := range c {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("currency %q: %w", id, err)
		}
		if len(amount) > maxDigits {
			return nil, fmt.Errorf("currency %s: %w", id, errDigits)
		}
		v, ok := new(big.Int).SetString(amount.String(), 10)
		if !ok || v.Sign() < 0 || v.BitLen() > 248 {
			return nil, fmt.Errorf("currency %s: %q is no amount", id, amount)
		}
		list = append(list, &record.ExtraCurrency{Id: uint32(n), Amount: v.Bytes()})
	}
	slices.SortFunc(list, func(a, b *record.ExtraCurrency) int { return int(int64(a.Id) - int64(b.Id)) })
	return list, nil
}

// content is a cell of a message.
type content struct {
	Hash hash `json:"hash"`
	Body boc  `json:"body"`
}

// message has what the forms write about messages.
type message struct {
	Hash            hash       `json:"hash"`
	MsgHash         hash       `json:"msg_hash"`
	HashNorm        hash       `json:"hash_norm"`
	MsgHashNorm     hash       `json:"msg_hash_norm"`
	Direction       string     `json:"direction"`
	Source          account    `json:"source"`
	Destination     account    `json:"destination"`
	Value           *number    `json:"value"`
	Extra           currencies `json:"value_extra_currencies"`
	FwdFee          number     `json:"fwd_fee"`
	IhrFee          number     `json:"ihr_fee"`
	ExtraFlags      *number    `json:"extra_flags"`
	CreatedLt       number     `json:"created_lt"`
	CreatedAt       number     `json:"created_at"`
	Opcode          *number    `json:"opcode"`
	IhrDisabled     bool       `json:"ihr_disabled"`
	Bounce          bool       `json:"bounce"`
	Bounced         bool       `json:"bounced"`
	ImportFee       number     `json:"import_fee"`
	BodyHash        hash       `json:"body_hash"`
	InitStateHash   hash       `json:"init_state_hash"`
	MessageContent  *content   `json:"message_content"`
	InitState       *content   `json:"init_state"`
	InitStateLegacy boc        `json:"init_state_boc"`
}

// record is the message as a record; apart are cells by their hashes, of which one
// may be its body.
func (m *message) record(in bool, apart map[string]*content) (*record.Message, error) {
	if m.MessageContent == nil {
		m.MessageContent = apart[string(m.BodyHash)]
	}
	if m.InitState == nil {
		m.InitState = apart[string(m.InitStateHash)]
	}
	r := &record.Message{
		Hash: m.Hash, HashNorm: m.HashNorm, Source: m.Source, Destination: m.Destination,
		FwdFee: uint64(m.FwdFee), IhrFee: uint64(m.IhrFee), ExtraFlags: m.ExtraFlags.pointer(),
		CreatedLt: uint64(m.CreatedLt), CreatedAt: uint32(m.CreatedAt),
		IhrDisabled: m.IhrDisabled, Bounce: m.Bounce, Bounced: m.Bounced, ImportFee: uint64(m.ImportFee),
		BodyHash: m.BodyHash, InitStateHash: m.InitStateHash, InitState: m.InitStateLegacy,
	}
	if r.Hash == nil {
		r.Hash = m.MsgHash
	}
	if r.HashNorm == nil {
		r.HashNorm = m.MsgHashNorm
	}
	if len(r.Hash) == 0 {
		return nil, errors.New("a message without hash")
	}
	switch {
	case in && m.Source == nil:
		r.Kind = record.Message_EXTERNAL_IN
	case !in && m.Destination == nil:
		r.Kind = record.Message_EXTERNAL_OUT
	}
	if m.Value != nil {
		r.Value = uint64(*m.Value)
	}
	var err error
	if r.ValueExtra, err = m.Extra.record(); err != nil {
		return nil, err
	}
	if c := m.MessageContent; c != nil {
		r.Body, r.BodyHash = c.Body, c.Hash
	}
	if c := m.InitState; c != nil {
		r.InitState, r.InitStateHash = c.Body, c.Hash
	}
	return r, m.readBody(r)
}

// readBody sets the opcode, and refuses a body that is no bag of cells.
func (m *message) readBody(r *record.Message) error {
	if m.Opcode != nil {
		op := uint32(*m.Opcode)
		r.Opcode = &op
	}
	if len(r.Body) == 0 {
		return nil
	}
	bag, err := cell.Parse(r.Body)
	if err != nil {
		return fmt.Errorf("body of message %s: %w", hash(r.Hash).text(), err)
	}
	root, err := bag.Single()
	if err != nil {
		return fmt.Errorf("body of message %s: %w", hash(r.Hash).text(), err)
	}
	if r.Kind == record.Message_EXTERNAL_IN && len(r.Destination) == address.Size {
		if err := normalize(r, root); err != nil {
			return fmt.Errorf("message %s: %w", hash(r.Hash).text(), err)
		}
	}
	s := root.RawSlice()
	r.Opcode = nil
	if v, ok := s.Peek(32); ok {
		op := uint32(v)
		r.Opcode = &op
	}
	if r.BodyHash == nil {
		r.BodyHash = append([]byte(nil), root.Hash()[:]...)
	}
	return nil
}

// word finds a word's number.
func word[N ~int32](words []string, s string) N {
	return N(max(slices.Index(words, s), 0))
}

var (
	statuses = []string{"uninit", "frozen", "active", "nonexist"}
	types    = []string{"ord", "storage", "tick_tock", "split_prepare", "split_install", "merge_prepare", "merge_install"}
	skips    = []string{"", "no_state", "bad_state", "no_gas", "suspended"}
	bounces  = []string{"negfunds", "nofunds", "ok"}

	// words are those of phases, by their enums.
	words = map[protoreflect.Name][]string{"SkipReason": skips, "Kind": bounces, "StatusChange": {"unchanged", "frozen", "deleted"}}
)

// maxDigits is how long a number is that is read: each digit of one costs as much as all
// before it.
const maxDigits = 512

var errDigits = fmt.Errorf("a number of more than %d characters", maxDigits)

// exact reads a number of any form as an integer: some recordings have written
// large ones as floating point.
func exact(n json.Number) ([]byte, error) {
	s := n.String()
	switch {
	case s == "":
		return nil, nil
	case len(s) > maxDigits:
		return nil, errDigits
	}
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		f, _, err := big.ParseFloat(s, 10, 320, big.ToNearestEven)
		if err != nil || f.IsInf() || f.MantExp(nil) > 256 {
			return nil, fmt.Errorf("%q is no integer", s)
		}
		v, _ = f.Int(nil)
	}
	if v.Sign() < 0 || v.BitLen() > 256 {
		return nil, fmt.Errorf("%q is out of range", s)
	}
	return v.Bytes(), nil
}

func limited(n number) (uint32, error) {
	if n > math.MaxUint32 {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return uint32(n), nil
}

// Contract returns what the recording knows of an account, nil for nothing.
func (r *Recorded) Contract(account []byte) *record.Contract { return r.Contracts[string(account)] }

// AccountData returns the data of an account, BoC, nil where the recording has none.
func (r *Recorded) AccountData(account []byte) []byte { return r.Data[string(account)] }

// Assemble puts the transactions together: the trace of their root as it is after the
// last of them, and its tree. Transactions that nothing led to are in neither but
// Tree.Missing. ErrOrder is its error where the root's message was sent behind it.
func (r *Recorded) Assemble() (*record.Trace, *Tree, error) {
	tree, err := NewTree(r.Transactions)
	if err != nil {
		return nil, nil, err
	}
	bundles := map[uint32][]*record.Transaction{}
	for _, tx := range r.Transactions {
		bundles[tx.McSeqno] = append(bundles[tx.McSeqno], tx)
	}
	var found *record.Trace
	a := NewAssembler(new(Memory))
	for _, seqno := range slices.Sorted(maps.Keys(bundles)) {
		list, err := a.Bundle(seqno, bundles[seqno])
		if err != nil {
			return nil, nil, err
		}
		for _, t := range list {
			if bytes.Equal(t.Id, tree.Root.Tx.Hash) {
				found = t.Trace
			}
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrOrder, hash(tree.Root.Tx.Hash).text())
	}
	return found, tree, nil
}
