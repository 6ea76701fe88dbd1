package auth

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/ratelimit"
)

// Texts of refusals, as clients know them.
const (
	textUnknownKey = "API key does not exist"
	textNetwork    = "Network not allowed"
	textLimited    = "Ratelimit exceeded"
	textNotRead    = "internal server error: the API keys cannot be read, try again"
)

// Refuse writes the error body of the layer that the request is for, and aborts.
type Refuse func(c *gin.Context, status int, text string)

// merchants is where the paths of merchants begin. Their keys are other keys, their
// limits are their own, and no page of another site may call them.
const merchants = "/api/merchant/"

// Gate lets requests through to the layers of the API, or refuses them. It
// belongs before everything else on the router, since browsers ask for every
// path whether they may. Of the requests of merchants it only says from where they
// come.
func (c *Component) Gate(refuse Refuse) gin.HandlerFunc {
	return func(g *gin.Context) {
		if strings.HasPrefix(g.Request.URL.Path, merchants) {
			g.Request = g.Request.WithContext(context.WithValue(g.Request.Context(), clientKey{}, client{name: c.nameOf(g.Request, nil)}))
			return
		}
		allowOrigins(g.Writer.Header())
		if g.Request.Method == http.MethodOptions {
			answerPreflight(g)
			return
		}
		secret := takeKey(g.Request)
		if isStream(g.Request.URL.Path) {
			secret = cmp.Or(secret, takeToken(g.Request))
		}
		if !limited(g.Request.URL.Path) {
			return
		}
		key, refusal := c.admit(g.Request, secret)
		if refusal.status != 0 {
			if refusal.wait > 0 {
				g.Header("Retry-After", strconv.Itoa(int(math.Ceil(refusal.wait.Seconds()))))
			}
			refuse(g, refusal.status, refusal.text)
			g.Abort()
		} else {
			who := client{name: c.nameOf(g.Request, key)}
			if key != nil {
				who.key, who.streams = key.ID(), key.Streams
				who.recheck = func() error { return c.recheck(key.Hash) }
			}
			g.Request = g.Request.WithContext(context.WithValue(g.Request.Context(), clientKey{}, who))
		}
		if key == nil {
			return
		}
		g.Next()
		key.usage.count(methodOf(g), refusal.status != 0)
	}
}

// limited reports whether keys and limits matter: for the layers of the API, but
// not for what describes them, nor for their health.
func limited(path string) bool {
	path, ok := strings.CutPrefix(path, "/api/")
	if short, is := strings.CutPrefix(path, "/"+streams); is {
		path, ok = streams+short, true
	}
	layer, rest, _ := strings.Cut(path, "/")
	switch rest {
	case "", "openapi.json", "doc.json", "index.html", "healthcheck", "healthz":
		return false
	}
	return ok && layer != "docs"
}

// streams is the layer that clients know without /api before it, too, and with further
// ways to send a key.
const streams = "streaming/"

// isStream reports whether a path is of that layer.
func isStream(path string) bool {
	return strings.HasPrefix(strings.TrimPrefix(path, "/api"), "/"+streams)
}

type refusal struct {
	status int // 0 is none
	text   string
	wait   time.Duration
}

// admit checks a request. The key is nil for one without, and for a key that is
// not good here.
func (c *Component) admit(r *http.Request, secret string) (*state, refusal) {
	if secret == "" {
		from := household(c.clientOf(r))
		wait := c.take(r.Context(), c.anonymous, from.name, func(r ratelimit.Rule, now time.Duration) time.Duration {
			return c.addresses.Take(from, r, now)
		})
		if wait > 0 {
			c.metrics.limitedAddress.Inc()
			return nil, refusal{http.StatusTooManyRequests, textLimited, wait}
		}
		c.metrics.anonymous.Inc()
		return nil, refusal{}
	}
	key, err := c.keys.Get(r.Context(), hashOf(secret))
	switch {
	case errors.Is(err, clickhouse.ErrNotRead):
		return nil, refusal{status: http.StatusInternalServerError, text: textNotRead}
	case err != nil:
		c.metrics.unknownKey.Inc()
		return nil, refusal{status: http.StatusUnauthorized, text: textUnknownKey}
	case !key.isFor(c.configuration.Network):
		c.metrics.wrongNetwork.Inc()
		return nil, refusal{status: http.StatusForbidden, text: textNetwork}
	}
	if wait := c.take(r.Context(), key.rule, func() string { return "key:" + key.ID() }, key.bucket.Take); wait > 0 {
		c.metrics.limitedKey.Inc()
		return key, refusal{http.StatusTooManyRequests, textLimited, wait}
	}
	c.metrics.withKey.Inc()
	return key, refusal{}
}

