package openapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"tonscribe/query/openapi"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
	"tonscribe/test/browser"
)

// pageOf serves the page, without an API; first sees each request.
func pageOf(t *testing.T, first gin.HandlerFunc) (base string) {
	site, err := openapi.NewSite(v2.Describe("ton", nil), v3.Describe(endpoints.All, nil))
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(first)
	site.Mount(router)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server.URL
}

// The links are made anew with each choice: without the page's doing the focus would be
// nowhere, and Tab would go through the list from its beginning.
func TestByTheKeyboardAChoiceTakesTheFocusToWhatIsChosen(t *testing.T) {
	p := browser.Start(t).Open(pageOf(t, func(*gin.Context) {}) + "/api/docs#v3")
	for _, place := range []string{"#list", "#layers"} {
		p.Await(`document.querySelectorAll("#list a").length > 0`)
		p.Eval(fmt.Sprintf(`link = document.querySelector("%s a"); link.focus()`, place), nil)
		p.Press("Enter")
		p.Await(`!document.contains(link) && document.querySelector("#list a").hash.startsWith(link.hash.split("/")[0])`)
		var focus string
		p.Eval(`document.activeElement.id`, &focus)
		if focus != "main" {
			t.Errorf("after a choice in %s the focus is in %q, want main", place, focus)
		}
	}
}

func TestThePageShowsWhatWasChosenLastWhicheverDocumentComesFirst(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	p := browser.Start(t).Open(pageOf(t, func(c *gin.Context) {
		if c.Request.URL.Path == "/api/v3/openapi.json" {
			close(asked)
			<-answer
		}
	}) + "/api/docs#v3")
	<-asked
	p.Eval(`location.hash = "#v2"`, nil)
	p.Await(`document.querySelector('#list a[href^="#v2/"]')`)
	close(answer)
	p.Await(`documents.v3`) // all that follows from it is done at once
	if shown := p.Text("#main h2"); !strings.Contains(shown, "node access") {
		t.Errorf("v2 was chosen last, the page shows %q", shown)
	}
}

func TestThePageSaysWhatToDoWhenTheServerIsAway(t *testing.T) {
	p := browser.Start(t).Open(pageOf(t, func(c *gin.Context) {
		if c.Request.URL.Path == "/api/v3/openapi.json" {
			connection, _, err := http.NewResponseController(c.Writer).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			connection.Close()
			c.Abort()
		}
	}) + "/api/docs#v3")
	p.Await(`document.querySelector("#main .bad")`)
	if shown := p.Text("#main"); !strings.Contains(shown, "load the page again") {
		t.Errorf("the page says %q, want what to do", shown)
	}
}
