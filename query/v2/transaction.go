package v2

import (
	"encoding/base64"
	"math/big"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/ton/address"
)

// messageMembers are what both forms of a message have in common.
var messageMembers = []api.Member[*node.Message]{
	api.Hash("hash", func(m *node.Message) []byte { return m.Hash[:] }),
	api.BigDecimal("value", func(m *node.Message) *big.Int { return m.Value }),
	currencies(func(m *node.Message) []node.Currency { return m.Currencies }),
	api.BigDecimal("fwd_fee", func(m *node.Message) *big.Int { return m.FwdFee }),
	api.BigDecimal("ihr_fee", func(m *node.Message) *big.Int { return m.IhrFee }),
	api.Decimal("created_lt", func(m *node.Message) uint64 { return m.CreatedLT }),
	api.Hash("body_hash", func(m *node.Message) []byte { return m.Body.Hash() }),
	api.Object("msg_data", messageData, api.Same[*node.Message], nil),
}

// messageData is a message's body in one of three forms.
var messageData = api.OneOf("MessageData",
	bodyCase("DataRaw", "msg.dataRaw", func(c node.Comment) bool { return c == node.NoComment || c == node.UnreadableBody },
		api.Cell("body", func(m *node.Message) *cell.Cell { return m.Body }),
		api.Cell("init_state", func(m *node.Message) *cell.Cell { return m.Init })),
	bodyCase("DataText", "msg.dataText", func(c node.Comment) bool { return c == node.PlainComment }, commentBytes),
	bodyCase("DataEncryptedText", "msg.dataEncryptedText", func(c node.Comment) bool { return c == node.EncryptedComment }, commentBytes),
)

var commentBytes = api.Bytes("text", func(m *node.Message) []byte { return m.Text.Bytes })

func bodyCase(name, typeName string, is func(node.Comment) bool, members ...api.Member[*node.Message]) api.Case[*node.Message] {
	return api.When(api.Typed(name, typeName, members...), func(m *node.Message) (*node.Message, bool) { return m, is(m.Text.Kind) })
}

// rawMessage is the message of getTransactionsStd and of lists of blocks.
var rawMessage = api.Typed("RawMessage", "raw.message", append([]api.Member[*node.Message]{
	api.Object("source", accountAddress, func(m *node.Message) *address.Address { return m.Source }, nil),
	api.Object("destination", accountAddress, func(m *node.Message) *address.Address { return m.Destination }, nil),
}, messageMembers...)...)

// extMessage is the message of getTransactions and of the tryLocate methods.
var extMessage = api.Typed("ExtMessage", "ext.message", append(append([]api.Member[*node.Message]{
	api.Text("source", func(m *node.Message) string { return bounceable(m.Source) }),
	api.Text("destination", func(m *node.Message) string { return bounceable(m.Destination) }),
}, messageMembers...),
	text("message", shownText).If(func(m *node.Message) bool { return m.Text.Kind != node.UnreadableBody }),
	api.Text("message_decode_error", func(m *node.Message) string {
		if m.Text.Kind == node.UnreadableBody {
			return "Failed to load cell or get body slice. But why?"
		}
		return ""
	}).Optional(),
)...)

// shownText is a comment, or the bits of any other body.
func shownText(m *node.Message) string {
	switch {
	case m.Text.Kind != node.NoComment:
		return strings.ToValidUTF8(string(m.Text.Bytes), "\uFFFD")
	case len(m.Text.Bytes) == 0:
		return ""
	}
	return base64.StdEncoding.EncodeToString(m.Text.Bytes) + "\n"
}

// transactionMembers are what all forms of a transaction have in common; its
// messages are in one of their two forms.
func transactionMembers(messages api.Form[*node.Message], before ...api.Member[*node.Transaction]) []api.Member[*node.Transaction] {
	return append(before,
		api.PartOf("address", accountAddress, func(t *node.Transaction) *address.Address { return &t.Account }),
		api.Uint32("utime", func(t *node.Transaction) uint32 { return t.Utime }),
		api.Cell("data", func(t *node.Transaction) *cell.Cell { return t.Cell }),
		api.PartOf("transaction_id", transactionID, func(t *node.Transaction) *node.TransactionID { return &t.ID }),
		api.BigDecimal("fee", func(t *node.Transaction) *big.Int { return t.Fee }),
		api.BigDecimal("storage_fee", func(t *node.Transaction) *big.Int { return t.StorageFee }),
		api.BigDecimal("other_fee", func(t *node.Transaction) *big.Int { return t.OtherFee }),
		api.PartOf("in_msg", messages, func(t *node.Transaction) *node.Message { return t.In }).Optional(),
		api.List("out_msgs", messages, func(t *node.Transaction) []*node.Message { return t.Out }, api.Same[*node.Message]),
	)
}

var transactionAccount = api.Text("account", func(t *node.Transaction) string { return t.Account.String() })

// A transaction of getTransactionsStd, of a block's list, and of getTransactions and
// the tryLocate methods.
var (
	rawTransaction    = api.Typed("RawTransaction", "raw.transaction", transactionMembers(rawMessage)...)
	rawTransactionExt = api.Typed("RawTransactionExt", "raw.transactionExt", transactionMembers(rawMessage, transactionAccount)...)
	extTransaction    = api.Typed("ExtTransaction", "ext.transaction", transactionMembers(extMessage, transactionAccount)...)
)