// take counts a request over all replicas, or here where Redis does not answer. It
// returns how long the request has to wait.
func (c *Component) take(ctx context.Context, r ratelimit.Rule, name func() string, here func(ratelimit.Rule, time.Duration) time.Duration) time.Duration {
	if r.Unlimited() {
		return 0
	}
	if c.shared != nil {
		if wait, err := c.shared.take(ctx, name(), r); err == nil {
			return wait
		}
		c.metrics.redisFailures.Inc()
	}
	return here(r, time.Since(c.began))
}

// methodKey is where a layer says in a gin context which method was called.
const methodKey = "tonscribe/query/auth.method"

// NameMethod says which method a request calls, for the count of a key's usage,
// when the path does not: a call by JSON-RPC. The name must be one of a fixed
// set, never what the client wrote.
func NameMethod(c *gin.Context, method string) { c.Set(methodKey, method) }

func methodOf(g *gin.Context) string {
	if method := g.GetString(methodKey); method != "" {
		return method
	}
	if path := g.FullPath(); path != "" {
		return strings.TrimPrefix(path, "/api/")
	}
	return "other"
}

// What browsers are told, so that pages of any origin may use the API. Keys are
// no credentials in a browser's sense: it does not send them by itself. Authorization is
// the one header that the asterisk does not cover.
var (
	anyOrigin     = []string{"*"}
	shownHeaders  = []string{"Retry-After, Warning, Server-Timing, X-API-Version, X-Next-Cursor"}
	askedMethods  = []string{"GET, HEAD, POST, OPTIONS"}
	askedHeaders  = []string{"Content-Type, Authorization, X-API-Key, X-Ton-Client-Version, X-No-Address-Book, X-No-Metadata, X-Timeout, X-Debug-Request, X-Actions-Version, *"}
	rememberedFor = []string{"86400"} // seconds
)

func allowOrigins(header http.Header) {
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = shownHeaders
}

// answerPreflight answers what a browser asks before the request itself. Allow,
// the methods of the path, is the router's.
func answerPreflight(g *gin.Context) {
	header := g.Writer.Header()
	header["Access-Control-Allow-Methods"] = askedMethods
	header["Access-Control-Allow-Headers"] = askedHeaders
	header["Access-Control-Max-Age"] = rememberedFor
	g.AbortWithStatus(http.StatusNoContent)
}

type clientKey struct{}

// client is who sent a request.
type client struct {
	name, key string
	streams   Streams
	recheck   func() error
}

// Client returns what tells the client of a request that the gate let through
// from others: its key, or its address as limits count it. It is empty for other
// requests.
func Client(ctx context.Context) string {
	who, _ := ctx.Value(clientKey{}).(client)
	return who.name
}

// KeyID returns the id of the API key of a request that the gate let through, empty for
// one without a key.
func KeyID(ctx context.Context) string {
	who, _ := ctx.Value(clientKey{}).(client)
	return who.key
}

// StreamsOf returns what the API key of such a request says of streams.
func StreamsOf(ctx context.Context) Streams {
	who, _ := ctx.Value(clientKey{}).(client)
	return who.streams
}

// ErrUnknownKey is that of a key that is not good any more.
var ErrUnknownKey = errors.New(textUnknownKey)

// Recheck returns what tells, while such a request is served for long, whether its API key
// still is good; nil for one without a key.
func Recheck(ctx context.Context) func() error {
	who, _ := ctx.Value(clientKey{}).(client)
	return who.recheck
}

func (c *Component) recheck(hash Hash) error {
	if key, held := c.keys.Held(hash); !held || !key.isFor(c.configuration.Network) {
		return ErrUnknownKey
	}
	return nil
}

func (c *Component) nameOf(r *http.Request, key *state) string {
	if key != nil {
		return string(key.Hash[:])
	}
	return household(c.clientOf(r)).name()
}
