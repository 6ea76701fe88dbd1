package events

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tonscribe/decode/action"
	"tonscribe/query/pending"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Hash is a hash of a message, a trace or a body.
type Hash = [32]byte

// Order is what a client sends: the body of a stream of events, or a message of a
// WebSocket.
type Order struct {
	Operation       string   `json:"operation"`
	ID              *string  `json:"id"`
	Types           []string `json:"types"`
	Addresses       []string `json:"addresses"`
	Traces          []string `json:"trace_external_hash_norms"`
	MinFinality     *string  `json:"min_finality"`
	AddressBook     bool     `json:"include_address_book"`
	Metadata        bool     `json:"include_metadata"`
	ActionTypes     []string `json:"action_types"`
	Supported       []string `json:"supported_action_types"`
	BodyHash        *string  `json:"msg_body_hash"`
	ReplayExisting  bool     `json:"replay_existing"`
	From            *string  `json:"from"`
	Jettons         []string `json:"jettons"`
	Collections     []string `json:"collections"`
	Opcodes         []string `json:"opcodes"`
	fallbackActions string   // of the header X-Actions-Version
}

// Finality is how certain something is.
type Finality uint8

const (
	PendingLevel Finality = iota
	ConfirmedLevel
	FinalizedLevel
)

var finalityNames = []string{"pending", "confirmed", "finalized"}

func (f Finality) String() string { return finalityNames[f] }

// Kind is a type of events.
type Kind uint8

const (
	TransactionsKind Kind = iota
	ActionsKind
	TraceKind
	StateKind
	JettonsKind
	GapKind // says that a jettons_change was here whose object is not known any more
	Kinds   // how many there are
)

// KindNames are what clients call them.
var KindNames = [Kinds]string{"transactions", "actions", "trace", "account_state_change", "jettons_change", "gap"}

// InvalidatedName is the type of events that nobody subscribes to: whoever got what was
// not final gets them.
const InvalidatedName = "trace_invalidated"

// Subscription says which events a client wants. It does not change.
type Subscription struct {
	types      [Kinds]bool
	everything bool // no account, token or trace is named
	addresses  map[address.Address]struct{}
	tokens     map[address.Address]struct{} // jetton masters and collections
	traces     map[Hash]struct{}
	From       *Position
	Recent     bool // what is new since a while comes first
	Resumes    bool // it goes on behind what was sent

	Min         Finality
	style       style
	actionTypes map[string]bool // nil for all
	supported   *supported
	bodyHash    []byte
	opcodes     map[uint32]bool // nil for all
}

// style is what events have besides what they show.
type style struct{ addressBook, metadata bool }

// supported are types of actions.
type supported struct{ types map[*action.Type]bool }

// Size is how many addresses and hashes are named.
func (s *Subscription) Size() int { return len(s.addresses) + len(s.tokens) + len(s.traces) }

// Limits of the subscriptions of one client.
type Limits struct {
	Addresses  int
	Everything bool
}

// Words are how an endpoint names what is wrong with a subscription.
type Words struct {
	NoTypes, NoAddresses string
	tooMany              string // with the number and the limit
}

// ErrNoTraces is that of a subscription to traces which names none, of either endpoint.
var ErrNoTraces = errors.New("trace_external_hash_norms are required for trace subscription")

// SSEWords are those of streams of events, WSWords those of WebSockets.
var (
	SSEWords = Words{"types are required for subscription", "addresses are required for subscription", "too many addresses: %d > max %d"}
	WSWords  = Words{"types are required", "addresses are required", "address limit exceeded: current 0 + new %d > max %d"}
)

// Subscription reads an order.
func (o *Order) Subscription(w *Words, l Limits) (*Subscription, error) {
	s := &Subscription{Min: FinalizedLevel, style: style{o.AddressBook, o.Metadata}, Recent: o.ReplayExisting}
	steps := []func(*Subscription, *Words) error{o.readTypes, o.readAddresses, o.readTraces, o.readFinality, o.readBody, o.readOpcodes, o.readPosition}
	for _, step := range steps {
		if err := step(s, w); err != nil {
			return nil, err
		}
	}
	switch n := len(s.addresses) + len(s.tokens); {
	case n > l.Addresses:
		return nil, fmt.Errorf(w.tooMany, n, l.Addresses)
	case len(s.traces) > l.Addresses:
		return nil, fmt.Errorf("too many trace_external_hash_norms: %d > max %d", len(s.traces), l.Addresses)
	}
	named := len(s.addresses) + len(s.tokens)
	onlyTrace := s.types == [Kinds]bool{TraceKind: true}
	switch {
	case named == 0 && len(s.traces) == 0 && l.Everything:
		s.everything = true
	case s.types[TraceKind] && len(s.traces) == 0:
		return nil, ErrNoTraces
	case named == 0 && !onlyTrace:
		return nil, errors.New(w.NoAddresses)
	case s.bodyHash != nil && (len(s.addresses) == 0 || !s.types[TransactionsKind]):
		return nil, errors.New(`msg_body_hash requires addresses and type "transactions"`)
	}
	return s, o.readActions(s)
}

