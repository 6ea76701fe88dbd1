package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/report"
	"tonscribe/metadata"
)

// Links besides those of the town's tokens.
const (
	linkWithDocument = `data:application/json,{"name":"Inside","symbol":"IN","image":"https://host.example/1.png"}`
	linkWithout      = "data:application/json,nothing"
)

// fetchDocuments runs the stage that fetches until every link was tried, and
// gives the link of a document on a site.
func (l *tables) fetchDocuments() (link string) {
	l.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/1" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{ "name": "Outside", "amount": 1e5, "nested": {"a": [1, "<b>"]}, "image": "`+strings.Repeat("i", 20<<10)+`" }`)
	}))
	l.Cleanup(site.Close)
	for _, link := range []string{linkWithDocument, linkWithout, site.URL + "/1", site.URL + "/2"} {
		l.exec(fmt.Sprintf("INSERT INTO metadata_links VALUES (1, '%s')", link))
	}
	c := metadata.DefaultConfiguration()
	c.AllowNetworks, c.Poll = []string{"127.0.0.1/32"}, 20*time.Millisecond
	worker, err := metadata.New(c, metadata.Dependencies{Report: report.Silent(), ClickHouse: l.client})
	if err != nil {
		l.Fatal(err)
	}
	if err := worker.Start(l.Context()); err != nil {
		l.Fatal(err)
	}
	database := &database{l.client}
	for waiting := uint64(1); waiting > 0; time.Sleep(20 * time.Millisecond) { // ClickHouse has no way to tell
		if waiting, err = database.number(l.Context(), `SELECT count() FROM (SELECT DISTINCT link FROM metadata_links)
			WHERE link NOT IN (SELECT link FROM metadata_fetches WHERE tried > 0)`); err != nil {
			l.Fatal(err)
		}
	}
	if err := worker.Stop(context.Background()); err != nil {
		l.Fatal(err)
	}
	return site.URL + "/1"
}

func (l *tables) documents(t *testing.T) {
	l = l.in(t)
	outside := l.fetchDocuments()
	for _, name := range []string{"metadata", "metadata_fetches"} {
		l.exec("OPTIMIZE TABLE " + name + " FINAL")
		l.exec("SYSTEM STOP MERGES " + name) // a damage is one more row
		defer l.exec("SYSTEM START MERGES " + name)
	}
	r, err := l.verify(only(CheckDocuments))
	if err != nil || r.check(CheckDocuments).Checked < 12 {
		t.Fatalf("%d rows were checked: %v", r.check(CheckDocuments).Checked, err)
	}
	of := func(link string) string { return "hash = SHA256('" + link + "')" }
	again := func(table, link, changes string) string {
		return fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%s) FROM (SELECT * FROM %s WHERE %s) SETTINGS insert_deduplicate = 0", table, changes, table, of(link))
	}
	without := func(table, rows string) string {
		return fmt.Sprintf("TRUNCATE TABLE %s; INSERT INTO %s SELECT * FROM saved_%s WHERE NOT (%s) SETTINGS insert_deduplicate = 0", table, table, table, rows)
	}
	another := "unhex('" + strings.Repeat("11", 32) + "') AS hash"
	for _, c := range []struct{ name, table, damage, says string }{
		{"a link that nobody has", "metadata", again("metadata", outside, "'https://a.b/c' AS link, SHA256('https://a.b/c') AS hash"), "does not have the link"},
		{"a link that nobody has is fetched", "metadata_fetches", again("metadata_fetches", linkWithout, "'data:,1' AS link, SHA256('data:,1') AS hash"), "does not have the link"},
		{"a link of a bundle to come", "metadata", without("metadata_links", "link = '"+outside+"'") + "; INSERT INTO metadata_links VALUES (1000000, '" + outside + "')", "the watermark is"},
		{"another hash", "metadata", again("metadata", outside, another), "that of the link"},
		{"another hash of a try", "metadata_fetches", again("metadata_fetches", outside, another), "that of the link"},
		{"fetched at no time", "metadata", again("metadata", outside, "0 AS fetched"), "fetched is 0"},
		{"neither document nor failure", "metadata", again("metadata", outside, "'' AS document, fetched + 1 AS fetched"), "always one of them"},
		{"document and failure", "metadata", again("metadata", outside, "'network: gone' AS failure, fetched + 1 AS fetched"), "always one of them"},
		{"an unknown failure", "metadata", again("metadata", linkWithout, "'weather: rain' AS failure, fetched + 1 AS fetched"), "none of the known reasons"},
		{"an unknown failure of a try", "metadata_fetches", again("metadata_fetches", linkWithout, "'weather: rain' AS failure, tried + 1 AS tried"), "none of the known reasons"},
		{"no JSON", "metadata", again("metadata", outside, "'{\"name\":' AS document, fetched + 1 AS fetched"), "document is none"},
		{"something after the JSON", "metadata", again("metadata", outside, "concat(document, '{}') AS document, fetched + 1 AS fetched"), "what is kept of it"},
		{"what is not kept", "metadata", again("metadata", outside, "concat('{\"image\":\"', repeat('i', 20000), '\"}') AS document, fetched + 1 AS fetched"), "what is kept of it"},
		{"another name than in the link", "metadata", again("metadata", linkWithDocument, "replace(document, 'Inside', 'Outside') AS document, fetched + 1 AS fetched"), "what is kept of it"},
		{"attempts without time", "metadata_fetches", again("metadata_fetches", linkWithout, "0 AS tried"), "never tried, but attempts"},
		{"attempts without a failure", "metadata_fetches", again("metadata_fetches", outside, "3 AS attempts, tried + 1 AS tried"), "attempts is 3, but failure"},
		{"a failure without attempts", "metadata_fetches", again("metadata_fetches", linkWithout, "0 AS attempts, tried + 1 AS tried"), "attempts is 0, but failure"},
		{"tried, and nothing came of it", "metadata_fetches", again("metadata_fetches", outside, "false AS had, tried + 1 AS tried"), "had is false"},
		{"had what is not there", "metadata_fetches", again("metadata_fetches", linkWithout, "true AS had, tried + 1 AS tried"), "had is true, but the row of table metadata"},
		{"never due", "metadata_fetches", again("metadata_fetches", outside, "4294967295 AS due, tried + 1 AS tried"), "due is never"},
		{"another lane", "metadata_fetches", again("metadata_fetches", outside, "lane + 1 AS lane, tried + 1 AS tried"), "lane is"},
		{"a document is lost", "metadata", without("metadata", of(outside)), "was tried at"},
		{"a try is lost", "metadata_fetches", without("metadata_fetches", of(outside)), "table metadata has one"},
		{"a link that is not fetched", "metadata_fetches", without("metadata_fetches", of(outside)) + "; " + without("metadata", of(outside)), "links were read up to bundle"},
		{"a link of a content is lost", "metadata_links", without("metadata_links", "mc_seqno > 1"), "a contract's content has the link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := l.in(t)
			for _, name := range []string{"metadata", "metadata_fetches", "metadata_links"} {
				defer l.save(name)()
			}
			for statement := range strings.SplitSeq(c.damage, "; ") {
				l.exec(statement)
			}
			r, err := l.verify(only(CheckDocuments))
			if !errors.Is(err, ErrDifferent) {
				t.Fatalf("nothing was found: %v", err)
			}
			for _, d := range r.check(CheckDocuments).Differences {
				if d.Table == c.table && strings.Contains(d.What, c.says) {
					return
				}
			}
			t.Errorf("differences are %v", r.check(CheckDocuments).Differences)
		})
	}
}
