package v2

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/stack"
)

// okResult is the answer that says nothing more.
var okResult = api.Typed[*node.Sent]("OkResult", "ok")

var extMessageInfo = api.Typed("ExtMessageInfo", "raw.extMessageInfo",
	api.Hash("hash", func(s *node.Sent) []byte { return s.Hash[:] }),
	api.Hash("hash_norm", func(s *node.Sent) []byte { return s.Normal[:] }),
)

var (
	bocParams = []Param{{Name: "boc", Kind: BytesKind, Required: true, Description: "bag of cells of a whole external message"}}
	sendFails = append([]Error{*failed("INVALID_BAG_OF_CELLS: body")}, append(ofNode(node.ErrNotExternal),
		*failed("LITE_SERVER_UNKNOWN: cannot apply external message to current state : <reason>"))...)
	errCell       = &Error{Status: http.StatusBadRequest, Text: "Error while parsing cell"}
	errCellObject = &Error{Status: http.StatusBadRequest, Text: "Error while parsing cell object"}
)

const aboutSending = "The message is executed here first, so that one that its contract refuses is refused at once (one that is too large to be executed is sent as it is); then several lite servers get it. Success means that one took it, not that it is in a block."

func (c *call) sendBoC() (*node.Sent, error) { return c.SendBoC(c, c.bytes("boc")) }

var sendBoc = &Method{
	Name: "sendBoc", Tag: tagSend, Summary: "Send a serialized message", PostOnly: true,
	Description: aboutSending,
	Params:      bocParams, Errors: sendFails,
	Result: of(okResult, (*call).sendBoC),
}

var sendBocReturnHash = &Method{
	Name: "sendBocReturnHash", Tag: tagSend, Summary: "Send a serialized message, return its hash", PostOnly: true,
	Description: aboutSending,
	Params:      bocParams, Errors: sendFails,
	Result: of(extMessageInfo, (*call).sendBoC),
}

var sendBocReturnHashNoError = &Method{
	Name: "sendBocReturnHashNoError", Tag: tagSend, Summary: "Send a serialized message, return its hash; failures are 400", PostOnly: true,
	Description: aboutSending,
	Params:      bocParams,
	Errors:      []Error{{Status: http.StatusBadRequest, Text: "<text of the failure>"}},
	Result: of(extMessageInfo, func(c *call) (*node.Sent, error) {
		sent, err := c.sendBoC()
		if e := Known(err); e != nil {
			return nil, &Error{Status: http.StatusBadRequest, Text: e.Text}
		}
		return sent, err
	}),
}

var sendBocUnsafe = &Method{
	Name: "sendBocUnsafe", Tag: tagSend, Summary: "Send a serialized message", PostOnly: true,
	Description: "The same as sendBoc; servers repeat messages by themselves.",
	Params:      bocParams, Errors: sendFails,
	Result: sendBoc.Result,
}

var sendCellSimple = &Method{
	Name: "sendCellSimple", Tag: tagSend, Summary: "Send a message that is spelt out", PostOnly: true,
	Description: `Like sendBoc, with the cell as {"data":{"b64","len"},"refs":[…]}.`,
	Params:      []Param{{Name: "cell", Kind: CellKind, Required: true, Description: "cell of a whole external message"}},
	Errors:      append([]Error{*errCell}, sendFails...),
	Result: of(okResult, func(c *call) (*node.Sent, error) {
		message, err := stack.ParseCell(c.of("cell").json)
		if err != nil {
			return nil, errCell
		}
		return c.Send(c, message)
	}),
}

// bodyParams are those of methods that make a message.
func bodyParams(kind Kind, body string) []Param {
	return []Param{
		addressParam("receiver of the message"),
		{Name: "body", Kind: kind, Required: true, Description: body},
		{Name: "init_code", Kind: kind, Description: "code of a contract that is not deployed yet"},
		{Name: "init_data", Kind: kind, Description: "its data"},
	}
}

var (
	baggedParams = bodyParams(BytesKind, "body of the message, a bag of cells")
	speltParams  = bodyParams(CellKind, "body of the message")
)

var sendQuery = &Method{
	Name: "sendQuery", Tag: tagSend, Summary: "Send a body", PostOnly: true,
	Description: "Wraps a body into an external message and sends that.",
	Params:      baggedParams, Errors: sendFails,
	Result: of(okResult, func(c *call) (*node.Sent, error) { return c.sendBody(c.bagged) }),
}

var sendQuerySimple = &Method{
	Name: "sendQuerySimple", Tag: tagSend, Summary: "Send a body that is spelt out", PostOnly: true,
	Description: `Like sendQuery, with cells as {"data":{"b64","len"},"refs":[…]}.`,
	Params:      speltParams, Errors: append([]Error{*errCellObject}, sendFails...),
	Result: of(okResult, func(c *call) (*node.Sent, error) { return c.sendBody(c.spelt) }),
}

