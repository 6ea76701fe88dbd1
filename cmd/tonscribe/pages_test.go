package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	silent  = regexp.MustCompile(`[^\p{L}\p{N} _-]`) // what an anchor has not of its heading
)

// linksOf are the pages, by their paths from the root, and anchors that a page leads to.
func linksOf(t *testing.T, page string) (targets []string) {
	t.Helper()
	for _, found := range link.FindAllStringSubmatch(readPage(t, page), -1) {
		file, anchor, _ := strings.Cut(found[1], "#")
		switch {
		case strings.Contains(file, "://"):
			continue
		case file == "":
			file = page
		default:
			file = filepath.Join(filepath.Dir(page), file)
		}
		targets = append(targets, file+"#"+anchor)
	}
	return targets
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLinksOfThePagesLeadSomewhereAndTheReadmeLeadsToEveryPage(t *testing.T) {
	pages := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%d pages in docs (%v)", len(found), err)
	}
	anchors, fromReadme := map[string]bool{}, strings.Join(linksOf(t, "README.md"), "\n")
	for _, path := range found {
		page := filepath.Join("docs", filepath.Base(path))
		if pages = append(pages, page); !strings.Contains(fromReadme, page+"#") {
			t.Errorf("README.md does not lead to %s", page)
		}
	}
	for _, page := range pages {
		anchors[page+"#"] = true
		for _, h := range heading.FindAllStringSubmatch(readPage(t, page), -1) {
			anchors[page+"#"+strings.ReplaceAll(silent.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
		}
	}
	for _, page := range pages {
		for _, target := range linksOf(t, page) {
			if !anchors[target] {
				t.Errorf("%s leads to %s, which is not there", page, target)
			}
		}
	}
}
