package action_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/test/support/costtest"
)

// userOpcodes are what stands behind the header of messages to contracts of users of
// EVAA.
var userOpcodes = []uint64{0x11, 0x21, 0x31, 0x211a, 0x211f, 0x311a, 0x311f}

// shaped makes steps of a shape, whose bodies have random fields.
type shaped struct {
	*rand.Rand
	opcodes []uint32
}

func (s *shaped) step(shape *action.Shape) step {
	made := step{to: account(byte(s.IntN(6))), value: s.Uint64N(1000), aborted: s.IntN(10) == 0, bounce: s.IntN(2) == 0, deployed: shape.Deployed}
	for _, then := range shape.Then {
		made.then = append(made.then, s.step(then))
	}
	fields := func(opcode uint64) *cell.Builder { return randomFields(s.Rand, word(opcode), s.opcodes, 3) }
	switch {
	case shape.Log:
		made.to, made.then, made.body = nil, nil, fields(uint64(shape.Opcode))
	case shape.Plain:
		made.body = comment(words[s.IntN(len(words))])
	case shape.Any:
		made.body = randomFields(s.Rand, toUser(userOpcodes[s.IntN(len(userOpcodes))], 6, s.IntN(2) == 0), s.opcodes, 3)
	case shape.Type == "" && shape.Payload == 0:
		made.body = fields(uint64(shape.Opcode))
	case shape.Type == "jetton_mint":
		mint := coins(word(0x642b7d07).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), 5)
		made.body, made.then = mint, append([]step{{to: account(1), value: 5, body: internalOrder(9, alice)}}, made.then...)
	case shape.Type == "jetton_burn":
		made.body = coins(word(0x595f07bc).MustStoreUInt(4, 64), 9).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false)
		made.then = []step{{to: account(2), value: 5, body: word(0x7bdd97de), then: made.then}}
	default: // jettons, of whatever else is asked for
		payload := fields(uint64(s.opcodes[s.IntN(len(s.opcodes))]))
		if shape.Payload != 0 {
			payload = fields(uint64(shape.Payload))
		}
		made = jettonsTo(alice, account(3), account(1), account(2), 9, payload, made.then...)
	}
	return made
}

func FuzzRecognisersOfWhatTheyLookFor(f *testing.F) {
	for i := range uint64(64) {
		f.Add(binary.BigEndian.AppendUint64(nil, i))
	}
	opcodes := action.Opcodes()
	f.Fuzz(func(t *testing.T, seed []byte) {
		var key [32]byte
		copy(key[:], seed)
		r := rand.New(rand.NewChaCha8(key))
		s := &shaped{r, opcodes}
		steps := make([]step, 1+r.IntN(12))
		for i := range steps {
			steps[i] = s.step(action.RandomShape(r))
		}
		tree, err := trace.NewTree(play(account(0), steps...))
		if err != nil {
			t.Fatal(err)
		}
		for _, facts := range []action.Facts{everything{}, some{}, action.NoFacts{}} {
			costtest.Within(t, maxTime, costtest.MaxBytes, func() { checkActions(t, tree, facts) })
		}
	})
}
