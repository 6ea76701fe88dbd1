// Package browser looks at pages in a real browser, Chromium without a window,
// which it drives over a pipe. Nothing of it goes into the product.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// answerLimit is for one command; a page of ours needs milliseconds.
const answerLimit = time.Minute

// Browser is a running Chromium.
type Browser struct {
	t    testing.TB
	into *os.File

	mu       sync.Mutex
	next     int
	waiting  map[int]chan reply
	problems []string
	closed   chan struct{}
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Start starts Chromium. The test is skipped where it is missing.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := find()
	if program == "" {
		const what = "chromium is not installed (on Debian: apt-get install chromium)"
		if slices.Contains(strings.Split(os.Getenv("TONSCRIBE_TEST_REQUIRE"), ","), "chromium") {
			t.Fatal(what)
		}
		t.Skip("no browser to look with: " + what)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(t.TempDir(), "profile"), "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars", "--window-size=1280,900",
	}
	if os.Getuid() == 0 {
		arguments = append(arguments, "--no-sandbox") // which Chromium refuses to root
	}
	command := exec.Command(program, arguments...)
	command.ExtraFiles = []*os.File{theirs, theirAnswers} // 3 and 4, as the switch wants them
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	_ = theirAnswers.Close()
	b := &Browser{t: t, into: ours, waiting: map[int]chan reply{}, closed: make(chan struct{})}
	go b.read(answers)
	t.Cleanup(func() {
		_ = ours.Close() // Chromium ends with its pipe
		ended := make(chan struct{})
		go func() {
			_ = command.Wait()
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = command.Process.Kill()
			<-ended
		}
		<-b.closed
	})
	return b
}

func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// read takes messages, each of which ends with a zero byte.
func (b *Browser) read(from *os.File) {
	defer close(b.closed)
	defer from.Close()
	reader := bufio.NewReader(from)
	for {
		text, err := reader.ReadBytes(0)
		if err != nil {
			return
		}
		var message struct {
			ID     int
			Method string
			Params json.RawMessage
			reply
		}
		if json.Unmarshal(text[:len(text)-1], &message) != nil {
			continue
		}
		b.mu.Lock()
		if waiting := b.waiting[message.ID]; message.ID != 0 && waiting != nil {
			waiting <- message.reply
			delete(b.waiting, message.ID)
		}
		if message.Method == "Runtime.exceptionThrown" || message.Method == "Log.entryAdded" && strings.Contains(string(message.Params), `"level":"error"`) {
			b.problems = append(b.problems, string(message.Params))
		}
		b.mu.Unlock()
	}
}

// Problems are the exceptions and errors of the pages so far: also requests that
// were refused or not answered with success.
func (b *Browser) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.problems)
}

// call sends a command of the DevTools protocol and reads its result.
func (b *Browser) call(session, method string, parameters, result any) {
	b.t.Helper()
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.next++
	id := b.next
	b.waiting[id] = answer
	b.mu.Unlock()
	command := map[string]any{"id": id, "method": method, "params": parameters}
	if session != "" {
		command["sessionId"] = session
	}
	text, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.into.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result == nil {
			return
		}
		if err := json.Unmarshal(r.Result, result); err != nil {
			b.t.Fatalf("%s: %v in %s", method, err, r.Result)
		}
	case <-b.closed:
		b.t.Fatalf("%s: the browser has ended", method)
	case <-time.After(answerLimit):
		b.t.Fatalf("%s: no answer within %s", method, answerLimit)
	}
}

// Page is an open page.
type Page struct {
	browser *Browser
	session string
}

// Open opens an address.
func (b *Browser) Open(url string) *Page {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &Page{browser: b, session: attached.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		p.call(domain+".enable", map[string]any{}, nil)
	}
	p.Go(url)
	return p
}

func (p *Page) call(method string, parameters, result any) {
	p.browser.t.Helper()
	p.browser.call(p.session, method, parameters, result)
}

// Go opens another address in the page.
func (p *Page) Go(url string) {
	p.browser.t.Helper()
	var outcome struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &outcome)
	if outcome.ErrorText != "" {
		p.browser.t.Fatalf("%s: %s", url, outcome.ErrorText)
	}
}

// Size sets the size of the window, and whether the reader prefers dark colours.
func (p *Page) Size(width, height int, dark bool) {
	p.browser.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Offline takes the page's connections away, and gives them back.
func (p *Page) Offline(offline bool) {
	p.browser.t.Helper()
	p.call("Network.enable", map[string]any{}, nil)
	p.call("Network.emulateNetworkConditions", map[string]any{"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
}

// Block lets no request reach addresses that match patterns with *; without any it ends.
func (p *Page) Block(patterns ...string) {
	p.browser.t.Helper()
	p.call("Network.enable", map[string]any{}, nil)
	p.call("Network.setBlockedURLs", map[string]any{"urls": append([]string{}, patterns...)}, nil)
}

// Eval evaluates JavaScript, waits for a promise, and reads its value, which may
// be left out.
func (p *Page) Eval(script string, value any) {
	p.browser.t.Helper()
	var outcome struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	p.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &outcome)
	if outcome.ExceptionDetails != nil {
		p.browser.t.Fatalf("%s: %s", script, outcome.ExceptionDetails)
	}
	if value == nil {
		return
	}
	if err := json.Unmarshal(outcome.Result.Value, value); err != nil {
		p.browser.t.Fatalf("%s: %v in %s", script, err, outcome.Result.Value)
	}
}

// Await returns when an expression of JavaScript is true.
func (p *Page) Await(expression string) {
	p.browser.t.Helper()
	deadline := time.Now().Add(answerLimit)
	for {
		var holds bool
		p.Eval("Boolean("+expression+")", &holds)
		if holds {
			return
		}
		if time.Now().After(deadline) {
			var text string
			p.Eval("document.body.innerText", &text)
			p.browser.t.Fatalf("never came true: %s; the page shows %.2000s", expression, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// keyCodes of keys that write nothing, as Chromium wants them beside their names.
var keyCodes = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}

// Press presses a key and lets it go, where the focus is.
func (p *Page) Press(key string) {
	p.browser.t.Helper()
	code, known := keyCodes[key]
	if !known {
		p.browser.t.Fatalf("no such key: %s", key)
	}
	event := map[string]any{"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code}
	switch key {
	case "Enter":
		event["text"] = "\r"
	case "Space":
		event["key"], event["text"] = " ", " "
	}
	p.call("Input.dispatchKeyEvent", event, nil)
	event["type"] = "keyUp"
	delete(event, "text")
	p.call("Input.dispatchKeyEvent", event, nil)
}

// Type writes text where the focus is, over what is there.
func (p *Page) Type(text string) {
	p.browser.t.Helper()
	p.Eval(`document.activeElement.select?.()`, nil)
	p.call("Input.insertText", map[string]any{"text": text}, nil)
}

// Text is the text of the first element that a selector finds.
func (p *Page) Text(selector string) (text string) {
	p.browser.t.Helper()
	p.Eval(fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector), &text)
	return text
}

// Screenshot is the visible part as a PNG.
func (p *Page) Screenshot() []byte {
	p.browser.t.Helper()
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		p.browser.t.Fatal(err)
	}
	return data
}
