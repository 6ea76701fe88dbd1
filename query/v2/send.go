package v2

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
	size "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

type okResult struct {
	_ typed `type:"ok"`
}

type extMessageInfo struct {
	_        typed    `type:"raw.extMessageInfo"`
	Hash     [32]byte `json:"hash"`
	HashNorm [32]byte `json:"hash_norm"`
}

// The limits of external messages, as nodes have them (configuration parameter
// 43 by default).
const (
	mostMessageBytes = 65535
	mostMessageDepth = 512
	mostMessageCells = 1 << 13
)

var (
	bocParams = []Param{{Name: "boc", Kind: BytesKind, Required: true, Description: "bag of cells of a whole external message"}}
	sendFails = []Error{
		*failed("INVALID_BAG_OF_CELLS: body"),
		*errNotExternal,
		*failed("LITE_SERVER_UNKNOWN: cannot apply external message to current state : <reason>"),
	}
	errNotExternal = failed("CommonMsgInfo tag is not ext_in_msg_info")
)

const aboutSending = "The message is executed here first, so that one that its contract refuses is refused at once (one that is too large to be executed is sent as it is); then several lite servers get it. Success means that one took it, not that it is in a block."

var sendBoc = &Method{
	Name: "sendBoc", Tag: tagSend, Summary: "Send a serialized message", PostOnly: true,
	Description: aboutSending,
	Params:      bocParams, Errors: sendFails,
	Result: openapi.TypeOf[okResult](),
	serve: func(c *call) (any, error) {
		_, err := c.sendBag()
		return okResult{}, err
	},
}

var sendBocReturnHash = &Method{
	Name: "sendBocReturnHash", Tag: tagSend, Summary: "Send a serialized message, return its hash", PostOnly: true,
	Description: aboutSending,
	Params:      bocParams, Errors: sendFails,
	Result: openapi.TypeOf[extMessageInfo](),
	serve:  func(c *call) (any, error) { return c.sendBag() },
}

var sendBocReturnHashNoError = &Method{
	Name: "sendBocReturnHashNoError", Tag: tagSend, Summary: "Send a serialized message, return its hash; failures are 400", PostOnly: true,
	Description: aboutSending,
	Params:      bocParams,
	Errors:      []Error{{Status: http.StatusBadRequest, Text: "<text of the failure>"}},
	Result:      openapi.TypeOf[extMessageInfo](),
	serve: func(c *call) (any, error) {
		info, err := c.sendBag()
		if e := known(err); err != nil && e != nil {
			return nil, &Error{Status: http.StatusBadRequest, Text: e.Text}
		}
		return info, err
	},
}

var sendBocUnsafe = &Method{
	Name: "sendBocUnsafe", Tag: tagSend, Summary: "Send a serialized message", PostOnly: true,
	Description: "The same as sendBoc; servers repeat messages by themselves.",
	Params:      bocParams, Errors: sendFails,
	Result: openapi.TypeOf[okResult](),
	serve:  sendBoc.serve,
}

var sendCellSimple = &Method{
	Name: "sendCellSimple", Tag: tagSend, Summary: "Send a message that is spelt out", PostOnly: true,
	Description: `Like sendBoc, with the cell as {"data":{"b64","len"},"refs":[…]}.`,
	Params:      []Param{{Name: "cell", Kind: CellKind, Required: true, Description: "cell of a whole external message"}},
	Errors:      append([]Error{*errCell}, sendFails...),
	Result:      openapi.TypeOf[okResult](),
	serve: func(c *call) (any, error) {
		message, err := parseSpelt(c.of("cell").json)
		if err != nil {
			return nil, errCell
		}
		_, err = c.send(message)
		return okResult{}, err
	},
}

var errCell = &Error{Status: http.StatusBadRequest, Text: "Error while parsing cell"}

var sendQuery = &Method{
	Name: "sendQuery", Tag: tagSend, Summary: "Send a body", PostOnly: true,
	Description: "Wraps a body into an external message and sends that.",
	Params: []Param{
		addressParam("receiver of the message"),
		{Name: "body", Kind: BytesKind, Required: true, Description: "body of the message, a bag of cells"},
		{Name: "init_code", Kind: BytesKind, Description: "code of a contract that is not deployed yet"},
		{Name: "init_data", Kind: BytesKind, Description: "its data"},
	},
	Errors: sendFails,
	Result: openapi.TypeOf[okResult](),
	serve: func(c *call) (any, error) {
		body, code, data, err := c.baggedMessage()
		if err != nil {
			return nil, err
		}
		_, err = c.send(externalMessage(c.Values.address("address"), body, code, data))
		return okResult{}, err
	},
}

