// Package explain tells what was detected on an account and why. In come an
// account's state, from a file or the tables, and the states of its parents; out
// goes a text: which code, which methods, what each get-method answered, what
// follows from it, and what the parents say. It must never change anything.
package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// ErrUnknown is what a Source has for an account that it does not know.
var ErrUnknown = errors.New("not known")

// Subject is an account with what belongs to its state.
type Subject struct {
	Address []byte // as in records
	Status  record.AccountStatus
	Balance uint64
	LastLT  uint64
	Now     uint32
	Code    *cell.Cell // nil without
	Data    *cell.Cell
	// Missing says what could not be had.
	Missing string
}

// Source gives the states of parents.
type Source func(ctx context.Context, address []byte) (*Subject, error)

// Nobody is a source that knows no parents.
func Nobody(context.Context, []byte) (*Subject, error) { return nil, ErrUnknown }

// Only knows one parent.
func Only(s *Subject) Source {
	return func(_ context.Context, address []byte) (*Subject, error) {
		if !bytes.Equal(s.Address, address) {
			return nil, ErrUnknown
		}
		return s, nil
	}
}

// Explainer prints what it finds.
type Explainer struct {
	Out     io.Writer
	Config  *tvm.Config
	Parents Source
	runs    []contract.Run
}

// Account explains one account.
func (e *Explainer) Account(ctx context.Context, s *Subject) error {
	e.print("account %s", raw(s.Address))
	e.print("  status %s, balance %d, last transaction lt %d", statusName(s.Status), s.Balance, s.LastLT)
	if s.Missing != "" {
		e.print("  %s is missing: nothing can be found out", s.Missing)
		return nil
	}
	if s.Code == nil {
		e.print("  no code: it is nothing")
		return nil
	}
	code, err := contract.NewCode(s.Code, nil)
	e.code(code, err)
	detector := contract.New(contract.DefaultLimits())
	detector.Observe = func(r contract.Run) { e.runs = append(e.runs, r) }
	account := contract.Account{Address: s.Address, Code: code, Data: s.Data, Balance: balance(s)}
	found, err := detector.Detect(ctx, account, e.moment(s))
	if err != nil {
		return err
	}
	e.print("get-methods that were run:")
	if len(e.runs) == 0 {
		e.print("  none: the code has no methods of interest")
	}
	e.printRuns()
	e.missing(found.Missing)
	e.print("what it says of itself:")
	e.message("  ", found.Facts)
	for _, claim := range contract.ClaimsOf(found.Facts) {
		if err := e.claim(ctx, detector, s, found, claim); err != nil {
			return err
		}
	}
	return nil
}

func (e *Explainer) moment(s *Subject) contract.Moment {
	now := s.Now
	if now == 0 {
		now = uint32(time.Now().Unix())
	}
	return contract.Moment{Config: e.Config, Now: now}
}

// missing tells of a library that is not at hand.
func (e *Explainer) missing(library *[32]byte) {
	if library != nil {
		e.print("  a run ended for want of the library %x, which is not at hand", *library)
	}
}

// code tells of a code, of which problem says why its methods are not known.
func (e *Explainer) code(c *contract.Code, problem error) {
	e.print("code %x", c.Hash)
	if problem != nil {
		e.print("  its methods are not known: %v", problem)
	}
	if name, ok := code.InterfaceOf(c.Hash); ok {
		e.print("  a public build: %s", name)
	} else {
		e.print("  not a public build")
	}
	if len(c.Methods) == 0 {
		e.print("  no method dictionary where compilers put it")
	}
	for _, id := range c.Methods {
		if name, ok := code.MethodName(id); ok {
			e.print("  method %d %s", id, name)
		} else if id > 4 { // the first are those that receive messages
			e.print("  method %d", id)
		}
	}
	e.print("interfaces: %s", list(c.Names))
}

// claim asks the parent.
func (e *Explainer) claim(ctx context.Context, d *contract.Detector, s *Subject, found contract.Findings, claim contract.Claim) error {
	e.print("it claims to be a %s of %s:", claim.Kind, raw(claim.Parent))
	parent, err := e.Parents(ctx, claim.Parent)
	if errors.Is(err, ErrUnknown) || err == nil && (parent.Code == nil || parent.Missing != "") {
		e.print("  the parent is not known: the claim waits for it")
		return nil
	}
	if err != nil {
		return fmt.Errorf("parent %s: %w", raw(claim.Parent), err)
	}
	e.runs = e.runs[:0]
	code, _ := contract.NewCode(parent.Code, nil) // without its methods it does not answer
	answer := d.Confirm(contract.Parent{Context: ctx, Moment: e.moment(s),
		Account: contract.Account{Address: parent.Address, Code: code, Data: parent.Data, Balance: balance(parent)}},
		claim.Kind, s.Address, found.Facts, found.Content)
	e.printRuns()
	e.missing(answer.Missing)
	e.print("  %s", answer.Verdict)
	if answer.Content != nil {
		e.print("  content:")
		e.message("    ", answer.Content)
	}
	return nil
}
