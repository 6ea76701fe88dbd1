package webhook

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// vector is a signature, and whether it is right.
type vector struct {
	Body   string // base64
	Header string
	Secret string
	want   bool
}

func vectors() []vector {
	// GitHub, "Validating webhook deliveries".
	const secret = "It's a Secret to Everybody"
	const header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	code := base64.StdEncoding.EncodeToString
	body := code([]byte("Hello, World!"))
	return []vector{
		{body, header, secret, true},
		{code([]byte("Hello, World")), header, secret, false},
		{code([]byte("Hello, World!\n")), header, secret, false},
		{body, header, secret + " ", false},
		{body, strings.ToUpper(header), secret, false},
		{body, strings.TrimPrefix(header, "sha256="), secret, false},
		{body, "sha256=", secret, false},
		{body, "", secret, false},
		{body, "sha256=2bbcfa9524f3218c7a34b30e6936f8b1a4516cb097f1a85a1c7d98b5977ec769", "", false}, // anybody signs by a secret that was not set
	}
}

// program is a snippet in another language, below what reads vectors and writes verdicts.
type program struct {
	interpreter string
	arguments   []string
}

var programs = []program{
	{"node", []string{"--input-type=module", "--eval", `
		import { readFileSync } from 'node:fs'
		import { verify } from './verify.mjs'
		console.log(JSON.stringify(JSON.parse(readFileSync(0)).map((v) => verify(Buffer.from(v.Body, 'base64'), v.Header, v.Secret))))`}},
	{"python3", []string{"-B", "-c", `
import base64, json, sys
sys.path.insert(0, ".")
from verify import verify
print(json.dumps([verify(base64.b64decode(v["Body"]), v["Header"], v["Secret"]) for v in json.load(sys.stdin)]))`}},
	{"php", []string{"-r", `
		require './verify.php';
		echo json_encode(array_map(fn($v) => verify(base64_decode($v['Body']), $v['Header'], $v['Secret']), json_decode(file_get_contents('php://stdin'), true)));`}},
}

func TestEverySnippetTellsRightSignaturesFromWrongOnes(t *testing.T) {
	t.Run("go", func(t *testing.T) {
		check(t, func(all []vector) (verdicts []bool) {
			for _, v := range all {
				body, err := base64.StdEncoding.DecodeString(v.Body)
				if err != nil {
					t.Fatal(err)
				}
				verdicts = append(verdicts, Verify(body, v.Header, v.Secret))
			}
			return verdicts
		})
	})
	for _, p := range programs {
		t.Run(p.interpreter, func(t *testing.T) {
			p.demand(t)
			check(t, func(all []vector) (verdicts []bool) {
				input, err := json.Marshal(all)
				if err != nil {
					t.Fatal(err)
				}
				command := exec.Command(p.interpreter, p.arguments...)
				command.Stdin, command.Stderr = strings.NewReader(string(input)), os.Stderr
				out, err := command.Output()
				if err != nil {
					t.Fatalf("%s: %v", p.interpreter, err)
				}
				if err := json.Unmarshal(out, &verdicts); err != nil {
					t.Fatalf("%s writes %q: %v", p.interpreter, out, err)
				}
				return verdicts
			})
		})
	}
}

// demand skips the test where the interpreter is missing.
func (p program) demand(t *testing.T) {
	if _, err := exec.LookPath(p.interpreter); err == nil {
		return
	}
	if what := p.interpreter + " is not installed"; slices.Contains(strings.Split(os.Getenv("TONSCRIBE_TEST_REQUIRE"), ","), strings.TrimRight(p.interpreter, "3")) {
		t.Fatal(what)
	} else {
		t.Skip(what)
	}
}

func check(t *testing.T, verify func([]vector) []bool) {
	t.Helper()
	all := vectors()
	verdicts := verify(all)
	if len(verdicts) != len(all) {
		t.Fatalf("%d verdicts for %d signatures", len(verdicts), len(all))
	}
	for i, v := range all {
		if verdicts[i] != v.want {
			t.Errorf("body %s with header %q by %q: %t, want %t", v.Body, v.Header, v.Secret, verdicts[i], v.want)
		}
	}
}

func TestTheHandlerAnswersByWhatBecameOfTheWebhook(t *testing.T) {
	v := vectors()[0]
	body, err := base64.StdEncoding.DecodeString(v.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, body, header string
		outcome           error
		want              int
	}{
		{"processed", string(body), v.Header, nil, http.StatusOK},
		{"not processed", string(body), v.Header, errors.New("no room"), http.StatusInternalServerError},
		{"forged", "{}", v.Header, nil, http.StatusUnauthorized},
		{"too long", strings.Repeat("a", 64<<10+1), v.Header, nil, http.StatusBadRequest},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		r.Header.Set("X-Pay-Signature", c.header)
		w := httptest.NewRecorder()
		Handler(v.Secret, func([]byte) error { return c.outcome })(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.why, w.Code, c.want)
		}
	}
}

// strangers call the handler of Node.js: one hangs up in the midst of his body, one sends
// too much, the sender does what he does, and one calls a server that was given no secret.
const strangers = `
	import http from 'node:http'
	import net from 'node:net'
	import { createHmac } from 'node:crypto'
	import { once } from 'node:events'
	import { handler } from './verify.mjs'
	const open = async (secret) => {
		const server = http.createServer(handler(secret, async () => {})).listen(0, '127.0.0.1')
		await once(server, 'listening')
		return server.address().port
	}
	const port = await open('secret')
	const rude = net.connect(port, '127.0.0.1', () => rude.write('POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 100\r\n\r\nhalf', () => rude.destroy()))
	await once(rude, 'close')
	const post = async (body, at = port) => {
		const signature = 'sha256=' + createHmac('sha256', 'secret').update(body).digest('hex')
		const answer = await fetch('http://127.0.0.1:' + at, { method: 'POST', body, headers: { 'X-Pay-Signature': signature } })
		return answer.status
	}
	console.log(JSON.stringify([await post('"' + 'a'.repeat(64 << 10) + '"'), await post('{}'), await post('no JSON'), await post('{}', await open(process.env.NO_SUCH_SECRET))]))
	process.exit()`

func TestStrangersDoNotEndTheHandlerOfNode(t *testing.T) {
	node := program{"node", []string{"--input-type=module", "--eval", strangers}}
	node.demand(t)
	command := exec.Command(node.interpreter, node.arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if want := "[400,200,500,401]"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}
