package apiclients

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	"tonscribe/test/browser"
	"tonscribe/test/support/harness"
	pythontest "tonscribe/test/support/python"
)

// indexed is an indexed devnet, and an API key of it.
func indexed(t *testing.T) (base, key string) {
	t.Helper()
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base = "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--seed", strconv.Itoa(seed), "--interval", "1s", "--tps", "20")
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

func TestStreamsServeClientsAndExamples(t *testing.T) {
	base, key := indexed(t)
	t.Run("toncenter", func(t *testing.T) { toncenterReadsStreams(t, base, key) })
	const busy = "-1:3333333333333333333333333333333333333333333333333333333333333333" // the elector, which every masterchain block calls
	example := func(language string) string {
		return strings.NewReplacer("http://localhost:8081", base, "ws://localhost:8081", "ws"+strings.TrimPrefix(base, "http"), "YOUR_KEY", key, "YOUR_ADDRESS", busy).
			Replace(exampleIn(t, "../../docs/streaming.md", language))
	}
	t.Run("Python", func(t *testing.T) {
		file := written(t, "example.py", example("python"))
		prints(t, exec.CommandContext(t.Context(), pythontest.Interpreter(t, requirements), file), balances...)
	})
	t.Run("Go", func(t *testing.T) {
		program := filepath.Join(t.TempDir(), "example")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", program, written(t, "main.go", example("go")))
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		prints(t, exec.CommandContext(t.Context(), program), balances...)
	})
	t.Run("browser", func(t *testing.T) {
		b := browser.Start(t)
		page := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(written(t, "index.html", example("html"))))))
		defer page.Close()
		p := b.Open(page.URL + "/index.html")
		p.Await(`document.getElementById("log")?.textContent.startsWith("balance ")`)
		// The same by fetch, as pages read streams that are answered to a POST.
		p.Eval(fmt.Sprintf(`fetch("%s/api/streaming/v2/sse", {method: "POST", headers: {"X-API-Key": "%s", "Content-Type": "application/json"}, body: JSON.stringify({types: ["account_state_change"], addresses: [address], replay_existing: true})})
			.then(async answer => {
				const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
				for (window.got = ""; !window.got.includes("account_state_change"); ) window.got += (await reader.read()).value
				reader.cancel()
			}) && 1`, base, key), nil)
		p.Await(`window.got?.startsWith("event: connected\ndata: {\"status\":\"subscribed\"") && window.got.includes("account_state_change")`)
	})
}

func TestTheExampleInPythonGoesOnAfterAConnectionThatBrokeAmidAnEvent(t *testing.T) {
	const event = "event: event\ndata: {\"type\":\"account_state_change\",\"position\":\"%d-1\",\"state\":{\"balance\":\"%[1]d\"}}\n\n"
	asked := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var wanted struct{ From string }
		if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
			t.Error(err)
		}
		asked <- wanted.From
		if wanted.From != "" {
			fmt.Fprintf(w, event, 6)
			return
		}
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		whole, half := fmt.Sprintf(event, 5), fmt.Sprintf(event, 6)
		fmt.Fprintf(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s", len(whole), whole, len(half), half[:len(half)/2])
	}))
	defer server.Close()
	code := strings.ReplaceAll(exampleIn(t, "../../docs/streaming.md", "python"), "http://localhost:8081", server.URL)
	command := exec.CommandContext(t.Context(), pythontest.Interpreter(t, requirements), "-u", written(t, "example.py", code))
	prints(t, command, "balance 5 at 5-1", "again behind 5-1 ", "balance 6 at 6-1")
	if first, second := <-asked, <-asked; first != "" || second != "5-1" {
		t.Errorf("it asks from %q and %q, want nothing and 5-1", first, second)
	}
}

// exampleIn is the code of a language on a page.
func exampleIn(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```"+language+"\n")
	code, _, ends := strings.Cut(after, "```")
	if !found || !ends {
		t.Fatalf("%s has no example in %s", page, language)
	}
	return code
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// balances are what an example prints of a chain that goes on.
var balances = []string{"balance ", "balance ", "balance "}

// prints returns when an example has printed lines that begin with these texts.
func prints(t *testing.T, command *exec.Cmd, texts ...string) {
	t.Helper()
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}()
	lines := bufio.NewScanner(out)
	for _, want := range texts {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("the example prints %q, want %q\n%s", lines.Text(), want, problems.Bytes())
		}
	}
}

func toncenterReadsStreams(t *testing.T, base, key string) {
	interpreter := pythontest.Interpreter(t, requirements)
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
