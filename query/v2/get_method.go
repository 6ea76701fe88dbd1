package v2

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// exitNoCode is the exit code of get-methods of accounts without code.
const exitNoCode = -13

type runResult struct {
	_        typed         `type:"smc.runResult"`
	GasUsed  int64         `json:"gas_used"`
	Stack    []legacyPair  `json:"stack"`
	ExitCode int           `json:"exit_code"`
	Block    blockID       `json:"block_id"`
	Last     transactionID `json:"last_transaction_id"`
}

type runResultStd struct {
	_        typed        `type:"smc.runResult"`
	GasUsed  int64        `json:"gas_used"`
	Stack    []stackEntry `json:"stack"`
	ExitCode int          `json:"exit_code"`
}

func runParams(stack Kind, description string) []Param {
	return []Param{
		addressParam("contract, in any form"),
		{Name: "method", Kind: MethodKind, Required: true, Description: "name of the get-method, or its number"},
		{Name: "stack", Kind: stack, Required: true, Bad: "Stack should be array", Description: description},
		seqnoParam,
	}
}

var runErrors = []Error{
	{Status: statusDepth, Text: "Result stack depth >= <limit>"},
	*tooLarge(mostContractBytes),
	*errUnsupported,
	{Status: statusNoServer, Text: "Unsupported stack entry type: <label>"},
}

var runGetMethod = &Method{
	Name: "runGetMethod", Tag: tagRunMethod, Summary: "Run a get-method", PostOnly: true,
	Description: "Runs a get-method here, on the proven state of the account. Every exit code is a success of the request.",
	Params:      runParams(StackKind, "arguments as [label, value], the first at the bottom"),
	Cache:       time.Second, Parallel: 32, MostBytes: mostContractBytes,
	Errors: runErrors,
	Result: openapi.TypeOf[runResult](),
	serve: func(c *call) (any, error) {
		arguments, err := legacyArguments(c.of("stack").json)
		if err != nil {
			return nil, err
		}
		s, result, err := c.runMethod(arguments, deepestLegacy)
		if err != nil {
			return nil, err
		}
		stack, err := legacyStack(result.Stack)
		return runResult{
			GasUsed: result.GasUsed, Stack: stack, ExitCode: result.ExitCode, Block: newBlockID(s.master), Last: s.last,
		}, err
	},
}

var runGetMethodStd = &Method{
	Name: "runGetMethodStd", Tag: tagRunMethod, Summary: "Run a get-method, standardized", PostOnly: true,
	Description: "Like runGetMethod, with typed entries on the stack.",
	Params:      runParams(StackStdKind, "arguments as typed entries, the first at the bottom"),
	Cache:       time.Second, Parallel: 32, MostBytes: mostContractBytes,
	Errors: runErrors[:3],
	Result: openapi.TypeOf[runResultStd](),
	serve: func(c *call) (any, error) {
		arguments, err := typedArguments(c.of("stack").json)
		if err != nil {
			return nil, err
		}
		_, result, err := c.runMethod(arguments, deepestTyped)
		if err != nil {
			return nil, err
		}
		stack, err := typedStack(result.Stack)
		return runResultStd{GasUsed: result.GasUsed, Stack: stack, ExitCode: result.ExitCode}, err
	},
}

// runMethod runs the get-method of a request, whose answer is nested no deeper
// than deepest.
func (c *call) runMethod(arguments []any, deepest int) (*accountState, tvm.Result, error) {
	id, err := methodID(c.of("method").json)
	if err != nil {
		return nil, tvm.Result{}, err
	}
	s, err := c.accountOf()
	if err != nil {
		return nil, tvm.Result{}, err
	}
	result, err := c.run(s, id, arguments)
	if errors.Is(err, tvm.ErrStackTooDeep) {
		err = tooDeep(deepest)
	}
	return s, result, err
}

// methodID reads a name, a number, or a number in a string.
func methodID(raw json.RawMessage) (int64, error) {
	text := plain(raw)
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && fitsInt32(n):
		return n, nil
	case raw[0] != '"' || text == "":
		return 0, unprocessable("failed to parse method")
	}
	return int64(code.MethodID(text)), nil
}

// mostLibraries is how many libraries code may ask for, as in the node.
const mostLibraries = 8

// run runs a get-method on a state. Libraries that the code asks for are fetched.
func (c *call) run(s *accountState, method int64, arguments []any) (tvm.Result, error) {
	if s.code() == nil {
		return tvm.Result{ExitCode: exitNoCode, Stack: append(append(tvm.Tuple{}, arguments...), big.NewInt(method))}, nil
	}
	config, err := c.tvmConfig(s)
	if err != nil {
		return tvm.Result{}, err
	}
	in := tvm.Input{
		Context: tvm.Context{Config: config, Now: s.utime},
		Address: s.address.tonutils(), Account: s.account.State,
		MethodID: method, Stack: arguments, GasLimit: c.configuration.GasLimit,
	}
	libraries := newLibraryDictionary()
	for {
		in.Libraries = libraries.roots()
		result, err := tvm.Run(c, in)
		if err != nil || result.MissingLibrary == nil || libraries.count >= mostLibraries {
			return result, err
		}
		library, err := c.library(*result.MissingLibrary)
		if err != nil {
			return tvm.Result{}, err
		}
		if library == nil {
			return result, nil
		}
		if err := libraries.add(*result.MissingLibrary, library); err != nil {
			return tvm.Result{}, err
		}
	}
}

func (c *call) tvmConfig(s *accountState) (*tvm.Config, error) {
	config, err := c.config(s.master)
	if err != nil {
		return nil, err
	}
	return config.Config, nil
}

// libraryDictionary is the libraries that some code needs.
type libraryDictionary struct {
	dictionary *cell.Dictionary
	count      int
}

func newLibraryDictionary() *libraryDictionary {
	return &libraryDictionary{dictionary: cell.NewDict(256)}
}

func (l *libraryDictionary) add(hash [32]byte, library *cell.Cell) error {
	l.count++
	return l.dictionary.Set(cell.BeginCell().MustStoreSlice(hash[:], 256).EndCell(), cell.BeginCell().MustStoreRef(library).EndCell())
}

func (l *libraryDictionary) roots() []*cell.Cell {
	if l.count == 0 {
		return nil
	}
	return []*cell.Cell{l.dictionary.AsCell()}
}
