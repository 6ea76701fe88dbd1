package apiclients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/devnet"
	"tonscribe/test/support/harness"
	pythontest "tonscribe/test/support/python"
)

func TestToncenterReadsTheIndex(t *testing.T) {
	interpreter := pythontest.Interpreter(t, requirements)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--seed", strconv.Itoa(seed), "--interval", "1s", "--tps", "40")
	p.AwaitReady(base, time.Minute)
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	from, to := devnet.OwnerOf(seed, 1), devnet.OwnerOf(seed, 4)
	message, body := transfer(t, from, to)
	input, err := json.Marshal(map[string]string{
		"base": base, "key": strings.TrimSpace(string(key)), "wallet": from.Address(0).String(), "receiver": to.Address(0).String(),
		"jetton": devnet.OwnersJetton(seed).Address(0).String(), "collection": devnet.OwnersCollection(seed).Address(0).String(),
		"message": message, "body": body,
	})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), interpreter, "testdata/toncenter_index.py")
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.Bytes(), problems.Bytes())
	}
	t.Logf("%s", out.Bytes())
}
