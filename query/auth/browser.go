package auth

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// What browsers are told, so that pages of any origin may use the API. Keys are
// no credentials in a browser's sense: it does not send them by itself.
var (
	anyOrigin     = []string{"*"}
	shownHeaders  = []string{"Retry-After, Warning, Server-Timing, X-API-Version, X-Next-Cursor"}
	askedMethods  = []string{"GET, HEAD, POST, OPTIONS"}
	askedHeaders  = []string{"Content-Type, X-API-Key, X-Ton-Client-Version, X-No-Address-Book, X-No-Metadata, X-Timeout, X-Debug-Request, X-Actions-Version, *"}
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
