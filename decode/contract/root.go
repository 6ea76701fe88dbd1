// Package contract finds out what a contract is. In come an account's code,
// data and balance and the moment of its block; out go the facts that its
// get-methods tell (schema/record Contract), and the claims among them that
// only another contract can confirm: a jetton wallet is one when its master
// gives its address for the owner. Which detectors apply is read from the method
// ids in the code, so that a contract without get-methods costs nothing; a
// hostile contract costs its limit of gas and no more. It must never read a
// clock or anything outside its arguments: the same input gives the same facts.
package contract

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema"
	"tonscribe/schema/record"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// Limits bound what a contract may cost.
type Limits struct {
	// RunGas bounds one run of a get-method.
	RunGas int64
	// AccountGas bounds all runs for one account, or one confirmation.
	AccountGas int64
	// RunTime bounds one run where gas does not. It is far beyond what the gas
	// takes on any machine: a run that reaches it makes results depend on time.
	RunTime time.Duration
}

// DefaultLimits allow a run what lite servers allow.
func DefaultLimits() Limits {
	return Limits{RunGas: tvm.DefaultGasLimit, AccountGas: 3 * tvm.DefaultGasLimit, RunTime: 10 * time.Second}
}

// Code is a contract's code and what is read from it once.
type Code struct {
	Hash [32]byte
	Cell *cell.Cell // a library cell stays one
	// Methods are the ids of its get-methods, ascending, as far as they are known.
	Methods []uint32
	// Names of interfaces.
	Names []string

	detectors []*detector
}

// Libraries gives what library cells stand for, nil for a hash that is not known.
// A nil one knows nothing.
type Libraries func(hash [32]byte) *cell.Cell

// open gives the cell itself, or what it stands for. The error is a
// *MissingLibrary when that is not known.
func (l Libraries) open(c *cell.Cell) (*cell.Cell, error) {
	hash, is := toncell.LibraryOf(c)
	if !is {
		return c, nil
	}
	if l != nil {
		if library := l(hash); library != nil {
			return library, nil
		}
	}
	return nil, &MissingLibrary{hash}
}

// MissingLibrary is the error of what lies in a library that is not known.
type MissingLibrary struct{ Hash [32]byte }

func (m *MissingLibrary) Error() string { return fmt.Sprintf("library %x is not known", m.Hash) }

// NewCode reads the methods of a code, which may be a library cell or hold some.
// With a *MissingLibrary they are not known, and the code is as one that has none.
func NewCode(root *cell.Cell, libraries Libraries) (*Code, error) {
	c := &Code{Hash: root.HashKey(), Cell: root}
	var err error
	c.Methods, err = methods(root, libraries)
	c.Names = code.Interfaces(c.Hash, c.Methods)
	for i := range detectors {
		if detectors[i].applies(c) {
			c.detectors = append(c.detectors, &detectors[i])
		}
	}
	return c, err
}

// Empty reports whether no detector applies: an account with this code has no facts.
func (c *Code) Empty() bool { return len(c.detectors) == 0 }

// Has reports whether the code has a get-method.
func (c *Code) Has(method string) bool { return code.HasMethods(c.Methods, method) }

// Account is the state of an active account.
type Account struct {
	Address []byte // as in records
	Code    *Code
	Data    *cell.Cell
	Balance *big.Int
}

// Moment is when an account is looked at: the masterchain's config and
// libraries, and the time of the account's last transaction.
type Moment struct {
	Config    *tvm.Config
	Libraries []*cell.Cell
	Now       uint32
	// ConfigRead is as in tvm.Context.
	ConfigRead func()
}

// Run is one call of a get-method, for those who want to know why.
type Run struct {
	Account  []byte
	Method   string
	ExitCode int
	Gas      int64
	Stack    tvm.Tuple
	Err      error // the run broke off, or was not made
}

