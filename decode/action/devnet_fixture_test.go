package action_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// devnet is a chain without traffic, on which one person acts after the other.
type devnet struct {
	*testing.T
	chain     *chain.Chain
	facts     *headFacts
	assembler *trace.Assembler
	decoder   decode.Decoder
	seqno     uint32
	now       uint32

	alice, bob, carol, admin *actor
	validator                *actor // of the masterchain
}

// actor holds the key of a wallet.
type actor struct {
	*tonutils.Address
	wallet contracts.Wallet
	key    ed25519.PrivateKey
}

const devnetDawn = 1_760_000_000

func newActor(n byte, version contracts.WalletVersion, workchain int32) *actor {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32))
	w := contracts.NewWallet(version, key.Public().(ed25519.PublicKey), -3)
	return &actor{Address: w.Address(workchain), wallet: w, key: key}
}

// newDevnet has a few people with wallets, and the accounts that a test wants.
func newDevnet(t *testing.T, accounts ...chain.Account) *devnet {
	t.Helper()
	s := &devnet{T: t, now: devnetDawn, assembler: trace.NewAssembler(&trace.Memory{}),
		alice: newActor(1, contracts.WalletV4R2, 0), bob: newActor(2, contracts.WalletV4R2, 0), carol: newActor(3, contracts.WalletV3R2, 0),
		admin: newActor(4, contracts.WalletV4R2, 0), validator: newActor(5, contracts.WalletV4R2, -1)}
	for _, a := range []*actor{s.alice, s.bob, s.carol, s.admin, s.validator} {
		accounts = append(accounts, placed(a.wallet.StateInit(), a.Workchain(), 100_000))
	}
	var err error
	if s.chain, err = chain.New(chain.Options{Seed: 1, GenUtime: devnetDawn, Accounts: accounts}); err != nil {
		t.Fatal(err)
	}
	s.facts = newHeadFacts(t, s.chain)
	s.step(nil) // after which there is a basechain
	return s
}

// placed is a contract of the zerostate.
func placed(init *tlb.StateInit, workchain int32, tons float64) chain.Account {
	return chain.Account{Workchain: workchain, ID: [32]byte(contracts.AddressOf(workchain, init).Data()), Code: init.Code, Data: init.Data, Balance: ton(tons)}
}

// ton is so many nanotons.
func ton(tons float64) *big.Int { return big.NewInt(int64(tons * 1e9)) }

// step makes the blocks of the next seconds and returns the traces that are complete.
func (s *devnet) step(externals []*cell.Cell) []trace.Assembled {
	s.Helper()
	s.seqno, s.now = s.seqno+1, s.now+3
	bundle, err := s.chain.Step(s.now, externals)
	if err != nil {
		s.Fatal(err)
	}
	for _, refused := range bundle.Refused {
		s.Fatalf("a message from outside was refused: %s", refused.Reason)
	}
	var list []*record.Transaction
	for _, block := range append(slices.Clone(bundle.Shards), bundle.Master) {
		r, err := s.decoder.Block(block.Data, s.seqno)
		if err != nil {
			s.Fatal(err)
		}
		for _, tx := range r.Transactions {
			list = append(list, tx.CloneVT())
		}
	}
	s.facts.advance(s.now)
	traces, err := s.assembler.Bundle(s.seqno, list)
	if err != nil {
		s.Fatal(err)
	}
	return traces
}

// order signs what somebody's wallet sends.
func (s *devnet) order(from *actor, messages ...contracts.Message) *cell.Cell {
	s.Helper()
	seqno := uint32(s.facts.state(accountOf(from.Address)).Data.MustBeginParse().MustLoadUInt(32)) // of wallets 3 and 4
	external, err := from.wallet.External(from.Workchain(), from.key, contracts.Order{Messages: messages, Seqno: seqno, ValidUntil: s.now + 600})
	if err != nil {
		s.Fatal(err)
	}
	return external
}

// act lets somebody send messages, goes on until nothing is under way, and returns
// the actions of the trace.
func (s *devnet) act(from *actor, messages ...contracts.Message) []*action.Action {
	s.Helper()
	return s.follow(accountOf(from.Address), s.order(from, messages...))
}

