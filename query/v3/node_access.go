package v3

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v2 "tonscribe/query/v2"
)

// The endpoints that package node answers.
const nodeAccess = "Legacy (v2)"

// readBody takes the JSON object of a POST apart.
func readBody(r *http.Request) (map[string]json.RawMessage, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, params.Unprocessable("Unprocessable Entity")
	}
	body, err := params.ReadBody(r, params.Unprocessable("the request body ends early"))
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return nil, params.Unprocessable("the request body is no JSON object")
	}
	return object, nil
}

var errNoNode = &params.Error{Status: http.StatusInternalServerError, Text: "ton-http-api endpoint is not specified"}

// share answers with what a node says, which others may ask at the same time. The
// queue is that of the method of the v2 layer that asks the same.
func share[R any](q *request, queue string, parallel int, key string, shape *api.Shape[R], ask func(context.Context) (R, error)) error {
	if !q.hasNode() {
		return errNoNode
	}
	question := node.Question{Queue: node.Queue{Name: queue, Parallel: parallel}}
	if key != "" {
		question.Key, question.Keep = "v3/"+queue+" "+key, time.Second
	}
	answer, err := q.node.Share(q, question, func(ctx context.Context) ([]byte, error) {
		row, err := ask(ctx)
		if err != nil {
			return nil, err
		}
		w := &api.Writer{Max: maxNodeBytes}
		if shape.Write(w, row); w.Full() {
			return nil, node.TooLarge(maxNodeBytes)
		}
		return w.JSON, nil
	})
	if known := v2.Known(err); known != nil {
		return known
	}
	q.body = append(q.body, answer.Body...)
	return err
}

// maxNodeBytes bounds answers that a contract may make long.
const maxNodeBytes = 4 << 20

// ofNode stands for what the node layer refuses with a status of its own.
var ofNode = params.Error{Status: http.StatusUnprocessableEntity, Text: "what the node layer refuses"}

// refusedInside is what the node layer refuses, at endpoints at which every refusal is
// an internal error with its text.
func refusedInside(text string) params.Error {
	return params.Error{Status: http.StatusInternalServerError, Text: text}
}

// inside makes the error of such an endpoint; that lite servers do not answer in time
// stays what it is.
func inside(err error) error {
	known := v2.Known(err)
	if known == nil || known.Status == http.StatusGatewayTimeout {
		return err
	}
	refused := refusedInside(known.Text)
	return &refused
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

// accountOfNode reads the account that the request names.
func (q *request) accountOfNode(ctx context.Context) (*node.Account, error) {
	a := q.values.Addresses("address")[0]
	if n := a.Workchain(); n != int32(int8(n)) {
		return nil, inside(errBadAddress)
	}
	s, err := q.node.Account(ctx, a, nil)
	return s, inside(err)
}

// shareAccount is share for the account that the request names.
func shareAccount[R any](q *request, queue string, shape *api.Shape[R], row func(*node.Account) (R, error)) error {
	sent := q.values.Addresses("address")
	if len(sent) == 0 {
		return errNoAccount
	}
	return share(q, queue, 0, fmt.Sprintf("%s %t", sent[0], q.values.Bool("use_v2")), shape, func(ctx context.Context) (answer R, err error) {
		s, err := q.accountOfNode(ctx)
		if err != nil {
			return answer, err
		}
		return row(s)
	})
}

// statusWord is the status in the words of the index, unless the node layer's
// are asked for.
func (q *request) statusWord(status string) string {
	if status == node.Uninitialized && !q.values.Bool("use_v2") {
		return "uninit"
	}
	return status
}

var statusWords = api.Words{"uninit", "uninitialized", "frozen", "active", "nonexist"}

// information is what addressInformation and walletInformation say of an account,
// wherever it was read.
type information struct {
	balance    string
	code, data []byte
	frozenHash []byte
	lastLT     uint64
	lastHash   []byte
	status     string
	wallet     render.Wallet
}

// lastMembers are those that the two have at their end.
func lastMembers(between ...api.Member[*information]) []api.Member[*information] {
	last := []api.Member[*information]{
		api.Decimal("last_transaction_lt", func(i *information) uint64 { return i.lastLT }),
		api.HashOrEmpty("last_transaction_hash", func(i *information) []byte { return i.lastHash }),
	}
	return append(append(last, between...), api.Word("status", statusWords, func(i *information) string { return i.status }))
}

var balanceMember = api.DecimalText("balance", func(i *information) string { return i.balance })

var addressInformationShape = api.New("AddressInformationAnswer", append([]api.Member[*information]{
	balanceMember,
	api.BoC("code", func(i *information) []byte { return i.code }).Null(),
	api.BoC("data", func(i *information) []byte { return i.data }).Null(),
}, lastMembers(api.Hash("frozen_hash", func(i *information) []byte { return i.frozenHash }).Null())...)...)

var addressInformation = &Endpoint{
	Path: "/addressInformation", Aliases: []string{"/account"}, Tag: nodeAccess, Summary: "Address information",
	Description: "State of an account: from the index, or as lite servers prove it with use_v2 and when the index does not know the account.",
	Params:      accountOrV2, Result: addressInformationShape, Node: true,
	Errors: []params.Error{*errNoAccount},
	serve: func(q *request) error {
		a, err := q.fromIndex()
		if err != nil {
			return err
		}
		if a != nil {
			return q.indexedInformation(a)
		}
		return shareAccount(q, "getAddressInformation", addressInformationShape, func(s *node.Account) (*information, error) {
			i := q.informationOf(s)
			i.code, i.data, i.frozenHash = bocOf(s.Code()), bocOf(s.Data()), s.FrozenHash()
			return i, nil
		})
	},
}

func (q *request) informationOf(s *node.Account) *information {
	return &information{balance: s.Balance.String(), lastLT: s.Last.LT, lastHash: s.Last.Hash[:], status: q.statusWord(s.Status())}
}

// bocOf is a cell as a bag, nil for none.
func bocOf(c *cell.Cell) []byte {
	if c == nil {
		return nil
	}
	return c.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true})
}

var errNoWallet = &params.Error{Status: http.StatusConflict, Text: "not a wallet"}

var walletInformationShape = api.New("WalletInformationAnswer", append([]api.Member[*information]{
	balanceMember,
	api.Text("wallet_type", func(i *information) string { return i.wallet.Type }).Optional(),
	api.Uint32If("seqno", func(i *information) *uint32 { return i.wallet.Seqno }).Optional(),
	api.Uint32If("wallet_id", func(i *information) *uint32 { return i.wallet.WalletID }).Optional(),
}, lastMembers()...)...)

var walletInformation = &Endpoint{
	Path: "/walletInformation", Aliases: []string{"/wallet"}, Tag: nodeAccess, Summary: "Wallet information",
	Description: "What kind of wallet an account is, and where its seqno stands.",
	Params:      accountOrV2, Result: walletInformationShape, Node: true,
	Errors: []params.Error{*errNoAccount, *errNoWallet},
	serve: func(q *request) error {
		a, err := q.fromIndex()
		if err != nil {
			return err
		}
		if a != nil {
			return q.indexedWallet(a)
		}
		return shareAccount(q, "getWalletInformation", walletInformationShape, func(s *node.Account) (*information, error) {
			i := q.informationOf(s)
			if w := s.Wallet(); w != nil {
				i.wallet = render.Wallet{Type: w.Type, Seqno: &w.Seqno, WalletID: w.ID}
			} else if s.Status() != node.Uninitialized {
				return nil, errNoWallet
			}
			return i, nil
		})
	},
}
