package openapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"tonscribe/query/openapi"
	v2 "tonscribe/query/v2"
	"tonscribe/test/browser"
)

// A document of a token may hold numbers that no float of JavaScript is.
func TestThePageShowsNumbersAndSizesOfAnswersAsTheyCame(t *testing.T) {
	const answer = `{"ok":true,"result":{"id":12345678901234567890,"rate":0.10,"far":1e400}}`
	site, err := openapi.NewSite(v2.Describe("ton", nil))
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	site.Mount(router)
	router.GET("/api/v2/getConsensusBlock", func(c *gin.Context) { _, _ = io.WriteString(c.Writer, answer) })
	server := httptest.NewServer(router)
	defer server.Close()
	p := browser.Start(t).Open(server.URL + "/api/docs#v2/getConsensusBlock")
	p.Await(`document.getElementById("send")`)
	p.Eval(`document.getElementById("send").click()`, nil)
	p.Await(`document.getElementById("status")`)
	shown := p.Text("#answer")
	for _, want := range []string{`"id": 12345678901234567890`, `"rate": 0.10`, `"far": 1e400`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page shows %s, want %s in it", shown, want)
		}
	}
	if status, want := p.Text("#result p"), fmt.Sprintf("%d ", http.StatusOK); !strings.HasPrefix(status, want) || !strings.HasSuffix(status, fmt.Sprintf(" %d bytes", len(answer))) {
		t.Errorf("the page says %q, want the status 200 and %d bytes", status, len(answer))
	}
}