func (c *call) sendBody(read cellReader) (*node.Sent, error) {
	body, err := c.body(read)
	if err != nil {
		return nil, err
	}
	return c.Send(c, body.Message())
}

var ignoreSignature = Param{Name: "ignore_chksig", Kind: FlagKind, Default: "true", Description: "let every signature be right"}

type fees = *node.Fees

// FeeMembers are the fees of a message.
var FeeMembers = []api.Member[fees]{
	api.Int64("in_fwd_fee", func(f fees) int64 { return f.InForward }),
	api.Int64("storage_fee", func(f fees) int64 { return f.Storage }),
	api.Int64("gas_fee", func(f fees) int64 { return f.Gas }),
	api.Int64("fwd_fee", func(f fees) int64 { return f.Forward }),
}

// QueryFees are the fees of a message's receiver, and of those that it sends to, of
// which nothing is known.
func QueryFees(one *api.Shape[fees]) []api.Member[fees] {
	return []api.Member[fees]{
		api.PartOf("source_fees", one, api.Same[fees]),
		api.List("destination_fees", one, func(fees) []fees { return nil }, api.Same[fees]),
	}
}

var queryFees = api.Typed("QueryFees", "query.fees", QueryFees(api.Typed("Fees", "fees", FeeMembers...))...)

var estimateFee = &Method{
	Name: "estimateFee", Tag: tagSend, Summary: "Estimate fee", PostOnly: true,
	Description: "What an external message would cost: it is executed here, on the proven state of the account. A message that is not accepted costs no gas.",
	Params:      slices.Concat(baggedParams, []Param{ignoreSignature}), Parallel: 32,
	Errors: []Error{*failed("INVALID_BAG_OF_CELLS: <field>"), *failed("INTERNAL: estimate_fee: <reason>")},
	Result: of(queryFees, func(c *call) (fees, error) { return c.estimate(c.bagged) }),
}

var estimateFeeSimple = &Method{
	Name: "estimateFeeSimple", Tag: tagSend, Summary: "Estimate fee, cells spelt out", PostOnly: true,
	Description: `Like estimateFee, with cells as {"data":{"b64","len"},"refs":[…]}.`,
	Params:      slices.Concat(speltParams, []Param{ignoreSignature}), Parallel: 32,
	Errors: []Error{*errCellObject},
	Result: of(queryFees, func(c *call) (fees, error) { return c.estimate(c.spelt) }),
}

func (c *call) estimate(read cellReader) (fees, error) {
	body, err := c.body(read)
	if err != nil {
		return nil, err
	}
	return c.EstimateFee(c, body, c.flag("ignore_chksig"))
}

// cellReader reads a cell out of a parameter, nil where none was sent. The name is
// what the node library calls it.
type cellReader func(param, name string) (*cell.Cell, error)

func (v *Values) bagged(param, name string) (*cell.Cell, error) {
	boc := v.bytes(param)
	if len(boc) == 0 && param != "body" {
		return nil, nil
	}
	return node.ParseBoC(boc, name)
}

func (v *Values) spelt(param, _ string) (*cell.Cell, error) {
	if !v.sent(param) {
		return nil, nil
	}
	c, err := stack.ParseCell(v.of(param).json)
	if err != nil {
		return nil, errCellObject
	}
	return c, nil
}

// body reads what a message is made of.
func (v *Values) body(read cellReader) (b node.Body, err error) {
	b.To = v.address("address").Address
	for _, part := range []struct {
		param, name string
		into        **cell.Cell
	}{{"body", "body", &b.Body}, {"init_code", "code", &b.Code}, {"init_data", "data", &b.Data}} {
		if *part.into, err = read(part.param, part.name); err != nil {
			return b, err
		}
		if c := *part.into; c != nil && c.Depth() > node.MaxPartDepth {
			return b, failed(fmt.Sprintf("INVALID_BAG_OF_CELLS: %s is deeper than %d", part.name, node.MaxPartDepth))
		}
	}
	return b, nil
}

// ReadEstimate reads what estimateFee is asked: a message, and whether every
// signature is right.
func ReadEstimate(object map[string]json.RawMessage) (node.Body, bool, error) {
	v, err := fromObject(estimateFee, object)
	if err != nil {
		return node.Body{}, false, err
	}
	body, err := v.body(v.bagged)
	return body, v.flag(ignoreSignature.Name), err
}

// ReadBoC reads the bag of cells that sendBoc is given.
func ReadBoC(boc json.RawMessage) ([]byte, error) {
	v, err := fromObject(sendBoc, map[string]json.RawMessage{bocParams[0].Name: boc})
	if err != nil {
		return nil, err
	}
	return v.bytes(bocParams[0].Name), nil
}
