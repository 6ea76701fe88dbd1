package openapi

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	pythontest "tonscribe/test/support/python"
)

//go:embed schemathesis-requirements.txt
var schemathesisRequirements []byte

// schemathesisSeed makes a run repeatable.
const schemathesisSeed = "20"

// everyCase is which part of the cases a short run sends: one of so many of each
// operation.
const everyCase = 12

// leftOut are the checks of schemathesis that the contract does not go with:
// requests without a key are answered; what fits a pattern may still have a wrong
// checksum, and is 422; failures of lite servers are 5xx, of which
// named_server_error takes those that the document names.
const leftOut = "ignored_auth,positive_data_acceptance,not_a_server_error"

var casesOf = regexp.MustCompile(`(?m)^ *[0-9,]+ generated.*$`)

func schemathesisFindsNoDifference(t *testing.T, s *server) {
	python := pythontest.Interpreter(t, schemathesisRequirements)
	hooks, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	phases, every, limit := "coverage", everyCase, 5*time.Minute
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		phases, every, limit = "examples,coverage,fuzzing", 1, 30*time.Minute
	}
	for _, layer := range []string{"v2", "v3"} {
		t.Run(layer, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			command := exec.CommandContext(ctx, python, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", s.base+"/api/"+layer+"/openapi.json",
				"-H", "X-API-Key: "+s.key, "--phases", phases, "--checks", "all", "--exclude-checks", leftOut,
				"--continue-on-failure", "--no-color", "--seed", schemathesisSeed, "--request-timeout", "30")
			command.Dir = t.TempDir() // it leaves files
			command.Env = append(os.Environ(), "SCHEMATHESIS_HOOKS=hooks", "PYTHONPATH="+hooks, fmt.Sprintf("EVERY_CASE=%d", every))
			out, err := command.CombinedOutput()
			if err != nil {
				t.Errorf("schemathesis: %v\n%s", err, out)
			}
			t.Log(strings.TrimSpace(casesOf.FindString(string(out))))
		})
	}
}
