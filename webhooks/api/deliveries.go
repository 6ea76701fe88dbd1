package api

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/store"
)

var deliveryForm = api.New("Delivery",
	api.Text("event", func(d Delivery) string { return hex.EncodeToString(d.Event[:]) }).Doc("id; the header webhook-id has evt_ in front of it"),
	api.Text("reference", func(d Delivery) string { return d.Reference }).Doc("of the payment; that of a test begins with test_"),
	api.Word("status", api.Words{string(event.Success), string(event.Failed)}, func(d Delivery) string { return string(d.Status) }).Doc("how the transfer ended"),
	api.Text("txHash", func(d Delivery) string { return hex.EncodeToString(d.TxHash[:]) }),
	api.Text("traceId", func(d Delivery) string { return hex.EncodeToString(d.TraceID[:]) }),
	api.Text("bodyBase64Hash", func(d Delivery) string { return base64.StdEncoding.EncodeToString(d.BodyHash[:]) }),
	api.Word("state", DeliveryStates, func(d Delivery) string { return d.State }).Doc("how the delivery stands"),
	api.Text("reason", func(d Delivery) string { return d.Reason }).Optional().Doc("why it was ignored or cancelled; that of a duplicate payment stays when it is sent by hand"),
	api.Int32("attempts", func(d Delivery) int32 { return int32(d.Attempts) }).Doc("of the schedule"),
	number("lastCode", func(d Delivery) int { return d.LastCode }).Null().Doc("HTTP status of the last attempt"),
	api.Text("lastClass", func(d Delivery) string { return d.LastClass }).Optional().Doc("what kept the last attempt from success"),
	instant("happened", func(d Delivery) time.Time { return d.Happened }).Doc("time of the transfer's block"),
	instant("due", func(d Delivery) time.Time { return d.Due }).Null().Doc("of the next attempt"),
	api.Bool("test", func(d Delivery) bool { return d.Test }),
)

// number is a number that is there unless it is 0.
func number[R any](name string, get func(R) int) api.Member[R] {
	return api.Int32If(name, func(row R) *int32 {
		n := int32(get(row))
		if n == 0 {
			return nil
		}
		return &n
	})
}

// headers is a header with its values, a text for one value.
func headers[R any](name string, get func(R) http.Header) api.Member[R] {
	schema := plainSchema("type", "object", "additionalProperties", openapi.Schema("anyOf", []openapi.Object{
		openapi.Schema("type", "string"), openapi.Schema("type", "array", "items", openapi.Schema("type", "string")),
	}))
	return api.Written(name, schema, func(w *api.Writer, row R) bool {
		of := get(row)
		if len(of) == 0 {
			return false
		}
		shown := make(map[string]any, len(of))
		for name, values := range of {
			if len(values) == 1 {
				shown[name] = values[0]
			} else {
				shown[name] = values
			}
		}
		text, err := json.Marshal(shown)
		w.JSON = append(w.JSON, text...)
		return err == nil
	})
}

// body is bytes as text, as base64 where they are none.
func body(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return "base64:" + base64.StdEncoding.EncodeToString(b)
}

var attemptForm = api.New("Attempt",
	api.Int32("number", func(a Attempt) int32 { return int32(a.Number) }),
	api.Word("kind", api.Words{"auto", "manual", "test", "interrupted"}, func(a Attempt) string { return a.Kind }),
	instant("began", func(a Attempt) time.Time { return a.Began }),
	instant("ended", func(a Attempt) time.Time { return a.Ended }).Null(),
	milliseconds("dnsMs", func(a Attempt) time.Duration { return a.DNS }).Null().Doc("phases, in milliseconds"),
	milliseconds("connectMs", func(a Attempt) time.Duration { return a.Connect }).Null(),
	milliseconds("tlsMs", func(a Attempt) time.Duration { return a.TLS }).Null(),
	milliseconds("firstByteMs", func(a Attempt) time.Duration { return a.FirstByte }).Null(),
	milliseconds("totalMs", func(a Attempt) time.Duration { return a.Total }).Null(),
	api.Text("remote", func(a Attempt) string { return a.Remote }).Optional().Doc("address that was connected to"),
	number("code", func(a Attempt) int { return a.Code }).Null().Doc("HTTP status"),
	api.Text("class", func(a Attempt) string { return a.Class }).Optional().Doc("what kept it from success"),
	api.Text("text", func(a Attempt) string { return a.Text }).Optional(),
	headers("requestHeaders", func(a Attempt) http.Header { return a.RequestHeaders }).Null(),
	api.Text("requestBody", func(a Attempt) string { return body(a.RequestBody) }).Optional(),
	headers("responseHeaders", func(a Attempt) http.Header { return a.ResponseHeaders }).Null(),
	api.Text("responseBody", func(a Attempt) string { return body(a.ResponseBody) }).Optional().Doc("its beginning; what is no text as base64: and base64"),
	api.Text("keyId", func(a Attempt) string { return a.KeyID }).Optional().Doc("tells which secret signed"),
)

