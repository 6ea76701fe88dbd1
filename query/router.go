package query

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"tonscribe/query/auth"
	"tonscribe/query/compress"
	"tonscribe/query/live"
	"tonscribe/query/openapi"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
)

// router puts the paths together. Every answer that no path gives has the shape
// of an error.
func router(api *v3.API, node *v2.API, site *openapi.Site, streams *live.Component, gate *auth.Component, mount func(*gin.Engine)) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, _ any) {
		fail(c, http.StatusInternalServerError, "internal server error")
	}), gate.Gate(refuse))
	engine.NoRoute(func(c *gin.Context) {
		if ofV2(c) {
			v2.NotFound(c.Writer)
			return
		}
		fail(c, http.StatusNotFound, "Cannot "+c.Request.Method+" "+shown(c.Request.URL.Path))
	})
	engine.NoMethod(func(c *gin.Context) {
		if ofV2(c) {
			v2.BadMethod(c.Writer, c.Request)
			return
		}
		fail(c, http.StatusMethodNotAllowed, "Method Not Allowed")
	})
	engine.Match(openapi.Reading, "/healthcheck", func(c *gin.Context) { c.String(http.StatusOK, "OK") })
	api.Mount(engine)
	node.Mount(engine)
	site.Mount(engine)
	if streams != nil {
		streams.Mount(engine)
	}
	if mount != nil {
		mount(engine)
	}
	return compress.Handler(forgiving(engine))
}

func ofV2(c *gin.Context) bool { return strings.HasPrefix(c.Request.URL.Path, v2.Prefix+"/") }

// refuse answers requests that keys or limits keep from their layer.
func refuse(c *gin.Context, status int, text string) {
	if ofV2(c) {
		v2.Refuse(c.Writer, c.Request, status, text)
		return
	}
	fail(c, status, text)
}

func fail(c *gin.Context, status int, text string) {
	body := v3.Failure(nil, status, text)
	header := c.Writer.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-API-Version", v3.Version)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	c.Status(status)
	if c.Request.Method != http.MethodHead {
		_, _ = c.Writer.Write(body) // the client has gone when this fails
	}
	c.Abort()
}

// shown is a path in an answer.
func shown(path string) string {
	const most = 200
	if len(path) > most {
		return path[:most] + "…"
	}
	return path
}

// forgiving takes paths in any letter case, with a slash at the end and with
// several slashes for one, for those that the router has.
func forgiving(engine *gin.Engine) http.Handler {
	known := map[string]string{}
	for _, route := range engine.Routes() {
		if !strings.ContainsAny(route.Path, ":*") {
			known[plainPath(route.Path)] = route.Path
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := known[plainPath(r.URL.Path)]
		if ok && path != r.URL.Path {
			exact := *r
			exact.URL = new(url.URL)
			*exact.URL = *r.URL
			exact.URL.Path, exact.URL.RawPath = path, ""
			r = &exact
		}
		engine.ServeHTTP(w, r)
	})
}

// plainPath is what the writings of a path have in common.
func plainPath(path string) string {
	path = strings.ToLower(strings.TrimRight(path, "/"))
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}
