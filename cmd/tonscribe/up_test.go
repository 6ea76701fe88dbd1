package main

import (
	"os/exec"
	"strings"
	"testing"

	"tonscribe/ingest"
)

func TestWhatIsNotVisibleYetIsTold(t *testing.T) {
	for _, c := range []struct {
		what           string
		want           ingest.Status
		visible, slack uint32
		says           string
	}{
		{"a range that is visible", ingest.Status{From: 1, To: 9, Published: 9, Passed: 9, SourceLast: 20, Done: true}, 9, 0, ""},
		{"a range that is not visible yet", ingest.Status{From: 1, To: 9, Published: 9, Passed: 9, SourceLast: 20, Done: true}, 8, 0, "shows masterchain block 8 of 9"},
		{"a range that ends with a gap", ingest.Status{From: 1, To: 9, Published: 7, Passed: 9, SourceLast: 20, Gaps: 2, Done: true}, 7, 0, ""},
		{"a range of which all was skipped", ingest.Status{From: 1, To: 9, Passed: 9, SourceLast: 20, Gaps: 9, Done: true}, 0, 0, ""},
		{"a range that is read", ingest.Status{From: 1, To: 9, Published: 4, Passed: 4, SourceLast: 20}, 4, 0, "5 masterchain blocks are still"},
		{"a range that was skipped up to here", ingest.Status{From: 1, To: 9, Passed: 4, SourceLast: 20, Gaps: 4}, 0, 0, "5 masterchain blocks are still"},
		{"a block that is waited for", ingest.Status{From: 1, Published: 4, Passed: 4, SourceLast: 4, Waiting: "block 5 is missing"}, 4, 0, "block 5 is missing"},
		{"a source that ends before the log", ingest.Status{From: 5, Published: 4, Passed: 4, SourceLast: 3}, 4, 0, "the source ends with masterchain block 3, and 5 comes next"},
		{"a chain that goes on", ingest.Status{From: 1, Published: 13, Passed: 13, SourceLast: 20}, 4, 10, ""},
		{"a chain that has gone on", ingest.Status{From: 1, Published: 9, Passed: 9, SourceLast: 20}, 9, 10, "11 masterchain blocks are still"},
	} {
		err := behind(c.want, c.visible, c.slack)
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.what, err, c.says)
		}
	}
}

func TestAFolderIsOneWordOfACommandThatIsPrinted(t *testing.T) {
	for folder, plain := range map[string]bool{
		"/data/my-index_1.2": true, "/data/übung": true, "/my data": false, "/it's $HOME": false, "~/a;b": false, "/a*(b)": false, "/a\\b\"c": false,
	} {
		word := shellWord(folder)
		if got, err := exec.Command("sh", "-c", "printf '%s|' "+word).Output(); err != nil || string(got) != folder+"|" {
			t.Errorf("%s: the shell takes %s for %q, %v", folder, word, got, err)
		}
		if (word == folder) != plain {
			t.Errorf("%s is printed as %s", folder, word)
		}
	}
}
