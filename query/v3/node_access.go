package v3

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"strings"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v2 "tonscribe/query/v2"
)

// The endpoints that stand for methods of the v2 layer.
const nodeAccess = "Legacy (v2)"

// readBody takes the JSON object of a POST apart.
func readBody(r *http.Request) (map[string]json.RawMessage, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, params.Unprocessable("Unprocessable Entity")
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, v2.MostBodyBytes))
	var tooLarge *http.MaxBytesError
	var object map[string]json.RawMessage
	switch {
	case errors.As(err, &tooLarge):
		return nil, &params.Error{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("request body is longer than %d bytes", v2.MostBodyBytes)}
	case err != nil:
		return nil, params.Unprocessable("the request body ends early")
	case json.Unmarshal(body, &object) != nil:
		return nil, params.Unprocessable("the request body is no JSON object")
	}
	return object, nil
}

var errNoNode = &params.Error{Status: http.StatusInternalServerError, Text: "ton-http-api endpoint is not specified"}

// ask calls a method of the v2 layer and reads its result. Refusals keep their
// status.
func (q *request) ask(method string, parameters map[string]json.RawMessage, result any) error {
	if !q.hasNode() {
		return errNoNode
	}
	text, err := q.node.Ask(q, method, parameters)
	var refusal *v2.Error
	if errors.As(err, &refusal) {
		return &params.Error{Status: refusal.Status, Text: refusal.Text}
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// ofNode stands for what the node layer refuses with a status of its own.
var ofNode = params.Error{Status: http.StatusUnprocessableEntity, Text: "what the node layer refuses"}

// refusedInside is what the node layer refuses and mustAsk hands on.
func refusedInside(text string) params.Error {
	return params.Error{Status: http.StatusInternalServerError, Text: text}
}

// mustAsk is ask for endpoints at which every refusal is an internal error with
// its text, but for lite servers that do not answer in time.
func (q *request) mustAsk(method string, parameters map[string]json.RawMessage, result any) error {
	err := q.ask(method, parameters, result)
	var refusal *params.Error
	if errors.As(err, &refusal) && refusal.Status != http.StatusGatewayTimeout {
		return &params.Error{Status: http.StatusInternalServerError, Text: refusal.Text}
	}
	return err
}

func quoted(text string) json.RawMessage {
	encoded, _ := json.Marshal(text) // a string always has a form
	return encoded
}

// text is a member of the body that is a string; empty when it is not there.
func (q *request) text(name string) (text string, err error) {
	raw, ok := q.sent[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	if json.Unmarshal(raw, &text) != nil {
		return "", params.Unprocessable("%s must be a string", name)
	}
	return text, nil
}

func missing(text string) *params.Error {
	return &params.Error{Status: http.StatusUnauthorized, Text: text}
}

var accountOrV2 = []params.Param{
	{Name: "address", Kind: params.AddressKind, Required: true, Description: "account"},
	{Name: "use_v2", Kind: params.BoolKind, Default: "false", Description: "ask the node layer; account states have its words then"},
}

var errNoAccount = missing("address of account is required")

// account is the address that was sent, in raw form.
func (q *request) account() (json.RawMessage, error) {
	sent := q.values.Addresses("address")
	if len(sent) == 0 {
		return nil, errNoAccount
	}
	return quoted(string(render.RawAddress(nil, sent[0][:]))), nil
}

// statusWord is the status in the words of the index, unless the node layer's
// are asked for.
func (q *request) statusWord(status string) string {
	if status == "uninitialized" && !q.values.Bool("use_v2") {
		return "uninit"
	}
	return status
}

type lastTransaction struct {
	LT   openapi.Decimal `json:"lt"`
	Hash openapi.Hash    `json:"hash"`
}

// orNull leaves empty texts to JSON's null.
func orNull[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}

// put writes a value as the answer.
func (q *request) put(value any) error {
	encoded, err := json.Marshal(value)
	q.body = append(q.body, encoded...)
	return err
}

type addressInformationAnswer struct {
	Balance    openapi.Decimal `json:"balance"`
	Code       *openapi.BOC    `json:"code"`
	Data       *openapi.BOC    `json:"data"`
	LastLT     openapi.Decimal `json:"last_transaction_lt"`
	LastHash   openapi.Hash    `json:"last_transaction_hash"`
	FrozenHash *openapi.Hash   `json:"frozen_hash"`
	Status     string          `json:"status" enum:"uninit,uninitialized,frozen,active,nonexist"`
}

var addressInformation = &Endpoint{
	Path: "/addressInformation", Aliases: []string{"/account"}, Tag: nodeAccess, Summary: "Address information",
	Description: "State of an account: from the index, or as lite servers prove it with use_v2 and when the index does not know the account.",
	Params:      accountOrV2, Result: resultOf[addressInformationAnswer](), Node: true,
	Errors: []params.Error{*errNoAccount},
	serve: func(q *request) error {
		if a, err := q.fromIndex(); a != nil || err != nil {
			if err != nil {
				return err
			}
			return q.indexedInformation(a)
		}
		account, err := q.account()
		if err != nil {
			return err
		}
		var state struct {
			Balance    openapi.Decimal `json:"balance"`
			Code       openapi.BOC     `json:"code"`
			Data       openapi.BOC     `json:"data"`
			FrozenHash openapi.Hash    `json:"frozen_hash"`
			State      string          `json:"state"`
			Last       lastTransaction `json:"last_transaction_id"`
		}
		if err := q.mustAsk("getAddressInformation", map[string]json.RawMessage{"address": account}, &state); err != nil {
			return err
		}
		return q.put(addressInformationAnswer{
			state.Balance, orNull(state.Code), orNull(state.Data), state.Last.LT, state.Last.Hash,
			orNull(state.FrozenHash), q.statusWord(state.State),
		})
	},
}

type walletInformationAnswer struct {
	Balance  openapi.Decimal `json:"balance"`
	Type     string          `json:"wallet_type,omitempty"`
	Seqno    *uint32         `json:"seqno,omitempty"`
	WalletID *uint32         `json:"wallet_id,omitempty"`
	LastLT   openapi.Decimal `json:"last_transaction_lt"`
	LastHash openapi.Hash    `json:"last_transaction_hash"`
	Status   string          `json:"status" enum:"uninit,uninitialized,frozen,active,nonexist"`
}

var errNoWallet = &params.Error{Status: http.StatusConflict, Text: "not a wallet"}

var walletInformation = &Endpoint{
	Path: "/walletInformation", Aliases: []string{"/wallet"}, Tag: nodeAccess, Summary: "Wallet information",
	Description: "What kind of wallet an account is, and where its seqno stands.",
	Params:      accountOrV2, Result: resultOf[walletInformationAnswer](), Node: true,
	Errors: []params.Error{*errNoAccount, *errNoWallet},
	serve: func(q *request) error {
		if a, err := q.fromIndex(); a != nil || err != nil {
			if err != nil {
				return err
			}
			return q.indexedWallet(a)
		}
		account, err := q.account()
		if err != nil {
			return err
		}
		var wallet struct {
			Wallet   bool            `json:"wallet"`
			Balance  openapi.Decimal `json:"balance"`
			State    string          `json:"account_state"`
			Type     string          `json:"wallet_type"`
			Seqno    *int32          `json:"seqno"`
			WalletID *int32          `json:"wallet_id"`
			Last     lastTransaction `json:"last_transaction_id"`
		}
		if err := q.mustAsk("getWalletInformation", map[string]json.RawMessage{"address": account}, &wallet); err != nil {
			return err
		}
		if !wallet.Wallet && wallet.State != "uninitialized" {
			return errNoWallet
		}
		return q.put(walletInformationAnswer{
			wallet.Balance, wallet.Type, unsigned(wallet.Seqno), unsigned(wallet.WalletID), wallet.Last.LT, wallet.Last.Hash,
			q.statusWord(wallet.State),
		})
	},
}

// unsigned is how this layer shows seqno and wallet_id.
func unsigned(n *int32) *uint32 {
	if n == nil {
		return nil
	}
	u := uint32(*n)
	return &u
}

var errNoBoc = missing("boc is required")

type sentMessageAnswer struct {
	Hash openapi.Hash `json:"message_hash"`
	Norm openapi.Hash `json:"message_hash_norm,omitempty" doc:"normalized hash (TEP-467)"`
}

var message = &Endpoint{
	Path: "/message", Tag: nodeAccess, Summary: "Send a message",
	Description: "Gives an external message to lite servers, after it was tried on the contract's state.",
	Body:        []Field{{Name: "boc", Type: "string", Required: true, Description: "bag of cells of the message, base64"}},
	Result:      resultOf[sentMessageAnswer](), Node: true,
	Errors: []params.Error{*errNoBoc, ofNode},
	serve: func(q *request) error {
		boc, err := q.text("boc")
		if err != nil {
			return err
		}
		if boc == "" {
			return errNoBoc
		}
		var sent struct {
			Hash openapi.Hash `json:"hash"`
			Norm openapi.Hash `json:"hash_norm"`
		}
		if err := q.ask("sendBocReturnHash", map[string]json.RawMessage{"boc": quoted(boc)}, &sent); err != nil {
			return err
		}
		return q.put(sentMessageAnswer{sent.Hash, sent.Norm})
	},
}

// estimateFields are also names of the method's parameters.
var estimateFields = []Field{
	{Name: "address", Type: "string", Required: true, Description: "receiver of the message"},
	{Name: "body", Type: "string", Required: true, Description: "body of the message, a bag of cells, base64"},
	{Name: "init_code", Type: "string", Description: "code of a contract that is not deployed yet"},
	{Name: "init_data", Type: "string", Description: "its data"},
	{Name: "ignore_chksig", Type: "boolean", Description: "let every signature be right; false by default"},
}

type (
	fees struct {
		InForward int64 `json:"in_fwd_fee"`
		Storage   int64 `json:"storage_fee"`
		Gas       int64 `json:"gas_fee"`
		Forward   int64 `json:"fwd_fee"`
	}
	estimatedFees struct {
		Source      fees   `json:"source_fees"`
		Destination []fees `json:"destination_fees"`
	}
)

var estimateFee = &Endpoint{
	Path: "/estimateFee", Tag: nodeAccess, Summary: "Estimate fee",
	Description: "What an external message would cost.",
	Body:        estimateFields, Result: resultOf[estimatedFees](), Node: true,
	Errors: []params.Error{ofNode},
	serve: func(q *request) error {
		parameters := map[string]json.RawMessage{"ignore_chksig": json.RawMessage("false")}
		for _, f := range estimateFields {
			if raw, ok := q.sent[f.Name]; ok {
				parameters[f.Name] = raw
			}
		}
		var result estimatedFees
		if err := q.ask("estimateFee", parameters, &result); err != nil {
			return err
		}
		return q.put(result)
	},
}

var errNoAddress, errNoMethod = missing("address is required"), missing("method is required")

type runGetMethodAnswer struct {
	GasUsed  int64        `json:"gas_used"`
	ExitCode int64        `json:"exit_code"`
	Stack    []plainEntry `json:"stack"`
}

var runGetMethod = &Endpoint{
	Path: "/runGetMethod", Tag: nodeAccess, Summary: "Run a get-method",
	Description: "Runs a get-method on the proven state of an account. Every exit code is a success of the request.",
	Body: []Field{
		{Name: "address", Type: "string", Required: true, Description: "contract"},
		{Name: "method", Type: "string", Required: true, Description: "name of the get-method, or its number as text"},
		{Name: "stack", Type: "array", Description: "arguments {type, value} of the types num, cell and slice, the first at the bottom"},
	},
	Result: resultOf[runGetMethodAnswer](), Node: true,
	Errors: []params.Error{
		*errNoAddress, *errNoMethod, *unsupported("<type>"), refusedInside("failed to parse address"), refusedInside("failed to parse stack"),
		refusedInside("Invalid number: <text>"), refusedInside("Wrong type of number in stack entry"), refusedInside("invalid base64 encoded bytes: <reason>"),
		refusedInside("Empty <type>"), refusedInside("Result stack depth >= <limit>"),
	},
	serve: func(q *request) error {
		parameters, err := q.runParameters()
		if err != nil {
			return err
		}
		var result struct {
			GasUsed  int64        `json:"gas_used"`
			ExitCode int64        `json:"exit_code"`
			Stack    []typedEntry `json:"stack"`
		}
		if err := q.mustAsk("runGetMethodStd", parameters, &result); err != nil {
			return err
		}
		return q.put(runGetMethodAnswer{result.GasUsed, result.ExitCode, plainEntries(result.Stack)})
	},
}

func (q *request) runParameters() (map[string]json.RawMessage, error) {
	address, err := q.text("address")
	if err != nil {
		return nil, err
	}
	method, err := q.text("method")
	switch {
	case err != nil:
		return nil, err
	case address == "":
		return nil, errNoAddress
	case method == "":
		return nil, errNoMethod
	}
	stack, err := argumentsOf(q.sent["stack"])
	return map[string]json.RawMessage{"address": quoted(address), "method": quoted(method), "stack": stack}, err
}

// unsupported is the answer to a stack entry of another type.
func unsupported(kind string) *params.Error {
	return &params.Error{Status: http.StatusInternalServerError, Text: "unsupported stack parameter type: " + shortened(kind)}
}

// shortened is a text of the caller's in an answer.
func shortened(text string) string {
	const most = 100
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// argumentsOf turns {type, value} into the node layer's typed entries.
func argumentsOf(raw json.RawMessage) (json.RawMessage, error) {
	var list []struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &list) != nil {
		return nil, params.Unprocessable("stack must be an array of {type, value}")
	}
	entries := make([]any, 0, len(list))
	for _, e := range list {
		if len(e.Value) == 0 {
			return nil, params.Unprocessable("a value of type %s is missing", shortened(e.Type))
		}
		switch e.Type {
		case "num":
			entries = append(entries, map[string]any{"@type": "tvm.stackEntryNumber", "number": map[string]any{"number": e.Value}})
		case "cell":
			entries = append(entries, map[string]any{"@type": "tvm.stackEntryCell", "cell": map[string]any{"bytes": e.Value}})
		case "slice":
			entries = append(entries, map[string]any{"@type": "tvm.stackEntrySlice", "slice": map[string]any{"bytes": e.Value}})
		default:
			return nil, unsupported(e.Type)
		}
	}
	return json.Marshal(entries)
}

// typedEntry is an entry of the node layer's stack.
type typedEntry struct {
	Type   string `json:"@type"`
	Number struct {
		Number string `json:"number"`
	} `json:"number"`
	Cell  struct{ Bytes string }          `json:"cell"`
	Slice struct{ Bytes string }          `json:"slice"`
	Tuple struct{ Elements []typedEntry } `json:"tuple"`
	List  struct{ Elements []typedEntry } `json:"list"`
}

// plainEntry is an entry of this layer's; tuples and lists hold entries, all
// others a text.
type plainEntry struct {
	Type  string     `json:"type" enum:"num,cell,slice,tuple,list,unsupported"`
	Value plainValue `json:"value"`
}

type plainValue any

func plainEntries(list []typedEntry) []plainEntry {
	plain := make([]plainEntry, 0, len(list))
	for _, e := range list {
		plain = append(plain, e.plain())
	}
	return plain
}

func (e *typedEntry) plain() plainEntry {
	switch strings.TrimPrefix(e.Type, "tvm.stackEntry") {
	case "Number":
		return plainEntry{"num", hexNumber(e.Number.Number)}
	case "Cell":
		return plainEntry{"cell", e.Cell.Bytes}
	case "Slice":
		return plainEntry{"slice", e.Slice.Bytes}
	case "Tuple":
		return plainEntry{"tuple", plainEntries(e.Tuple.Elements)}
	case "List":
		return plainEntry{"list", plainEntries(e.List.Elements)}
	}
	return plainEntry{"unsupported", ""}
}

// hexNumber writes 0x1f and -0x1f.
func hexNumber(decimal string) string {
	n, ok := new(big.Int).SetString(decimal, 10)
	if !ok {
		return decimal
	}
	digits := n.Text(16)
	if n.Sign() < 0 {
		return "-0x" + digits[1:]
	}
	return "0x" + digits
}
