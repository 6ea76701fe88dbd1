package live

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
	"tonscribe/schema"
	"tonscribe/ton/address"
)

// Hash is a hash of a message, a trace or a body.
type Hash = [32]byte

// order is what a client sends: the body of a stream of events, or a message of a
// WebSocket.
type order struct {
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

// finality is how certain something is.
type finality uint8

const (
	pendingLevel finality = iota
	confirmedLevel
	finalizedLevel
)

var finalityNames = []string{"pending", "confirmed", "finalized"}

func (f finality) String() string { return finalityNames[f] }

// kind is a type of events.
type kind uint8

const (
	transactionsKind kind = iota
	actionsKind
	traceKind
	stateKind
	jettonsKind
	gapKind // says that a jettons_change was here whose object is not known any more
	kinds
)

var kindNames = [kinds]string{"transactions", "actions", "trace", "account_state_change", "jettons_change", "gap"}

// invalidatedName is the type of events that nobody subscribes to: whoever got what was
// not final gets them.
const invalidatedName = "trace_invalidated"

// subscription says which events a client wants. It does not change.
type subscription struct {
	types      [kinds]bool
	everything bool // no account, token or trace is named
	addresses  map[address.Address]struct{}
	tokens     map[address.Address]struct{} // jetton masters and collections
	traces     map[Hash]struct{}
	from       *Position
	recent     bool // what is new since a while comes first
	resumes    bool // it goes on behind what was sent, unless the stream was up to the present

	min         finality
	style       style
	actionTypes map[string]bool // nil for all
	supported   *supported
	bodyHash    []byte
	opcodes     map[uint32]bool // nil for all
}

// style is what events have besides what they show.
type style struct{ addressBook, metadata bool }

// supported are types of actions, and a name for the set.
type supported struct {
	types map[*action.Type]bool
	name  string
}

// size is how many addresses and hashes are named.
func (s *subscription) size() int { return len(s.addresses) + len(s.tokens) + len(s.traces) }

// limits of the subscriptions of one client.
type limits struct {
	addresses  int
	everything bool
}

// words are how an endpoint names what is wrong with a subscription.
type words struct {
	noTypes, noAddresses, noTraces string
	tooMany                        string // with the number and the limit
}

var (
	sseWords = words{"types are required for subscription", "addresses are required for subscription",
		"trace_external_hash_norms are required for trace subscription", "too many addresses: %d > max %d"}
	wsWords = words{"types are required", "addresses are required",
		"trace_external_hash_norms are required", "address limit exceeded: current 0 + new %d > max %d"}
)

// subscription reads an order.
func (o *order) subscription(w *words, l limits) (*subscription, error) {
	s := &subscription{min: finalizedLevel, style: style{o.AddressBook, o.Metadata}, recent: o.ReplayExisting}
	steps := []func(*subscription, *words) error{o.readTypes, o.readAddresses, o.readTraces, o.readFinality, o.readBody, o.readOpcodes, o.readPosition}
	for _, step := range steps {
		if err := step(s, w); err != nil {
			return nil, err
		}
	}
	switch n := len(s.addresses) + len(s.tokens); {
	case n > l.addresses:
		return nil, fmt.Errorf(w.tooMany, n, l.addresses)
	case len(s.traces) > l.addresses:
		return nil, fmt.Errorf("too many trace_external_hash_norms: %d > max %d", len(s.traces), l.addresses)
	}
	named := len(s.addresses) + len(s.tokens)
	onlyTrace := s.types == [kinds]bool{traceKind: true}
	switch {
	case named == 0 && len(s.traces) == 0 && l.everything:
		s.everything = true
	case s.types[traceKind] && len(s.traces) == 0:
		return nil, errors.New(w.noTraces)
	case named == 0 && !onlyTrace:
		return nil, errors.New(w.noAddresses)
	case s.bodyHash != nil && (len(s.addresses) == 0 || !s.types[transactionsKind]):
		return nil, errors.New(`msg_body_hash requires addresses and type "transactions"`)
	}
	o.readActions(s)
	return s, nil
}

func (o *order) readTypes(s *subscription, w *words) error {
	if len(o.Types) == 0 {
		return errors.New(w.noTypes)
	}
	for _, name := range o.Types {
		k := slices.Index(kindNames[:], name)
		switch {
		case k >= 0:
			s.types[k] = true
		case name != invalidatedName:
			return fmt.Errorf("invalid event type: %s", shortened(name))
		}
	}
	switch {
	case s.types == [kinds]bool{}:
		return errors.New(w.noTypes)
	case s.types[gapKind] && !s.types[jettonsKind]:
		return errors.New(`gap requires type "jettons_change"`)
	}
	return nil
}

func (o *order) readAddresses(s *subscription, _ *words) error {
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
			return nil, fmt.Errorf("invalid address: %s", shortened(text))
		}
		set[a] = struct{}{}
	}
	return set, nil
}

