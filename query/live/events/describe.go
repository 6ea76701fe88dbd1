package events

import (
	"tonscribe/query/openapi"
	"tonscribe/query/render"
)

// PositionText is the schema of a position as text.
var PositionText = openapi.Schema("type", "string", "pattern", `^[0-9]+(?:-[0-9]+)?$`)

// Fields are the members of a subscription.
func Fields() []openapi.Parameter {
	list := func(item openapi.Object) openapi.Object { return openapi.Schema("type", "array", "items", item) }
	text := openapi.Schema("type", "string")
	address := openapi.Schema("type", "string", "pattern", openapi.AnyAddress)
	hash := openapi.Schema("type", "string", "pattern", openapi.AnyHash)
	yes := openapi.Schema("type", "boolean")
	return []openapi.Parameter{
		{Name: "types", Required: true, Schema: list(openapi.Schema("type", "string", "enum", append(KindNames[:len(KindNames):len(KindNames)], InvalidatedName))).With("minItems", 1),
			Description: "`gap`, beside `jettons_change`, says where one of them was whose object is not known any more; `trace_invalidated` need not be asked for"},
		{Name: "addresses", Schema: list(address), Description: "accounts; actions count that concern them, jetton wallets that they own, too"},
		{Name: "trace_external_hash_norms", Schema: list(hash), Description: "traces, by the normalized hash of the message that begins them; with the type `trace`"},
		{Name: "jettons", Schema: list(address), Description: "jetton masters: actions that name them, and changes of their wallets"},
		{Name: "collections", Schema: list(address), Description: "NFT collections: actions that name them"},
		{Name: "min_finality", Schema: openapi.Schema("type", "string", "enum", finalityNames), Default: FinalizedLevel.String(), Description: "`confirmed` is what `finalized` is"},
		{Name: "action_types", Schema: list(text).With("maxItems", maxActionTypes), Description: "types of actions; none are all"},
		{Name: "supported_action_types", Schema: list(text), Default: []string{latestLabel}, Description: "types of actions, or names of sets of them, that the client understands"},
		{Name: "opcodes", Schema: list(openapi.Schema("type", "string")).With("maxItems", maxOpcodes), Description: "transactions whose incoming message has one of them, as 0x0f8a7ea5"},
		{Name: "msg_body_hash", Schema: hash, Description: "transactions whose incoming message has this body"},
		{Name: "include_address_book", Schema: yes, Default: false, Description: "add `address_book` to events"},
		{Name: "include_metadata", Schema: yes, Default: false, Description: "add `metadata` to events"},
		{Name: "from", Schema: PositionText, Description: "a position: what came after it comes first"},
		{Name: "replay_existing", Schema: yes, Default: false, Description: "what is new of the last minute comes first"},
		{Name: "id", Schema: text, Description: "text that the answer repeats"},
		{Name: "operation", Schema: openapi.Schema("type", "string", "enum", []string{"subscribe", "unsubscribe", "ping"}), Description: "of a WebSocket"},
	}
}

// Stream describes what a stream of events sends.
func Stream(c *openapi.Components) openapi.Object {
	word := func(name string) openapi.Object { return openapi.Schema("type", "string", "const", name) }
	text := openapi.Schema("type", "string")
	final := openapi.Schema("type", "string", "enum", finalityNames)
	some := openapi.Schema("type", "object")
	hash, address := c.Form("Hash"), c.Form("Address")
	common := func(k Kind) []any {
		list := []any{"type", word(KindNames[k]), "position", PositionText, "finality", final}
		if k <= TraceKind {
			list = append(list, "trace_external_hash_norm", hash)
		}
		return list
	}
	books := []any{"address_book?", some, "metadata?", some}
	list := func(s openapi.Object) openapi.Object { return openapi.Schema("type", "array", "items", s) }
	actions := list(render.Action.Schema(c))
	name := func(title string, members ...[]any) openapi.Object {
		return c.Component(title, title, func() openapi.Object {
			var all []any
			for _, m := range members {
				all = append(all, m...)
			}
			return openapi.Members(all...)
		})
	}
	event := c.Component("StreamEvent", "StreamEvent", func() openapi.Object {
		return openapi.Schema("anyOf", []openapi.Object{
			name("StreamAnswer", []any{"id?", text, "status", openapi.Schema("type", "string", "enum", []string{"subscribed", "unsubscribed", "pong"}), "position", PositionText}),
			name("StreamError", []any{"id?", text, "error", text, "position?", PositionText}),
			name("TransactionsEvent", common(TransactionsKind), []any{"transactions", list(render.Transaction.Schema(c))}, books),
			name("ActionsEvent", common(ActionsKind), []any{"actions", actions}, books),
			name("TraceEvent", common(TraceKind), []any{"trace", render.Tree.Schema(c), "transactions", openapi.Schema("type", "object", "additionalProperties", render.Transaction.Schema(c)), "actions", actions}, books),
			name("AccountStateEvent", common(StateKind), []any{"account", address, "state", render.AccountState.Schema(c)}),
			name("JettonsEvent", common(JettonsKind), []any{"jetton", render.JettonWallet.Schema(c)}, books),
			name("GapEvent", []any{"type", word(KindNames[GapKind]), "position", PositionText, "missed", word(KindNames[JettonsKind]), "account", address}),
			name("InvalidatedEvent", []any{"type", word(InvalidatedName), "position", PositionText, "trace_external_hash_norm", hash}),
		})
	})
	return openapi.Schema("type", "string", "description", "events, whose data is JSON", "contentMediaType", "application/json", "contentSchema", event)
}
