package send

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tonscribe/internal/report"
	"tonscribe/webhooks/signature"
)

// The headers of a request beside those of package signature.
const (
	HeaderAttempt = "X-Pay-Attempt"        // number of the attempt, from 1
	HeaderTest    = "X-Pay-Test"           // true on test sends
	HeaderNext    = "X-Pay-Signature-Next" // by the secret that will replace the present one
)

// reserved are the names that the header with the signature cannot have.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{
		HeaderAttempt, HeaderTest, HeaderNext, signature.HeaderID, signature.HeaderTimestamp, signature.HeaderStandard,
		"Content-Type", "Content-Length", "User-Agent", "Host", "Connection", "Transfer-Encoding", "Trailer", "Accept-Encoding", "Expect", "Upgrade",
	} {
		names[http.CanonicalHeaderKey(name)] = true
	}
	return names
}()

// courier makes attempts, each with a row before the request and one after it.
type courier struct {
	configuration Configuration
	client        *client
	write         func(ctx context.Context, a *Attempt) error // durably
	metrics       *metrics
	report        report.Reporter
}

// refusal says why nothing is sent to an endpoint, and where it is otherwise.
func (c *courier) refusal(e Endpoint) (to *url.URL, reason string) {
	to, reason = c.client.target(e.URL)
	switch {
	case reason != "":
		return nil, reason
	case !e.Enabled:
		return nil, ReasonDisabled
	}
	return to, ""
}

// attempt posts the event of a delivery. A request that is under way when ctx ends
// is broken off some time after it. An error is one of ClickHouse, or of ctx before
// the request was begun: no attempt without a row that tells of it.
func (c *courier) attempt(ctx context.Context, e Endpoint, to *url.URL, d *delivery, kind Kind, number int) (*Attempt, error) {
	began := time.Now().UTC().Truncate(time.Microsecond)
	a := &Attempt{Merchant: d.Merchant, Event: d.Event, Number: number, Kind: kind, Began: began, KeyID: signature.KeyID(e.Secret),
		RequestHeaders: c.headers(e, d, kind, number, began), expires: began.Add(c.configuration.KeepAttempts)}
	if err := c.write(ctx, a); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // the row stays, as of an attempt that was cut
	}
	c.metrics.inFlight.Inc()
	defer c.metrics.inFlight.Dec()
	going, cut := outlasting(ctx, c.configuration.StopTimeout)
	defer cut()
	c.client.post(going, to, a, d.body)
	a.Ended = time.Now().UTC().Truncate(time.Microsecond)
	if a.Class == ClassInterrupted {
		a.Kind = KindInterrupted
	}
	c.metrics.note(a)
	c.logAttempt(a, d)
	writing, cancel := outlasting(ctx, c.configuration.StopTimeout+closingTime)
	defer cancel()
	return a, c.write(writing, a)
}

// closingTime bounds the last write of a sender that is stopped.
const closingTime = time.Second

// outlasting is a context that ends some time after ctx does.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return longer, func() { stop(); cancel() }
}

// logAttempt logs an attempt.
func (c *courier) logAttempt(a *Attempt, d *delivery) {
	line := c.report.Log.Debug()
	if !a.Succeeded() {
		line = c.report.Log.Info()
	}
	line.Str("event", EventID(a.Event)).Hex("merchant", a.Merchant[:]).Str("reference", d.ReferenceText()).Hex("trace", d.TraceID[:]).
		Int("attempt", a.Number).Str("kind", string(a.Kind)).Int("code", a.Code).Str("class", string(a.Class)).Dur("took", a.Total).Msg("webhook")
}

// headers are those of a request, signed.
func (c *courier) headers(e Endpoint, d *delivery, kind Kind, number int, at time.Time) http.Header {
	id := EventID(d.Event)
	secrets := []string{e.Secret}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", c.client.userAgent)
	h.Set(c.configuration.Header, signature.Sign(d.body, e.Secret))
	if e.Next != "" {
		h.Set(HeaderNext, signature.Sign(d.body, e.Next))
	}
	for _, other := range []string{e.Next, e.Old} {
		if other != "" {
			secrets = append(secrets, other)
		}
	}
	h.Set(signature.HeaderID, id)
	h.Set(signature.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(signature.HeaderStandard, signature.Standard(id, at, d.body, secrets...))
	h.Set(HeaderAttempt, strconv.Itoa(number))
	if d.Test || kind == KindTest {
		h.Set(HeaderTest, "true")
	}
	return h
}