// Findings are what one look at an account gave.
type Findings struct {
	// Facts has everything that the account says of itself, claims too.
	Facts *record.Contract
	// Content is the item's own content, which its collection completes.
	Content *cell.Cell
	// Exhausted counts runs that ended for want of gas or time.
	Exhausted int
	// Broken counts detectors that a cell broke off.
	Broken int
	// Cut counts contents of tokens that are larger than what is read of one.
	Cut int
	// Missing is the library for want of which a run ended, the first one when
	// there are several, nil when there is none: with it there may be more facts.
	Missing *[32]byte
	// Gas is what the runs took.
	Gas int64
}

// Detector looks at accounts. It is safe for use by many goroutines.
type Detector struct {
	limits Limits
	// Observe gets every run, when it is set.
	Observe func(Run)
}

// New makes a detector.
func New(limits Limits) *Detector { return &Detector{limits: limits} }

// Detect finds out what an account is. It fails with ctx only.
func (d *Detector) Detect(ctx context.Context, account Account, moment Moment) (Findings, error) {
	p := d.newProbe(ctx, account, moment)
	for _, detector := range account.Code.detectors {
		p.guard(func() { detector.read(p) })
		if err := ctx.Err(); err != nil {
			return Findings{}, context.Cause(ctx)
		}
	}
	p.findings.Gas = d.limits.AccountGas - p.gas
	return p.findings, nil
}

func (d *Detector) newProbe(ctx context.Context, account Account, moment Moment) *probe {
	return &probe{detector: d, ctx: ctx, account: account, moment: moment, gas: d.limits.AccountGas,
		findings: Findings{Facts: &record.Contract{}}}
}

// probe is one look at one account.
type probe struct {
	detector *Detector
	ctx      context.Context //nolint:containedctx // lives as long as one call
	account  Account
	moment   Moment
	gas      int64
	findings Findings
}

// guard keeps a broken cell of a stranger from breaking more than one look: what
// was read before stays.
func (p *probe) guard(read func()) {
	defer func() {
		if broken := recover(); broken != nil {
			p.findings.Broken++
		}
	}()
	read()
}

func (p *probe) facts() *record.Contract { return p.findings.Facts }

// run runs a get-method that is to leave count values or more. When it fails,
// reading its results fails.
func (p *probe) run(method string, count int, arguments ...any) *results {
	values, ok := p.call(method, arguments...)
	return &results{values: values, ok: ok && len(values) >= count}
}

// ask is run, of a method that the code may not have.
func (p *probe) ask(method string, count int) *results {
	if !p.account.Code.Has(method) {
		return &results{}
	}
	return p.run(method, count)
}

// call runs a get-method; false when it failed.
func (p *probe) call(method string, arguments ...any) (tvm.Tuple, bool) {
	limit := min(p.detector.limits.RunGas, p.gas)
	if limit <= 0 {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.detector.limits.RunTime)
	defer cancel()
	result, err := tvm.Run(ctx, tvm.Input{
		Context: tvm.Context{Config: p.moment.Config, Now: p.moment.Now, Libraries: p.moment.Libraries, ConfigRead: p.moment.ConfigRead},
		Address: Address(p.account.Address), Code: p.account.Code.Cell, Data: p.account.Data, Balance: p.account.Balance,
		Method: method, Stack: arguments, GasLimit: limit,
	})
	p.gas -= result.GasUsed
	if err != nil || result.ExitCode == exitOutOfGas {
		p.findings.Exhausted++
	}
	if err != nil {
		p.gas -= limit // what broke off may have cost all of it
	}
	if p.findings.Missing == nil {
		p.findings.Missing = result.MissingLibrary
	}
	if p.detector.Observe != nil {
		p.detector.Observe(Run{Account: p.account.Address, Method: method, ExitCode: result.ExitCode,
			Gas: result.GasUsed, Stack: result.Stack, Err: err})
	}
	return result.Stack, err == nil && result.OK()
}

// exitOutOfGas is what a run without gas ends with: the complement of 13.
const exitOutOfGas = -14

// Address is the address of a record in the form of tonutils-go.
func Address(account []byte) *address.Address {
	return address.NewAddress(0, byte(schema.Workchain(account)), schema.AccountID(account))
}
