package v3

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"tonscribe/internal/listen"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
	"tonscribe/ton/address"
)

// The endpoints that stand for methods of the v2 layer.
const nodeAccess = "Legacy (v2)"

// readBody takes the JSON object of a POST apart.
func readBody(r *http.Request) (map[string]json.RawMessage, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, params.Unprocessable("Unprocessable Entity")
	}
	if v2.InCoding(r) {
		refusal := params.Error(v2.CodingError())
		return nil, &refusal
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, v2.MostBodyBytes))
	var tooLarge *http.MaxBytesError
	var object map[string]json.RawMessage
	switch {
	case errors.As(err, &tooLarge):
		return nil, &params.Error{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("request body is longer than %d bytes", v2.MostBodyBytes)}
	case errors.Is(err, listen.ErrBusy):
		return nil, errLargeBusy
	case err != nil:
		return nil, params.Unprocessable("the request body ends early")
	case json.Unmarshal(body, &object) != nil:
		return nil, params.Unprocessable("the request body is no JSON object")
	}
	return object, nil
}

// errLargeBusy is the answer to a large body that could not have its turn.
var errLargeBusy = &params.Error{Status: http.StatusServiceUnavailable, Text: listen.ErrBusy.Error()}

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
	return quoted(string(address.AppendRaw(nil, sent[0][:]))), nil
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
	Params:      accountOrV2, Result: openapi.TypeOf[addressInformationAnswer](), Node: true,
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
	Params:      accountOrV2, Result: openapi.TypeOf[walletInformationAnswer](), Node: true,
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