func (o *Order) readTypes(s *Subscription, w *Words) error {
	if len(o.Types) == 0 {
		return errors.New(w.NoTypes)
	}
	for _, name := range o.Types {
		k := slices.Index(KindNames[:], name)
		switch {
		case k >= 0:
			s.types[k] = true
		case name != InvalidatedName:
			return fmt.Errorf("invalid event type: %s", Shortened(name))
		}
	}
	switch {
	case s.types == [Kinds]bool{}:
		return errors.New(w.NoTypes)
	case s.types[GapKind] && !s.types[JettonsKind]:
		return errors.New(`gap requires type "jettons_change"`)
	}
	return nil
}

func (o *Order) readAddresses(s *Subscription, _ *Words) error {
	var err error
	if s.addresses, err = addressesOf(o.Addresses); err != nil {
		return err
	}
	if s.tokens, err = addressesOf(o.Jettons); err != nil {
		return err
	}
	collections, err := addressesOf(o.Collections)
	maps.Copy(s.tokens, collections)
	return err
}

func addressesOf(texts []string) (map[address.Address]struct{}, error) {
	set := make(map[address.Address]struct{}, len(texts))
	for _, text := range texts {
		a, _, err := address.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("invalid address: %s", Shortened(text))
		}
		set[a] = struct{}{}
	}
	return set, nil
}

func (o *Order) readTraces(s *Subscription, _ *Words) error {
	if len(o.Traces) > 0 && !s.types[TraceKind] {
		return errors.New(`trace_external_hash_norms requires type "trace"`)
	}
	s.traces = make(map[Hash]struct{}, len(o.Traces))
	for _, text := range o.Traces {
		h, err := parseHash(text)
		if err != nil {
			return fmt.Errorf("invalid trace_external_hash_norm: %s", Shortened(text))
		}
		s.traces[h] = struct{}{}
	}
	return nil
}

// parseHash reads a hash as hexadecimal digits or base64 of either alphabet.
func parseHash(text string) (h Hash, err error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	var raw []byte
	if len(digits) == 2*len(h) {
		raw, err = hex.DecodeString(digits)
	} else {
		plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
		raw, err = base64.RawStdEncoding.DecodeString(plain)
	}
	if err == nil && copy(h[:], raw) != len(h) || len(raw) != len(h) {
		err = errors.New("not a hash of 32 bytes")
	}
	return h, err
}

func (o *Order) readFinality(s *Subscription, _ *Words) error {
	if o.MinFinality == nil {
		return nil
	}
	i := slices.Index(finalityNames, *o.MinFinality)
	if i < 0 {
		return fmt.Errorf("invalid min_finality: %s", Shortened(*o.MinFinality))
	}
	s.Min = Finality(i)
	return nil
}

func (o *Order) readBody(s *Subscription, _ *Words) error {
	if o.BodyHash == nil || *o.BodyHash == "" {
		return nil
	}
	h, err := parseHash(*o.BodyHash)
	if err != nil {
		return errors.New("invalid msg_body_hash")
	}
	s.bodyHash = h[:]
	return nil
}

const maxOpcodes = 100

func (o *Order) readOpcodes(s *Subscription, _ *Words) error {
	if len(o.Opcodes) > maxOpcodes {
		return fmt.Errorf("too many opcodes: %d > max %d", len(o.Opcodes), maxOpcodes)
	}
	for _, text := range o.Opcodes {
		n, ok := parseOpcode(text)
		if !ok {
			return fmt.Errorf("invalid opcode: %s", Shortened(text))
		}
		if s.opcodes == nil {
			s.opcodes = map[uint32]bool{}
		}
		s.opcodes[n] = true
	}
	return nil
}

