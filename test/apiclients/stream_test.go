package apiclients

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet"
	"tonscribe/test/support/harness"
	pythontest "tonscribe/test/support/python"
)

// indexed is an indexed devnet, and an API key of it.
func indexed(t *testing.T) (base, key string) {
	t.Helper()
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base = "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--seed", strconv.Itoa(seed), "--interval", "500ms", "--tps", "20")
	p.AwaitReady(base, time.Minute)
	text, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	return base, strings.TrimSpace(string(text))
}

// norm is the normalised hash of a message from outside (TEP-467).
func norm(t *testing.T, message string) string {
	t.Helper()
	boc, err := base64.StdEncoding.DecodeString(message)
	if err != nil {
		t.Fatal(err)
	}
	var parsed tlb.Message
	if err := tlb.Parse(&parsed, must[*cell.Cell](t)(cell.FromBOC(boc))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(parsed.AsExternalIn().NormalizedHash())
}

func raw(a *address.Address) string { return strings.ToUpper(a.StringRaw()) }

func TestToncenterReadsStreams(t *testing.T) {
	interpreter := pythontest.Interpreter(t, requirements)
	base, key := indexed(t)
	from, to := devnet.OwnerOf(seed, 1).Address(0), devnet.OwnerOf(seed, 4).Address(0)
	message, _ := transfer(t, devnet.OwnerOf(seed, 1), devnet.OwnerOf(seed, 4))
	input, err := json.Marshal(map[string]string{
		"base": base, "key": key, "wallet": from.String(), "receiver": to.String(), "raw_wallet": raw(from), "raw_receiver": raw(to),
		"message": message, "norm": norm(t, message),
	})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), interpreter, "testdata/toncenter_stream.py")
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.Bytes(), problems.Bytes())
	}
	t.Logf("%s", out.Bytes())
}
