package tvm

import (
	"slices"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/vm"
	"github.com/xssnick/tonutils-go/tvm/vmerr"
)

// tonutils-go copies a continuation wherever one is pushed, with all that its saved
// registers hold, down to the last. A few instructions make one that is 2^n copies
// of another, and a recursion one that is as long as it is deep. Nothing but the
// continuation itself is ever changed after that, so the copy of one is enough.

// held is a continuation that is copied alone: what it holds is held by its copies
// too. Inside is an OrdinaryContinuation or an ArgExtContinuation.
type held struct{ vm.Continuation }

// Copy implements vm.Continuation.
func (c held) Copy() vm.Continuation {
	switch of := c.Continuation.(type) {
	case *vm.OrdinaryContinuation:
		return held{&vm.OrdinaryContinuation{Data: alone(of.Data), Code: of.Code}}
	case *vm.ArgExtContinuation:
		return held{&vm.ArgExtContinuation{Data: alone(of.Data), Ext: of.Ext}}
	}
	return c.Continuation.Copy()
}

func alone(of vm.ControlData) vm.ControlData {
	if of.Stack != nil {
		of.Stack = of.Stack.Snapshot()
	}
	return of
}

// share makes a continuation shared, where it is of a kind that is copied with all
// that it holds.
func share(c vm.Continuation) vm.Continuation {
	switch c.(type) {
	case *vm.OrdinaryContinuation, *vm.ArgExtContinuation:
		return held{c}
	}
	return c
}

// maxCaptured is how many values of the stack a continuation holds that is copied.
// Instructions name up to 255 of them.
const maxCaptured = 255

// maxPassed is how many values an instruction with numbers of its own leaves on the
// stack of who is called, with the continuations themselves.
const maxPassed = 15 + 2

var errCaptured = vmerr.Error(vmerr.CodeStackOverflow, "a continuation holds too many values")

// holdsContinuations reports whether an instruction lays continuations into others, or
// copies a register.
func holdsContinuations(name string) bool {
	return slices.ContainsFunc([]string{
		"c0 ", "PUSHCTRX", "POPCTRX", "SETCONT", "SETNUMVARARGS", "RETURN", "BLESS", "CALLCC", "BOOL", "COMPOS",
		"ATEXIT", "SETEXITALT", "THENRET", "INVERT", "SAMEALT", "TRY",
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) || strings.HasSuffix(name, "BRK")
}

// copiesTheRest reports whether an instruction copies what it does not pass of the stack.
func copiesTheRest(name string) bool {
	return strings.HasPrefix(name, "TRYARGS") || strings.HasPrefix(name, "CALLCCARGS") || name == "CALLCCVARARGS"
}

// sharing is an instruction that finds and leaves continuations shared.
func sharing(act action) action {
	return func(state *vm.State) error {
		if err := shareRegisters(state); err != nil {
			return err
		}
		if err := act(state); err != nil {
			return err
		}
		if err := shareRegisters(state); err != nil {
			return err
		}
		return shareTop(state.Stack)
	}
}

// withShallowStack is an instruction that fails where the stack is deep.
func withShallowStack(act action) action {
	return func(state *vm.State) error {
		if state.Stack.Len() > maxCaptured+maxPassed {
			return errCaptured
		}
		return act(state)
	}
}

func shareRegisters(state *vm.State) error {
	for i, c := range state.Reg.C {
		if c == nil {
			continue
		}
		state.Reg.C[i] = share(c)
		if holdsTooMany(c) {
			return errCaptured
		}
	}
	return nil
}

func shareTop(stack *vm.Stack) error {
	if stack.Len() == 0 {
		return nil
	}
	top, err := stack.Get(0)
	if err != nil {
		return err
	}
	c, is := top.(vm.Continuation)
	if !is {
		return nil
	}
	if holdsTooMany(c) {
		return errCaptured
	}
	if _, err := stack.PopAny(); err != nil {
		return err
	}
	return stack.PushOwnedValue(share(c))
}

func holdsTooMany(c vm.Continuation) bool {
	data := c.GetControlData()
	return data != nil && data.Stack != nil && data.Stack.Len() > maxCaptured
}
