package v2

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/stack"
	"tonscribe/ton/code"
)

// The depths of a result (contract 2.32).
const (
	maxLegacyDepth = 100
	MaxTypedDepth  = 256
)

func runParams(kind Kind, description string) []Param {
	return []Param{
		addressParam("contract, in any form"),
		{Name: "method", Kind: MethodKind, Required: true, Description: "name of the get-method, or its number"},
		{Name: "stack", Kind: kind, Required: true, Bad: "Stack should be array", Description: description},
		seqnoParam,
	}
}

var runErrors = []Error{
	{Status: statusDepth, Text: "Result stack depth >= <limit>"},
	*Known(node.TooLarge(maxContractBytes)),
	*stack.ErrUnsupported,
	*stack.ErrLabel("<label>"),
}

func runMembers[R any](of func(R) *node.Ran, left api.Member[R]) []api.Member[R] {
	return []api.Member[R]{
		api.Int64("gas_used", func(row R) int64 { return of(row).GasUsed }),
		left,
		api.Int64("exit_code", func(row R) int64 { return int64(of(row).ExitCode) }),
	}
}

// legacyRun is what a get-method left, and its cells spelt out.
type legacyRun struct {
	*node.Ran
	pairs []stack.Pair
}

var runResult = api.Typed("RunResult", "smc.runResult", append(
	runMembers(func(r legacyRun) *node.Ran { return r.Ran }, api.List("stack", stack.PairForm, func(r legacyRun) []stack.Pair { return r.pairs }, api.Same[stack.Pair])),
	api.PartOf("block_id", blockID, func(r legacyRun) *ton.BlockIDExt { return r.Account.Master }),
	api.PartOf("last_transaction_id", transactionID, func(r legacyRun) *node.TransactionID { return &r.Account.Last }),
)...)

var runGetMethod = &Method{
	Name: "runGetMethod", Tag: tagRunMethod, Summary: "Run a get-method", PostOnly: true,
	Description: "Runs a get-method here, on the proven state of the account. Every exit code is a success of the request.",
	Params:      runParams(StackKind, "arguments as [label, value], the first at the bottom"),
	Cache:       time.Second, Parallel: 32, MaxBytes: maxContractBytes,
	Errors: runErrors,
	Result: of(runResult, func(c *call) (legacyRun, error) {
		ran, err := c.run(stack.Pairs, maxLegacyDepth)
		if err != nil {
			return legacyRun{}, err
		}
		return legacyRun{ran, stack.PairsOf(ran.Stack)}, nil
	}),
}

var runGetMethodStd = &Method{
	Name: "runGetMethodStd", Tag: tagRunMethod, Summary: "Run a get-method, standardized", PostOnly: true,
	Description: "Like runGetMethod, with typed entries on the stack.",
	Params:      runParams(StackStdKind, "arguments as typed entries, the first at the bottom"),
	Cache:       time.Second, Parallel: 32, MaxBytes: maxContractBytes,
	Errors: runErrors[:3],
	Result: of(api.Typed("RunResultStd", "smc.runResult", runMembers(api.Same[*node.Ran],
		api.List("stack", stack.Entries, func(r *node.Ran) []node.Entry { return r.Stack }, api.Same[node.Entry]))...),
		func(c *call) (*node.Ran, error) { return c.run(stack.Typed, MaxTypedDepth) }),
}

// run runs the get-method of a request.
func (c *call) run(read func(json.RawMessage) ([]any, error), maxDepth int) (*node.Ran, error) {
	method, err := methodID(c.of("method").json)
	if err != nil {
		return nil, err
	}
	arguments, err := read(c.of("stack").json)
	if err != nil {
		return nil, err
	}
	return c.RunGetMethod(c, node.Run{
		Account: c.address("address").Address, Seqno: c.optionalSeqno("seqno"), Method: method, Stack: arguments, MaxDepth: maxDepth,
	})
}

// methodID reads a name, a number, or a number in a string.
func methodID(raw json.RawMessage) (int64, error) {
	text := plain(raw)
	if raw[0] != '"' || text == "" {
		if _, err := strconv.ParseInt(text, 10, 32); err != nil {
			return 0, unprocessable("failed to parse method")
		}
	}
	return MethodID(text), nil
}

// MethodID is the number of a get-method by its name, or by its number as text.
func MethodID(text string) int64 {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return n
	}
	return int64(code.MethodID(text))
}
