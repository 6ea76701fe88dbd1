package live

import (
	"net/http"

	"tonscribe/query/live/events"
	"tonscribe/query/openapi"
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
				Headers:     []openapi.Parameter{{Name: "Last-Event-ID", Schema: events.PositionText, Description: "a position, in place of `from`"}, actionsVersion},
				Body:        events.Fields(), Result: described(events.Stream), Kind: "text/event-stream",
				Errors: append([]openapi.Error{
					{Status: http.StatusBadRequest, Text: "invalid subscription request: …"},
					{Status: http.StatusBadRequest, Text: events.SSEWords.NoTypes},
					{Status: http.StatusBadRequest, Text: events.SSEWords.NoAddresses},
					{Status: http.StatusBadRequest, Text: events.ErrNoTraces.Error()},
					{Status: http.StatusBadRequest, Text: "invalid address: …"},
					{Status: http.StatusBadRequest, Text: "too many addresses: N > max M"},
					{Status: http.StatusBadRequest, Text: events.ErrPosition.Error() + ": …"},
					{Status: http.StatusUnsupportedMediaType, Text: errCoding.Error()},
					{Status: http.StatusTooManyRequests, Text: "connection limit reached: N active connections"},
					{Status: http.StatusServiceUnavailable, Text: errFull.Error()},
					{Status: http.StatusServiceUnavailable, Text: errNotYet.Error()},
					{Status: http.StatusHTTPVersionNotSupported, Text: errNoTakeOver.Error()},
				}, refused...),
				Example: &openapi.Example{Body: map[string]any{"types": []string{events.KindNames[events.StateKind]}, "addresses": []string{elector}}},
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
	actionsVersion = openapi.Parameter{Name: "X-Actions-Version", Schema: openapi.Schema("type", "string"), Description: "`supported_action_types` of subscriptions that have none, parted by commas"}
)

// described is a function that describes.
type described func(*openapi.Components) openapi.Object

// Schema is openapi.Described's.
func (d described) Schema(c *openapi.Components) openapi.Object { return d(c) }

func failureForm(c *openapi.Components) openapi.Object {
	return c.Component("Failure", "Failure", func() openapi.Object {
		return openapi.Members("error", openapi.Schema("type", "string", "description", "what is wrong"), "id?", openapi.Schema("type", "string", "description", "that of the subscription"),
			"ok?", openapi.Schema("type", "boolean", "const", false), "code?", openapi.Schema("type", "integer"))
	})
}

func healthForm(c *openapi.Components) openapi.Object {
	return c.Component("Health", "Health", func() openapi.Object {
		number := openapi.Schema("type", "integer")
		return openapi.Members("ok", openapi.Schema("type", "boolean"), "now", c.Form("UnixTime"), "components", openapi.Schema("type", "object", "additionalProperties",
			openapi.Members("ok", openapi.Schema("type", "boolean"), "error?", openapi.Schema("type", "string"), "last_finalized_mc_block_time?", number, "finalized_age_seconds?", number)))
	})
}
