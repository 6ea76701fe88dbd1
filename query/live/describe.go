package live

import (
	"net/http"
	"strings"

	"tonscribe/query/openapi"
	"tonscribe/query/render"
)

// Version is that of the protocol.
const Version = "2"

// Describe is the OpenAPI document of the streams, with limits as they are configured.
func Describe(c Configuration) *openapi.Document {
	refused := []openapi.Error{
		{Status: http.StatusUnauthorized, Text: "API key does not exist"},
		{Status: http.StatusForbidden, Text: "Network not allowed"},
		{Status: http.StatusTooManyRequests, Text: "Ratelimit exceeded"},
		{Status: http.StatusInternalServerError, Text: "internal server error"},
		{Status: http.StatusServiceUnavailable, Text: errStopping.Error()},
	}
	return &openapi.Document{
		Title: "TON streams", Version: Version, Prefix: Prefix,
		Description: "What happens on the chain, as it happens: transactions, actions, traces, states of accounts, jetton wallets. Objects are those of v3. Every event has a position, from which a stream goes on without a gap and without a repetition. All paths are there without `/api`, too.",
		Tags:        []string{streamsTag}, Error: described(failureForm),
		Operations: []*openapi.Operation{
			{
				Path: "/v2/sse", Method: http.MethodPost, ID: "sse", Tag: streamsTag, Summary: "Stream of events",
				Description: "The body is the subscription. `connected` comes first, then an `event` for each event with its position as `id`, and a comment every " + c.KeepAlive.String() + ". `error` says why the stream ends.",
				Headers:     []openapi.Parameter{{Name: "Last-Event-ID", Schema: positionText, Description: "a position, in place of `from`"}, actionsVersion},
				Body:        fields(), Result: described(eventStream), Kind: "text/event-stream",
				Errors: append([]openapi.Error{
					{Status: http.StatusBadRequest, Text: "invalid subscription request: …"},
					{Status: http.StatusBadRequest, Text: sseWords.noTypes},
					{Status: http.StatusBadRequest, Text: sseWords.noAddresses},
					{Status: http.StatusBadRequest, Text: sseWords.noTraces},
					{Status: http.StatusBadRequest, Text: "invalid address: …"},
					{Status: http.StatusBadRequest, Text: "too many addresses: N > max M"},
					{Status: http.StatusBadRequest, Text: errPosition.Error() + ": …"},
					{Status: http.StatusUnsupportedMediaType, Text: errCoding.Error()},
					{Status: http.StatusTooManyRequests, Text: "connection limit reached: N active connections"},
					{Status: http.StatusServiceUnavailable, Text: errFull.Error()},
					{Status: http.StatusServiceUnavailable, Text: errNotYet.Error()},
					{Status: http.StatusHTTPVersionNotSupported, Text: errNoTakeOver.Error()},
				}, refused...),
				Example: &openapi.Example{Body: map[string]any{"types": []string{kindNames[stateKind]}, "addresses": []string{elector}}},
			},
			{
				Path: "/v2/ws", Method: http.MethodGet, ID: "ws", Tag: streamsTag, Summary: "WebSocket", Status: http.StatusSwitchingProtocols,
				Description: "Texts that the client sends are operations: `subscribe` with the members of a subscription, `unsubscribe` with `addresses`, `jettons`, `collections` or `trace_external_hash_norms` to take away, and `ping`, each with an `id` that the answer repeats. Texts that the server sends are answers, and events as a stream of events has them.",
				Headers:     []openapi.Parameter{actionsVersion},
				Errors:      append([]openapi.Error{{Status: http.StatusUpgradeRequired, Text: errNoUpgrade.Error()}}, refused...),
			},
			{
				Path: "/healthz", Method: http.MethodGet, ID: "healthz", Tag: streamsTag, Summary: "Health",
				Description: "Whether streams have what happens now: the newest block is " + staleAfter.String() + " old at most. The answer of 503 is the same object.",
				Result:      described(healthForm), Security: []openapi.Object{openapi.Schema()},
				Errors: []openapi.Error{{Status: http.StatusServiceUnavailable, Text: errOld.Error()}},
			},
		},
	}
}

const streamsTag = "Streams"

// elector is an account that every masterchain block has a transaction of.
const elector = "-1:3333333333333333333333333333333333333333333333333333333333333333"

var (
	positionText   = openapi.Schema("type", "string", "pattern", `^[0-9]+(?:-[0-9]+)?$`)
	actionsVersion = openapi.Parameter{Name: "X-Actions-Version", Schema: openapi.Schema("type", "string"), Description: "`supported_action_types` of subscriptions that have none, parted by commas"}
)

// described is a function that describes.
type described func(*openapi.Components) openapi.Object

// Schema is openapi.Described's.
func (d described) Schema(c *openapi.Components) openapi.Object { return d(c) }