func (o *order) readTraces(s *subscription, _ *words) error {
	if len(o.Traces) > 0 && !s.types[traceKind] {
		return errors.New(`trace_external_hash_norms requires type "trace"`)
	}
	s.traces = make(map[Hash]struct{}, len(o.Traces))
	for _, text := range o.Traces {
		h, err := parseHash(text)
		if err != nil {
			return fmt.Errorf("invalid trace_external_hash_norm: %s", shortened(text))
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

func (o *order) readFinality(s *subscription, _ *words) error {
	if o.MinFinality == nil {
		return nil
	}
	i := slices.Index(finalityNames, *o.MinFinality)
	if i < 0 {
		return fmt.Errorf("invalid min_finality: %s", shortened(*o.MinFinality))
	}
	s.min = finality(i)
	return nil
}

func (o *order) readBody(s *subscription, _ *words) error {
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

func (o *order) readOpcodes(s *subscription, _ *words) error {
	if len(o.Opcodes) > maxOpcodes {
		return fmt.Errorf("too many opcodes: %d > max %d", len(o.Opcodes), maxOpcodes)
	}
	for _, text := range o.Opcodes {
		n, err := strconv.ParseUint(text, 0, 32)
		if err != nil {
			return fmt.Errorf("invalid opcode: %s", shortened(text))
		}
		if s.opcodes == nil {
			s.opcodes = map[uint32]bool{}
		}
		s.opcodes[uint32(n)] = true
	}
	return nil
}

func (o *order) readPosition(s *subscription, _ *words) error {
	if o.From == nil || *o.From == "" {
		return nil
	}
	p, err := ParsePosition(*o.From)
	s.from = &p
	return err
}

// readActions reads which actions are wanted, by their types and by what the client
// understands.
func (o *order) readActions(s *subscription) {
	for _, name := range o.ActionTypes {
		if s.actionTypes == nil {
			s.actionTypes = map[string]bool{}
		}
		s.actionTypes[name] = true
	}
	labels := o.Supported
	if len(labels) == 0 && o.fallbackActions != "" {
		for label := range strings.SplitSeq(o.fallbackActions, ",") {
			labels = append(labels, strings.TrimSpace(label))
		}
	}
	if len(labels) == 0 {
		labels = []string{"latest"}
	}
	s.supported = supportedBy(labels)
}

// supportedBy expands labels; sets that clients have in common are made once.
func supportedBy(labels []string) *supported {
	if len(labels) == 1 && labels[0] == "latest" {
		return latest
	}
	return &supported{types: action.Expand(labels), name: strings.Join(labels, ",")}
}

var latest = &supported{types: action.Expand([]string{"latest"}), name: "latest"}

// without is the subscription less some addresses and traces.
func (s *subscription) without(addresses map[address.Address]struct{}, traces map[Hash]struct{}) *subscription {
	left := *s
	left.from, left.recent, left.resumes = nil, false, true
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

// keys are what the subscription is found by.
func (s *subscription) keys(visit func(key)) {
	if s.everything {
		visit(key{of: ofEverything})
		return
	}
	for a := range s.addresses {
		visit(key{ofAccount, a})
	}
	for a := range s.tokens {
		visit(key{ofToken, a})
	}
	for h := range s.traces {
		visit(traceKey(h))
	}
}

// key is what subscriptions are found by: an account, a token or a trace.
type key struct {
	of keyKind
	id address.Address
}

type keyKind uint8

const (
	ofEverything keyKind = iota
	ofAccount
	ofToken
	ofTrace
)

func traceKey(h Hash) (k key) {
	k.of = ofTrace
	copy(k.id[:], h[:])
	return k
}

func accountKey(account []byte) (k key, ok bool) {
	if len(account) != schema.AddressSize {
		return key{}, false
	}
	return key{ofAccount, address.Address(account)}, true
}

// wants reports whether the subscription names an account.
func (s *subscription) wants(account []byte) bool {
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
func (s *subscription) wantsToken(account []byte) bool {
	if len(account) != address.Size {
		return false
	}
	_, named := s.tokens[address.Address(account)]
	return named
}

// decodeOrder reads an order.
func decodeOrder(raw []byte) (*order, error) {
	o := new(order)
	return o, json.Unmarshal(raw, o)
}