// parseOpcode reads hexadecimal digits behind 0x, or a decimal number. Digits that begin
// with zeros may be meant as either.
func parseOpcode(text string) (opcode uint32, ok bool) {
	digits, base := text, 10
	if len(text) > 2 && (text[:2] == "0x" || text[:2] == "0X") {
		digits, base = text[2:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return uint32(n), err == nil && (base == 16 || digits == "0" || digits[0] != '0')
}

func (o *Order) readPosition(s *Subscription, _ *Words) error {
	if o.From == nil || *o.From == "" {
		return nil
	}
	p, err := ParsePosition(*o.From)
	s.From = &p
	return err
}

// maxActionTypes is how many types of actions are named, maxTypeName the longest name that
// counts: no type has a longer one.
const maxActionTypes, maxTypeName = 1000, 100

// readActions reads which actions are wanted, by their types and by what the client
// understands.
func (o *Order) readActions(s *Subscription) error {
	if len(o.ActionTypes) > maxActionTypes {
		return fmt.Errorf("too many action_types: %d > max %d", len(o.ActionTypes), maxActionTypes)
	}
	for _, name := range o.ActionTypes {
		if s.actionTypes == nil {
			s.actionTypes = map[string]bool{}
		}
		if len(name) <= maxTypeName {
			s.actionTypes[name] = true
		}
	}
	labels := o.Supported
	if len(labels) == 0 && o.fallbackActions != "" {
		for label := range strings.SplitSeq(o.fallbackActions, ",") {
			labels = append(labels, strings.TrimSpace(label))
		}
	}
	if len(labels) == 0 {
		labels = []string{latestLabel}
	}
	s.supported = supportedBy(labels)
	return nil
}

// supportedBy expands labels; sets that clients have in common are made once.
func supportedBy(labels []string) *supported {
	if len(labels) == 1 && labels[0] == latestLabel {
		return latest
	}
	return &supported{action.Expand(labels)}
}

const latestLabel = "latest"

var latest = &supported{action.Expand([]string{latestLabel})}

// KnownActions is what the header X-Actions-Version says without what stands for nothing.
func KnownActions(header string) string {
	if header == "" {
		return ""
	}
	labels := []string{"v1"} // those are always among them
	return strings.Join(append(labels, action.Known(func(yield func(string) bool) {
		for label := range strings.SplitSeq(header, ",") {
			if !yield(strings.TrimSpace(label)) {
				return
			}
		}
	})...), ",")
}

// Names are the addresses, of accounts or tokens, and the traces that an order takes out
// of a subscription.
func (o *Order) Names() (addresses map[address.Address]struct{}, traces map[Hash]struct{}, err error) {
	if len(o.Addresses)+len(o.Jettons)+len(o.Collections)+len(o.Traces) == 0 {
		return nil, nil, errors.New("addresses or trace_external_hash_norms are required")
	}
	gone := &Subscription{types: [Kinds]bool{TraceKind: true}}
	if err := o.readAddresses(gone, &WSWords); err != nil {
		return nil, nil, err
	}
	if err := o.readTraces(gone, &WSWords); err != nil {
		return nil, nil, err
	}
	for a := range gone.tokens {
		gone.addresses[a] = struct{}{}
	}
	return gone.addresses, gone.traces, nil
}

// Without is the subscription less some addresses and traces.
func (s *Subscription) Without(addresses map[address.Address]struct{}, traces map[Hash]struct{}) *Subscription {
	left := *s
	left.From, left.Recent, left.Resumes = nil, false, true
	left.addresses, left.tokens, left.traces = maps.Clone(s.addresses), maps.Clone(s.tokens), maps.Clone(s.traces)
	for a := range addresses {
		delete(left.addresses, a)
		delete(left.tokens, a)
	}
	for h := range traces {
		delete(left.traces, h)
	}
	return &left
}

// Keys are what the subscription is found by.
func (s *Subscription) Keys(visit func(Key)) {
	if s.everything {
		visit(Key{Of: OfEverything})
		return
	}
	for a := range s.addresses {
		visit(Key{OfAccount, a})
	}
	for a := range s.tokens {
		visit(Key{OfToken, a})
	}
	for h := range s.traces {
		visit(TraceKey(h))
	}
}

// Key is what subscriptions are found by: an account, a token or a trace.
type Key struct {
	Of KeyKind
	ID address.Address
}

// KeyKind is what a key names.
type KeyKind uint8

const (
	OfEverything KeyKind = iota
	OfAccount
	OfToken
	OfTrace
)

// TraceKey is the key of a trace.
func TraceKey(h Hash) (k Key) {
	k.Of = OfTrace
	copy(k.ID[:], h[:])
	return k
}

// AccountKey is the key of an account; it is false for what is no address.
func AccountKey(account []byte) (k Key, ok bool) {
	if len(account) != schema.AddressSize {
		return Key{}, false
	}
	return Key{OfAccount, address.Address(account)}, true
}

// wants reports whether the subscription names an account.
func (s *Subscription) wants(account []byte) bool {
	if s.everything {
		return true
	}
	if len(account) != address.Size {
		return false
	}
	_, named := s.addresses[address.Address(account)]
	return named
}

// wantsToken reports whether it names a token.
func (s *Subscription) wantsToken(account []byte) bool {
	if len(account) != address.Size {
		return false
	}
	_, named := s.tokens[address.Address(account)]
	return named
}

// MayWant reports whether events of what a message will do may be for the subscription:
// actions concern accounts that have no transaction, too.
func (s *Subscription) MayWant(t *pending.Trace) bool {
	_, named := s.traces[t.ID]
	return named || s.everything || len(s.tokens) > 0 || s.types[ActionsKind] || slices.ContainsFunc(t.Transactions, func(tx *record.Transaction) bool { return s.wants(tx.Account) })
}

// ReadOrder reads an order. supported are the types of actions that the client understands
// when the order does not say so, parted by commas.
func ReadOrder(raw []byte, supported string) (*Order, error) {
	o := &Order{fallbackActions: supported}
	if err := json.Unmarshal(raw, o); err != nil {
		return o, err
	}
	return o, CheckID(o.ID)
}

// maxID is how many bytes the id of an operation has at most: answers repeat it, and wait
// for clients that do not read.
const maxID = 1 << 10

// CheckID refuses an id that is too long.
func CheckID(id *string) error {
	if id != nil && len(*id) > maxID {
		return fmt.Errorf("id is longer than %d bytes", maxID)
	}
	return nil
}