// searchParams are those of a search.
var searchParams = []Param{
	{Name: "state", Kind: WordKind, Words: DeliveryStates, Description: "of the delivery"},
	{Name: "reference", Kind: ReferenceKind, Description: "of the payment"},
	{Name: "txHash", Kind: HashKind, Description: "of the transaction that decided"},
	{Name: "traceId", Kind: HashKind, Description: "of its trace"},
	{Name: "event", Kind: IDKind, Description: "id of the event"},
	{Name: "bodyHash", Kind: HashKind, Description: "of the body that the payer has signed"},
	{Name: "code", Kind: NumberKind, Min: 100, Max: 999, Description: "HTTP status of the last attempt"},
	{Name: "class", Kind: TextKind, MaxBytes: 40, Description: "what kept the last attempt from success"},
	{Name: "from", Kind: TimeKind, Description: "first time of the transfer's block"},
	{Name: "to", Kind: TimeKind, Description: "time behind the last"},
	{Name: "test", Kind: FlagKind, Description: "tests only, or none of them"},
	limitParam, cursorParam,
}

func (c *call) search() Search {
	v := c.values
	return Search{
		State: get[string](v, "state"), Class: get[string](v, "class"), Event: maybe[store.ID](v, "event"), Reference: maybe[store.Reference](v, "reference"),
		TxHash: maybe[store.Hash](v, "txHash"), TraceID: maybe[store.Hash](v, "traceId"), BodyHash: maybe[store.Hash](v, "bodyHash"),
		Code: int(get[int64](v, "code")), From: get[time.Time](v, "from"), To: get[time.Time](v, "to"), Test: maybe[bool](v, "test"),
		Limit: int(get[int64](v, "limit")), Cursor: get[string](v, "cursor"),
	}
}

func (c *call) deliveryPage() (p page[Delivery], err error) {
	s, err := c.sending()
	if err != nil {
		return p, err
	}
	p.rows, p.next, err = s.Search(c, c.merchant.ID, c.search())
	if errors.Is(err, ErrCursor) {
		err = errCursor
	}
	return p, err
}

var listDeliveries = &Endpoint{
	Method: http.MethodGet, Path: "/deliveries", Name: "listDeliveries", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary: "Search the log of webhooks, the newest first",
	InQuery: searchParams, Errors: []*Error{errCursor},
	Result: of(pageForm("Deliveries", "deliveries", api.Form[Delivery](deliveryForm)), (*call).deliveryPage),
}

// table is the form of an answer that is a table of CSV.
type table struct{}

// Schema implements openapi.Described.
func (table) Schema(*openapi.Components) openapi.Object { return openapi.Schema("type", "string") }

var exportDeliveries = &Endpoint{
	Method: http.MethodGet, Path: "/deliveries.csv", Name: "exportDeliveries", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary:     "The same as a table",
	Description: "The newest 10000, one table at a time. A column is as the member of the same name.",
	InQuery:     searchParams[:len(searchParams)-2], // but for pages
	Errors:      []*Error{errBusy},
	Result:      result{table{}, "text/csv; charset=utf-8", func(c *call, w *api.Writer) error { return c.export(w) }},
}

// maxExport is how many rows a table has at most.
const maxExport = 10_000

func (c *call) export(w *api.Writer) error {
	s, err := c.sending()
	if err != nil {
		return err
	}
	if _, is := c.exporting.LoadOrStore(c.merchant.ID, true); is { // each is some megabytes, and two hundred statements
		return errBusy
	}
	defer c.exporting.Delete(c.merchant.ID)
	var text strings.Builder
	rows := csv.NewWriter(&text)
	if err := rows.Write([]string{"event", "reference", "status", "txHash", "traceId", "bodyBase64Hash", "state", "reason", "attempts", "lastCode", "lastClass", "happened", "test"}); err != nil {
		return err
	}
	search := c.search()
	search.Limit = maxLimit
	for n := 0; n < maxExport; n += maxLimit {
		list, next, err := s.Search(c, c.merchant.ID, search)
		if err != nil {
			return err
		}
		for _, d := range list {
			code := ""
			if d.LastCode != 0 {
				code = strconv.Itoa(d.LastCode)
			}
			if err := rows.Write([]string{
				hex.EncodeToString(d.Event[:]), d.Reference, string(d.Status), hex.EncodeToString(d.TxHash[:]), hex.EncodeToString(d.TraceID[:]),
				base64.StdEncoding.EncodeToString(d.BodyHash[:]), d.State, d.Reason, strconv.Itoa(d.Attempts), code, d.LastClass,
				d.Happened.UTC().Format(timeForm), strconv.FormatBool(d.Test),
			}); err != nil {
				return err
			}
		}
		if search.Cursor = next; next == "" {
			break
		}
	}
	rows.Flush()
	c.header.Set("Content-Disposition", `attachment; filename="deliveries.csv"`)
	w.JSON = append(w.JSON, text.String()...)
	return rows.Error()
}