var sendQuerySimple = &Method{
	Name: "sendQuerySimple", Tag: tagSend, Summary: "Send a body that is spelt out", PostOnly: true,
	Description: `Like sendQuery, with cells as {"data":{"b64","len"},"refs":[…]}.`,
	Params: []Param{
		addressParam("receiver of the message"),
		{Name: "body", Kind: CellKind, Required: true, Description: "body of the message"},
		{Name: "init_code", Kind: CellKind, Description: "code of a contract that is not deployed yet"},
		{Name: "init_data", Kind: CellKind, Description: "its data"},
	},
	Errors: append([]Error{*errCellObject}, sendFails...),
	Result: openapi.TypeOf[okResult](),
	serve: func(c *call) (any, error) {
		body, code, data, err := c.speltMessage()
		if err != nil {
			return nil, err
		}
		_, err = c.send(externalMessage(c.Values.address("address"), body, code, data))
		return okResult{}, err
	},
}

func (c *call) sendBag() (extMessageInfo, error) {
	data := c.bytes("boc")
	if len(data) > mostMessageBytes {
		return extMessageInfo{}, failed("LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message too large, rejecting")
	}
	message, err := parseBag(data, "body")
	if err != nil {
		return extMessageInfo{}, err
	}
	return c.send(message)
}

// send checks a message, tries it, and gives it to lite servers.
func (c *call) send(message *cell.Cell) (extMessageInfo, error) {
	normal, to, err := normalized(message)
	if err != nil {
		return extMessageInfo{}, err
	}
	if message.Depth() >= mostMessageDepth {
		return extMessageInfo{}, refused("external message is too deep")
	}
	if _, err := size.SizeOf(mostMessageCells, message); err != nil {
		return extMessageInfo{}, refused("external message has too many cells")
	}
	if c.configuration.Emulate && tvm.CheckMessage(message) == nil {
		if err := c.rehearse(message, to); err != nil {
			return extMessageInfo{}, err
		}
	}
	info := extMessageInfo{Hash: message.HashKey(), HashNorm: normal.HashKey()}
	return info, c.node.Send(c, message.ToBOCWithOptions(cell.BOCSerializeOptions{}))
}

// refused is how lite servers say that a message cannot be.
func refused(reason string) *Error {
	return failed("LITE_SERVER_UNKNOWN: cannot apply external message to current state : %s", reason)
}

// normalized is the form of an external message that its variants share
// (TEP-467): no source, no import fee, no initial state, the body in a
// reference. It also tells the receiver.
func normalized(message *cell.Cell) (*cell.Cell, *Address, error) {
	r := parse(message)
	if tag := r.Uint(2); r.Err() != nil || tag != 0b10 {
		return nil, nil, errNotExternal
	}
	r.address()
	to, ok := r.address()
	r.Coins()
	r.stateInit()
	body := r.either()
	if r.Err() != nil || !ok {
		return nil, nil, failed("INVALID_BAG_OF_CELLS: body")
	}
	return externalHeader(&to).MustStoreUInt(0b01, 2).MustStoreRef(body).EndCell(), &to, nil
}

// rehearse delivers the message here. Its error is that of a lite server; what
// keeps us from trying does not keep the message from being sent.
func (c *call) rehearse(message *cell.Cell, to *Address) error {
	master, err := c.node.Head(c)
	if err != nil {
		return err
	}
	s, err := c.accountAt(master, *to)
	if err != nil {
		return err
	}
	if s.code() == nil && !hasInit(message) {
		return refused("Failed to unpack account state")
	}
	outcome, _, err := c.try(s, message, false)
	if c.Err() != nil {
		return c.Err()
	}
	if err != nil {
		c.report.Log.Warn().Err(err).Str("account", to.lower()).Msg("a message could not be tried, it is sent untried")
		return nil
	}
	if outcome.Accepted {
		return nil
	}
	return refused(fmt.Sprintf("External message was not accepted\n"+
		"Cannot run message on account: inbound external message rejected by transaction %s:\n"+
		"exitcode=%d, steps=%d, gas_used=%d\nVM Log (truncated):\n",
		strings.Repeat("0", 64), outcome.ExitCode, 0, outcome.GasUsed))
}

func hasInit(message *cell.Cell) bool {
	r := parse(message)
	r.Skip(2)
	r.address()
	r.address()
	r.Coins()
	return r.Bit() && r.Err() == nil
}