// fields are the members of a subscription.
func fields() []openapi.Parameter {
	list := func(item openapi.Object) openapi.Object { return openapi.Schema("type", "array", "items", item) }
	text := openapi.Schema("type", "string")
	address := openapi.Schema("type", "string", "pattern", openapi.AnyAddress)
	hash := openapi.Schema("type", "string", "pattern", openapi.AnyHash)
	yes := openapi.Schema("type", "boolean")
	return []openapi.Parameter{
		{Name: "types", Required: true, Schema: list(openapi.Schema("type", "string", "enum", append(kindNames[:len(kindNames):len(kindNames)], invalidatedName))).With("minItems", 1),
			Description: "`gap`, beside `jettons_change`, says where one of them was whose object is not known any more; `trace_invalidated` need not be asked for"},
		{Name: "addresses", Schema: list(address), Description: "accounts; actions count that concern them, jetton wallets that they own, too"},
		{Name: "trace_external_hash_norms", Schema: list(hash), Description: "traces, by the normalized hash of the message that begins them; with the type `trace`"},
		{Name: "jettons", Schema: list(address), Description: "jetton masters: actions that name them, and changes of their wallets"},
		{Name: "collections", Schema: list(address), Description: "NFT collections: actions that name them"},
		{Name: "min_finality", Schema: openapi.Schema("type", "string", "enum", finalityNames), Default: finalizedLevel.String(), Description: "`confirmed` is what `finalized` is"},
		{Name: "action_types", Schema: list(text), Description: "types of actions; none are all"},
		{Name: "supported_action_types", Schema: list(text), Default: []string{latest.name}, Description: "types of actions, or names of sets of them, that the client understands"},
		{Name: "opcodes", Schema: list(openapi.Schema("type", "string")).With("maxItems", maxOpcodes), Description: "transactions whose incoming message has one of them, as 0x0f8a7ea5"},
		{Name: "msg_body_hash", Schema: hash, Description: "transactions whose incoming message has this body"},
		{Name: "include_address_book", Schema: yes, Default: false, Description: "add `address_book` to events"},
		{Name: "include_metadata", Schema: yes, Default: false, Description: "add `metadata` to events"},
		{Name: "from", Schema: positionText, Description: "a position: what came after it comes first"},
		{Name: "replay_existing", Schema: yes, Default: false, Description: "what is new of the last minute comes first"},
		{Name: "id", Schema: text, Description: "text that the answer repeats"},
		{Name: "operation", Schema: openapi.Schema("type", "string", "enum", []string{"subscribe", "unsubscribe", "ping"}), Description: "of a WebSocket"},
	}
}

// object is a schema of an object whose members are all there but for those behind a
// question mark.
func object(members ...any) openapi.Object {
	properties, required := openapi.Object{}, []string{}
	for i := 0; i < len(members); i += 2 {
		name, optional := strings.CutSuffix(members[i].(string), "?")
		if !optional {
			required = append(required, name)
		}
		properties = properties.With(name, members[i+1])
	}
	return openapi.Schema("type", "object", "properties", properties, "required", required)
}

// eventStream describes what a stream of events sends.
func eventStream(c *openapi.Components) openapi.Object {
	word := func(name string) openapi.Object { return openapi.Schema("type", "string", "const", name) }
	text := openapi.Schema("type", "string")
	final := openapi.Schema("type", "string", "enum", finalityNames)
	some := openapi.Schema("type", "object")
	hash, address := c.Form("Hash"), c.Form("Address")
	common := func(k kind) []any {
		list := []any{"type", word(kindNames[k]), "position", positionText, "finality", final}
		if k <= traceKind {
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
			return object(all...)
		})
	}
	event := c.Component("StreamEvent", "StreamEvent", func() openapi.Object {
		return openapi.Schema("anyOf", []openapi.Object{
			name("StreamAnswer", []any{"id?", text, "status", openapi.Schema("type", "string", "enum", []string{"subscribed", "unsubscribed", "pong"}), "position", positionText}),
			name("StreamError", []any{"id?", text, "error", text, "position?", positionText}),
			name("TransactionsEvent", common(transactionsKind), []any{"transactions", list(render.Transaction.Schema(c))}, books),
			name("ActionsEvent", common(actionsKind), []any{"actions", actions}, books),
			name("TraceEvent", common(traceKind), []any{"trace", render.Tree.Schema(c), "transactions", openapi.Schema("type", "object", "additionalProperties", render.Transaction.Schema(c)), "actions", actions}, books),
			name("AccountStateEvent", common(stateKind), []any{"account", address, "state", render.AccountState.Schema(c)}),
			name("JettonsEvent", common(jettonsKind), []any{"jetton", render.JettonWallet.Schema(c)}, books),
			name("GapEvent", []any{"type", word(kindNames[gapKind]), "position", positionText, "missed", word(kindNames[jettonsKind]), "account", address}),
			name("InvalidatedEvent", []any{"type", word(invalidatedName), "position", positionText, "trace_external_hash_norm", hash}),
		})
	})
	return openapi.Schema("type", "string", "description", "events, whose data is JSON", "contentMediaType", "application/json", "contentSchema", event)
}

func failureForm(c *openapi.Components) openapi.Object {
	return c.Component("Failure", "Failure", func() openapi.Object {
		return object("error", openapi.Schema("type", "string", "description", "what is wrong"), "id?", openapi.Schema("type", "string", "description", "that of the subscription"),
			"ok?", openapi.Schema("type", "boolean", "const", false), "code?", openapi.Schema("type", "integer"))
	})
}

func healthForm(c *openapi.Components) openapi.Object {
	return c.Component("Health", "Health", func() openapi.Object {
		number := openapi.Schema("type", "integer")
		return object("ok", openapi.Schema("type", "boolean"), "now", c.Form("UnixTime"), "components", openapi.Schema("type", "object", "additionalProperties",
			object("ok", openapi.Schema("type", "boolean"), "error?", openapi.Schema("type", "string"), "last_finalized_mc_block_time?", number, "finalized_age_seconds?", number)))
	})
}
