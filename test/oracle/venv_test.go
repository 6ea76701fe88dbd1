package oracle

import (
	_ "embed"
	"testing"

	pythontest "tonscribe/test/support/python"
)

//go:embed requirements.txt
var requirements []byte

// python is the interpreter of a virtual environment with requirements.txt.
func python(t *testing.T) string {
	t.Helper()
	return pythontest.Interpreter(t, requirements)
}