// follow goes on with a message to a wallet until its trace is complete.
func (s *devnet) follow(wallet []byte, external *cell.Cell) []*action.Action {
	s.Helper()
	externals := []*cell.Cell{external}
	for range 60 {
		for _, whole := range s.step(externals) {
			if whole.All == nil {
				continue
			}
			tree, err := trace.NewTree(whole.All)
			if err != nil {
				s.Fatal(err)
			}
			root := tree.Root.Tx
			if root.InMsg.GetKind() != record.Message_EXTERNAL_IN || !bytes.Equal(root.Account, wallet) {
				continue
			}
			checkActions(s.T, tree, s.facts)
			list, err := action.Classify(tree, s.facts)
			if err != nil {
				s.Error(err)
			}
			return list
		}
		externals = nil
	}
	s.Fatal("a trace without an end")
	return nil
}

// wanted is an action as it is expected: its summary, and its details by name, value.
type wanted struct {
	what    string
	details []any
}

func is(what string, details ...any) wanted { return wanted{what, details} }

// anything is a detail that depends on what gas costs.
type anything struct{}

// plays lets somebody send messages and complains unless the trace has the actions, in
// their order, with these details and no others.
func (s *devnet) plays(name string, from *actor, messages []contracts.Message, want ...wanted) {
	s.Helper()
	s.shows(name, s.act(from, messages...), want...)
}

// shows complains unless the actions that are no part of another one are those.
func (s *devnet) shows(name string, list []*action.Action, want ...wanted) {
	s.Helper()
	list = slices.DeleteFunc(list, func(a *action.Action) bool { return a.Parent() != nil })
	names := make([]string, len(want))
	for i, w := range want {
		names[i] = w.what
	}
	if got := summaries(list); !slices.Equal(got, names) {
		s.Errorf("%s: actions %q\nwant %q", name, got, names)
		for _, a := range list {
			s.Logf("%s %v", summary(a), said(a))
		}
		return
	}
	for i, w := range want {
		for _, wrong := range w.differs(said(list[i])) {
			s.Errorf("%s: %s: %s", name, w.what, wrong)
		}
	}
}

// differs names the details that are not as they should be.
func (w wanted) differs(got map[string]string) (wrong []string) {
	for i := 0; i < len(w.details); i += 2 {
		name := w.details[i].(string)
		have, there := got[name]
		delete(got, name)
		if _, free := w.details[i+1].(anything); free && there {
			continue
		}
		if value := textOf(w.details[i+1]); have != value {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", name, have, value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		wrong = append(wrong, fmt.Sprintf("%s is %q, which nobody expects", name, got[name]))
	}
	return wrong
}

// said are the details of an action that have a value, by their path.
func said(a *action.Action) map[string]string {
	all := map[string]string{}
	flatten(all, "", object(a.Type.Details, a.Details))
	return all
}

func flatten(into map[string]string, path string, value any) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for name, inner := range v {
			flatten(into, strings.TrimPrefix(path+"."+name, "."), inner)
		}
	case []any:
		for i, inner := range v {
			flatten(into, fmt.Sprintf("%s[%d]", path, i), inner)
		}
	default:
		if text := fmt.Sprint(v); text != "" && text != "false" && text != "<nil>" {
			into[path] = text
		}
	}
}

func textOf(value any) string {
	switch v := value.(type) {
	case *actor:
		return textOf(v.Address)
	case *tonutils.Address:
		if v == nil {
			return ""
		}
		return string(address.AppendRaw(nil, accountOf(v)))
	case *cell.Cell:
		return base64.StdEncoding.EncodeToString(boc(v))
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}

// accountOf is an address as records have it.
func accountOf(a *tonutils.Address) []byte {
	made := address.New(a.Workchain(), a.Data())
	return made[:]
}

// pays is a message with a value that comes back when it fails.
func pays(to *tonutils.Address, value *big.Int, body *cell.Cell) contracts.Message {
	return contracts.Message{To: to, Value: value, Bounce: true, Body: body, Mode: contracts.ModePayFees}
}

// one is a message of so many tons, by itself.
func one(to *tonutils.Address, tons float64, body *cell.Cell) []contracts.Message {
	return []contracts.Message{pays(to, ton(tons), body)}
}

// bounced is what comes back of a message that was not accepted, which is a call by
// itself where no action has it.
func bounced(from, to any) wanted {
	return is("call_contract", "opcode", 0xffffffff, "source", from, "destination", to, "value", anything{})
}

// refusedCall is a call that fails, and what comes back of it.
func refusedCall(opcode uint32, from *actor, to *tonutils.Address, tons float64) []wanted {
	return []wanted{is("call_contract!", "opcode", opcode, "source", from, "destination", to, "value", ton(tons)), bounced(to, from)}
}
