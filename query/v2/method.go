package v2

import (
	"net/http"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
)

// Method declares a method. Everything that is known of it is here: GET, POST
// and JSON-RPC read it, validation and the description too.
type Method struct {
	Name        string
	Aliases     []string // further names that clients call it by
	Tag         string
	Summary     string
	Description string
	// PostOnly methods refuse GET.
	PostOnly bool
	Params   []Param
	// Cache is how long an answer may be repeated; 0 is never.
	Cache time.Duration
	// ofHead says that an answer is about the newest block, so that it may be
	// repeated for a second only. May be nil.
	ofHead func(*Values) bool
	// Local methods ask no lite server.
	Local bool
	// Parallel is how many of its requests may ask lite servers at a time; 0 is
	// node.DefaultParallel.
	Parallel int
	// MaxBytes is how long a result may be; 0 is maxResultBytes.
	MaxBytes int
	// Result is the operation that the method stands for, and the form of what it
	// gives.
	Result result
	// Errors are those besides the parameters' own and those that every method has.
	Errors []Error
	// unanswered is the answer when no lite server gives one, in place of
	// EveryNodeMethod's. May be nil.
	unanswered *Error
	// first holds the rules between parameters that come before the bounds of each,
	// check those that come behind them. May be nil.
	first, check func(*Values) error
}

// result is what a method answers, and how it is written and described.
type result struct {
	openapi.Described
	write func(*call, *api.Writer) error
}

// of is the result of an operation in a form.
func of[R any](form api.Form[R], ask func(*call) (R, error)) result {
	return result{form, func(c *call, w *api.Writer) error {
		row, err := ask(c)
		if err == nil {
			form.Write(w, row)
		}
		return err
	}}
}

// The tags.
const (
	tagAccounts      = "Accounts"
	tagBlocks        = "Blocks"
	tagTransactions  = "Transactions"
	tagSend          = "Send"
	tagRunMethod     = "Run method"
	tagUtils         = "Utils"
	tagConfiguration = "Configuration"
)

// methods are all of them. A new one is a line here.
var methods = []*Method{
	detectAddress,
	detectHash,
	dnsResolve,
	estimateFee,
	estimateFeeSimple,
	getAddressBalance,
	getAddressInformation,
	getAddressState,
	getBlockHeader,
	getBlockTransactions,
	getBlockTransactionsExt,
	getConfigAll,
	getConfigParam,
	getConsensusBlock,
	getExtendedAddressInformation,
	getLibraries,
	getMasterchainBlockSignatures,
	getMasterchainInfo,
	getOutMsgQueueSize,
	getShardAccountCell,
	getShardBlockProof,
	getShards,
	getTokenData,
	getTransactions,
	getTransactionsStd,
	getWalletInformation,
	lookupBlock,
	packAddress,
	runGetMethod,
	runGetMethodStd,
	sendBoc,
	sendBocReturnHash,
	sendBocReturnHashNoError,
	sendBocUnsafe,
	sendCellSimple,
	sendQuery,
	sendQuerySimple,
	tryLocateResultTx,
	tryLocateSourceTx,
	tryLocateTx,
	unpackAddress,
}

// byName finds methods by name and alias.
var byName = func() map[string]*Method {
	names := map[string]*Method{}
	for _, m := range methods {
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			names[name] = m
		}
	}
	return names
}()

// EveryMethod are the errors that every method has.
var EveryMethod = []Error{
	{Status: http.StatusUnauthorized, Text: "API key does not exist"},
	{Status: http.StatusForbidden, Text: "Network not allowed"},
	{Status: http.StatusTooManyRequests, Text: "Ratelimit exceeded"},
}

// EveryNodeMethod are the errors that methods have that ask lite servers.
var EveryNodeMethod = []Error{
	{Status: http.StatusInternalServerError, Text: "LITE_SERVER_<NAME>: <text>"},
	{Status: http.StatusGatewayTimeout, Text: node.TimeoutText},
	{Status: statusNoServer, Text: "no workers available (<options>)"},
}

// keep is how long the answer to a request may be repeated.
func (m *Method) keep(v *Values) time.Duration {
	if m.ofHead != nil && m.ofHead(v) {
		return time.Second
	}
	return m.Cache
}

// The longest results. What a contract returns is a stranger's: it may hold the
// same large cell again and again.
const (
	maxResultBytes   = 64 << 20
	maxContractBytes = 4 << 20
)