// detail is a delivery with all that is known of it.
type detail struct {
	Delivery
	body     []byte
	attempts []Attempt
}

var getDelivery = &Endpoint{
	Method: http.MethodGet, Path: "/deliveries/{event}", Name: "getDelivery", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary: "A delivery, its body and its attempts",
	InPath:  idParam("event", "id of the event, with or without evt_"),
	Result: of(api.New("DeliveryDetail",
		api.Object("delivery", api.Form[Delivery](deliveryForm), func(d detail) Delivery { return d.Delivery }, nil),
		api.Text("body", func(d detail) string { return body(d.body) }).Doc("of every request, to the byte"),
		api.List("attempts", attemptForm, func(d detail) []Attempt { return d.attempts }, api.Same[Attempt]),
	), func(c *call) (d detail, err error) {
		s, event, err := c.ofEvent()
		if err == nil {
			d.Delivery, d.body, d.attempts, err = s.Detail(c, c.merchant.ID, event)
		}
		return d, err
	}),
}

func (c *call) ofEvent() (s Deliveries, event store.ID, err error) {
	if event, err = id[store.ID](c.values, "event"); err == nil {
		s, err = c.sending()
	}
	return s, event, err
}

// refusal is the answer to what Deliveries refuses.
func refusal(err error) error {
	switch {
	case errors.Is(err, ErrRefused):
		return conflict(errRefused.Code, err)
	case errors.Is(err, ErrBusy):
		return errBusy
	}
	return err
}

var (
	errRefused = conflict("refused", ErrRefused)
	errBusy    = &Error{Status: http.StatusTooManyRequests, Code: "busy", Message: ErrBusy.Error(), retry: 5 * time.Second}
)

var redeliver = &Endpoint{
	Method: http.MethodPost, Path: "/deliveries/{event}/redeliver", Name: "redeliver", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary:     "Deliver once more",
	Description: "One attempt with the id and the body of before, whatever the state; the schedule goes on as it was.",
	InPath:      idParam("event", "id of the event, with or without evt_"),
	Errors:      []*Error{errRefused, errBusy},
	Result: of(attemptForm, func(c *call) (Attempt, error) {
		s, event, err := c.ofEvent()
		if err != nil {
			return Attempt{}, err
		}
		a, err := s.Redeliver(c, c.merchant.ID, event)
		if err != nil {
			return a, refusal(err)
		}
		return a, c.audit("redelivered", hex.EncodeToString(event[:]))
	}),
}

// counted is a replay, or how much one would be.
type counted struct {
	id    *store.ID
	count uint64
}

// maxReplayRange is how long a time a replay covers.
const maxReplayRange = 366 * 24 * time.Hour

var errRange = badRequest("bad_range", "to has to be after from, by 366 days at most")

var replay = &Endpoint{
	Method: http.MethodPost, Path: "/deliveries/replay", Name: "replay", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary:     "Deliver a range of time once more",
	Description: "One attempt for each delivery, at a bounded rate. A dry run only counts.",
	InBody: []Param{
		{Name: "from", Kind: TimeKind, Required: true, Description: "first time of the transfer's block"},
		{Name: "to", Kind: TimeKind, Required: true, Description: "time behind the last"},
		{Name: "state", Kind: WordKind, Words: []string{"delivered", "exhausted", "ignored", "cancelled"}, Description: "of the deliveries; without it all but delivered ones"},
		{Name: "dryRun", Kind: FlagKind, Description: "only count"},
	},
	Errors: []*Error{errRange, errRefused, errBusy},
	Result: of(api.New("CountedReplay",
		api.Written("id", plainSchema("type", "string"), func(w *api.Writer, r counted) bool {
			if r.id == nil {
				return false
			}
			w.JSON = api.AppendText(w.JSON, hex.EncodeToString(r.id[:]))
			return true
		}).Optional().Doc("of the replay; a dry run has none"),
		api.Int64("count", func(r counted) uint64 { return r.count }).Doc("deliveries that are made once more"),
	), (*call).replay),
}

