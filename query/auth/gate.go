package auth

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"tonscribe/internal/clickhouse"
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

// Gate lets requests through to the layers of the API, or refuses them. It
// belongs before everything else on the router, since browsers ask for every
// path whether they may.
func (c *Component) Gate(refuse Refuse) gin.HandlerFunc {
	return func(g *gin.Context) {
		allowOrigins(g.Writer.Header())
		if g.Request.Method == http.MethodOptions {
			answerPreflight(g)
			return
		}
		secret := takeKey(g.Request)
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
			g.Request = g.Request.WithContext(context.WithValue(g.Request.Context(), clientKey{}, c.nameOf(g.Request, key)))
		}
		if key == nil {
			return
		}
		g.Next()
		key.usage.count(methodOf(g), refusal.status != 0)
	}
}

// limited says whether keys and limits matter: for the layers of the API, but
// not for what describes them, nor for their health.
func limited(path string) bool {
	const prefix = "/api/"
	if !strings.HasPrefix(path, prefix) {
		return false
	}
	layer, rest, _ := strings.Cut(path[len(prefix):], "/")
	if layer == "docs" || rest == "" {
		return false
	}
	switch rest {
	case "openapi.json", "doc.json", "index.html", "healthcheck":
		return false
	}
	return true
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
		if wait := c.takeAddress(r); wait > 0 {
			c.metrics.limitedAddress.Inc()
			return nil, refusal{http.StatusTooManyRequests, textLimited, wait}
		}
		c.metrics.anonymous.Inc()
		return nil, refusal{}
	}
	key, err := c.check(r.Context(), secret)
	switch {
	case errors.Is(err, clickhouse.ErrNotRead):
		return nil, refusal{status: http.StatusInternalServerError, text: textNotRead}
	case errors.Is(err, errNotForNetwork):
		c.metrics.wrongNetwork.Inc()
		return nil, refusal{status: http.StatusForbidden, text: textNetwork}
	case err != nil:
		c.metrics.unknownKey.Inc()
		return nil, refusal{status: http.StatusUnauthorized, text: textUnknownKey}
	}
	if wait := c.takeKey(r.Context(), key); wait > 0 {
		c.metrics.limitedKey.Inc()
		return key, refusal{http.StatusTooManyRequests, textLimited, wait}
	}
	c.metrics.withKey.Inc()
	return key, refusal{}
}

var errNotForNetwork = errors.New("the key is for another network")

func (c *Component) check(ctx context.Context, secret string) (*state, error) {
	key, err := c.keys.Get(ctx, hashOf(secret))
	if err != nil {
		return nil, err
	}
	if !key.isFor(c.configuration.Network) {
		return nil, errNotForNetwork
	}
	return key, nil
}

func (c *Component) takeAddress(r *http.Request) time.Duration {
	if c.anonymous.unlimited() {
		return 0
	}
	of := household(c.clientOf(r))
	if c.shared != nil {
		if wait, err := c.shared.take(r.Context(), of.name(), c.anonymous); err == nil {
			return wait
		}
		c.metrics.redisFailures.Inc()
	}
	return c.addresses.take(of, c.anonymous, time.Since(c.began))
}

func (c *Component) takeKey(ctx context.Context, key *state) time.Duration {
	if key.rule.unlimited() {
		return 0
	}
	if c.shared != nil {
		if wait, err := c.shared.take(ctx, "key:"+key.ID(), key.rule); err == nil {
			return wait
		}
		c.metrics.redisFailures.Inc()
	}
	return key.bucket.take(key.rule, time.Since(c.began))
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
