package devnet

import (
	"os"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// What a stage writes the others read as it is, in one process: whoever changed a record
// would change it for all of them.
func TestNoPartOfTheProcessChangesWhatAnotherReads(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	binary := harness.RaceBinary(t)
	for name, arguments := range map[string][]string{
		"a chain that is there": {"bench", "ingest", "--transactions", "6000", "--seed", "7", "--settle", "1s", "--out", t.TempDir() + "/chain"},
		"a chain that grows":    {"up", "--tps", "30", "--interval", "500ms", "--from", "1", "--to", "80"},
	} {
		t.Run(name, func(t *testing.T) {
			if arguments[0] == "up" {
				arguments = append(arguments, "--listen", harness.FreeAddress(t))
			}
			p := harness.StartBuild(t, binary, []string{"GORACE=halt_on_error=1"}, append(arguments, "--data", t.TempDir())...)
			if err := p.Wait(5 * time.Minute); err != nil || strings.Contains(p.Output(), "DATA RACE") {
				t.Fatalf("%v:\n%s", err, p.Output())
			}
		})
	}
}