func (c *call) replay() (r counted, err error) {
	s, err := c.sending()
	if err != nil {
		return r, err
	}
	within := ReplayRange{get[time.Time](c.values, "from"), get[time.Time](c.values, "to"), get[string](c.values, "state")}
	if took := within.To.Sub(within.From); took <= 0 || took > maxReplayRange {
		return r, errRange
	}
	if get[bool](c.values, "dryRun") {
		r.count, err = s.CountReplay(c, c.merchant.ID, within)
		return r, refusal(err)
	}
	started, err := s.StartReplay(c, c.merchant.ID, within)
	if err != nil {
		return r, refusal(err)
	}
	r.id, r.count = &started.ID, started.Count
	return r, c.audit("replay_started", hex.EncodeToString(started.ID[:]))
}

var replayForm = api.New("Replay",
	api.Text("id", func(r Replay) string { return hex.EncodeToString(r.ID[:]) }),
	api.Word("state", api.Words{"running", "done", "failed", "cancelled"}, func(r Replay) string { return r.State }),
	api.Int64("count", func(r Replay) uint64 { return r.Count }).Doc("deliveries to be made once more"),
	api.Int64("sent", func(r Replay) uint64 { return r.Sent }).Doc("of them those that were tried"),
	api.Int64("delivered", func(r Replay) uint64 { return r.Delivered }).Doc("of these those that were taken"),
)

// ofReplay is what a function of Deliveries says of the replay of a path.
func ofReplay(do func(Deliveries, *call, store.ID) (Replay, error)) result {
	return of(replayForm, func(c *call) (r Replay, err error) {
		which, err := id[store.ID](c.values, "id")
		if err != nil {
			return r, err
		}
		s, err := c.sending()
		if err != nil {
			return r, err
		}
		r, err = do(s, c, which)
		return r, refusal(err)
	})
}

var getReplay = &Endpoint{
	Method: http.MethodGet, Path: "/replays/{id}", Name: "getReplay", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary: "How far a replay is",
	InPath:  idParam("id", "of the replay"),
	Result: ofReplay(func(s Deliveries, c *call, which store.ID) (Replay, error) {
		return s.FindReplay(c, c.merchant.ID, which)
	}),
}

var cancelReplay = &Endpoint{
	Method: http.MethodDelete, Path: "/replays/{id}", Name: "cancelReplay", Tag: tagDeliveries, Scope: store.ScopeDeliveries,
	Summary: "End a replay",
	InPath:  idParam("id", "of the replay"),
	Errors:  []*Error{errRefused},
	Result: ofReplay(func(s Deliveries, c *call, which store.ID) (Replay, error) {
		r, err := s.CancelReplay(c, c.merchant.ID, which)
		if err != nil {
			return r, err
		}
		return r, c.audit("replay_cancelled", hex.EncodeToString(which[:]))
	}),
}

// health is that of an endpoint with why it is disabled.
type health struct {
	Health
	reason string
}

var getHealth = &Endpoint{
	Method: http.MethodGet, Path: "/webhook/health", Name: "getHealth", Tag: tagWebhook, Scope: store.ScopeDeliveries,
	Summary: "How the endpoint does",
	Result: of(api.New("Health",
		api.Text("state", func(h health) string { return h.State }).Doc("ok, failing, disabled or unset"),
		api.Written("successRate", plainSchema("type", "number", "minimum", 0, "maximum", 1), func(w *api.Writer, h health) bool {
			if h.SuccessRate == nil {
				return false
			}
			w.JSON = strconv.AppendFloat(w.JSON, *h.SuccessRate, 'f', -1, 64)
			return true
		}).Null().Doc("of the deliveries that ended within a day"),
		milliseconds("p50Ms", func(h health) time.Duration { return h.P50 }).Null(),
		milliseconds("p95Ms", func(h health) time.Duration { return h.P95 }).Null(),
		milliseconds("p99Ms", func(h health) time.Duration { return h.P99 }).Null(),
		api.Int64("queued", func(h health) uint64 { return h.Queued }).Doc("deliveries that have not ended"),
		api.Written("oldestUndeliveredSeconds", plainSchema("type", "integer", "minimum", 0), func(w *api.Writer, h health) bool {
			if h.OldestUndelivered <= 0 {
				return false
			}
			w.JSON = strconv.AppendInt(w.JSON, int64(h.OldestUndelivered/time.Second), 10)
			return true
		}).Null(),
		api.Text("disabledReason", func(h health) string { return h.reason }).Optional(),
		instant("lastSuccess", func(h health) time.Time { return h.LastSuccess }).Null(),
	), (*call).getHealth),
}

func (c *call) getHealth() (h health, err error) {
	s, err := c.sending()
	if err != nil {
		return h, err
	}
	if h.Health, err = s.Health(c, c.merchant.ID); err != nil {
		return h, err
	}
	e, err := c.store.Endpoints.Newest(c, c.merchant.ID)
	if err != nil {
		return h, err
	}
	h.reason = e.DisabledReason
	switch {
	case e.URL == "":
		h.State = "unset"
	case !e.Enabled:
		h.State = "disabled"
	}
	return h, nil
}
