package apiclients

import (
	"bytes"
	_ "embed"
	"os/exec"
	"testing"

	pythontest "tonscribe/test/support/python"
)

//go:embed requirements.txt
var requirements []byte

func TestToncenterReadsEveryMethod(t *testing.T) {
	n := start(t)
	command := exec.CommandContext(t.Context(), pythontest.Interpreter(t, requirements), "testdata/toncenter_client.py")
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(n.input(t)), &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.Bytes(), problems.Bytes())
	}
	t.Logf("%s", out.Bytes())
}
