package devnet

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/harness"
)

// sender is a funded wallet of the devnet that sends through the API.
type sender struct {
	*testing.T
	devnet.Owner
	base, key string
}

func newSender(t *testing.T, base, data string, owner int) *sender {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	return &sender{t, devnet.OwnerOf(seed, owner), base, strings.TrimSpace(string(key))}
}

// message signs an order with the wallet's next number.
func (s *sender) message(messages ...contracts.Message) *cell.Cell {
	s.Helper()
	var states struct {
		Wallets []struct{ Seqno uint32 }
	}
	harness.Await(s, startLimit, func() bool { // the first bundles have no wallets yet
		harness.GetJSON(s, s.base+"/api/v3/walletStates?address="+raw(s.Owner), &states)
		return len(states.Wallets) == 1
	}, func() string { return fmt.Sprintf("%d states of wallet %s", len(states.Wallets), raw(s.Owner)) })
	m, err := s.External(0, s.Key, contracts.Order{Messages: messages, Seqno: states.Wallets[0].Seqno, ValidUntil: uint32(time.Now().Unix()) + 600})
	if err != nil {
		s.Fatal(err)
	}
	return m
}

// post asks an endpoint and gives its status and answer.
func (s *sender) post(path, body string) (int, string) {
	s.Helper()
	status, text, err := harness.Post(s.Context(), s.base+path, s.key, []byte(body))
	if err != nil {
		s.Fatal(err)
	}
	return status, string(text)
}

// send sends a message by one of the ways and gives its hash and its normalised hash.
func (s *sender) send(way int, m *cell.Cell) (hash, normal string) {
	s.Helper()
	boc := base64.StdEncoding.EncodeToString(m.ToBOC())
	path := []string{"/api/v2/sendBoc", "/api/v3/message", "/api/v2/jsonRPC", "/api/v2/sendBocReturnHash"}[way%4]
	body := `{"boc":"` + boc + `"}`
	if path == "/api/v2/jsonRPC" {
		body = `{"jsonrpc":"2.0","id":1,"method":"sendBoc","params":` + body + `}`
	}
	if status, text := s.post(path, body); status != http.StatusOK {
		s.Fatalf("%s: %d %s", path, status, text)
	}
	h := m.HashKey()
	return base64.StdEncoding.EncodeToString(h[:]), normalHash(s.T, m)
}

// normalHash is the hash of TEP-467, made here by its text.
func normalHash(t *testing.T, m *cell.Cell) string {
	t.Helper()
	r, err := m.BeginParse()
	if err != nil {
		t.Fatal(err)
	}
	if tag := r.MustLoadUInt(4); tag != 0b1000 {
		t.Fatalf("the message begins with %b", tag)
	}
	to := r.MustLoadSlice(267)
	if r.MustLoadUInt(4) != 0 {
		t.Fatal("the message has an import fee")
	}
	if r.MustLoadBoolBit() { // init
		t.Fatal("the message has a StateInit")
	}
	var body *cell.Cell
	if inRef := r.MustLoadBoolBit(); inRef {
		body = r.MustLoadRef().MustToCell()
	} else {
		body = r.MustToCell()
	}
	h := cell.BeginCell().MustStoreUInt(0b1000, 4).MustStoreSlice(to, 267).MustStoreUInt(0, 4).MustStoreUInt(0b01, 2).MustStoreRef(body).EndCell().HashKey()
	return base64.StdEncoding.EncodeToString(h[:])
}

// comingTrace is a trace of /pendingTraces or /traces.
type comingTrace struct {
	ID       *string `json:"trace_id"`
	External string  `json:"external_hash"`
	Info     struct {
		State    string `json:"trace_state"`
		Messages int
		Nodes    int `json:"transactions"`
		Pending  int `json:"pending_messages"`
	} `json:"trace_info"`
	Actions []struct {
		sentAction
		External string `json:"trace_external_hash"`
		Normal   string `json:"trace_external_hash_norm"`
		Finality string
		Accounts []string
	}
	Order []string `json:"transactions_order"`
	By    map[string]struct {
		Account     string
		Hash        string
		LT          string
		Now         uint32
		Seqno       int    `json:"mc_block_seqno"`
		External    string `json:"trace_external_hash"`
		Emulated    bool
		Finality    string
		Description map[string]any
		In          struct {
			Value    *string
			Opcode   *string
			Contents struct{ Hash string } `json:"message_content"`
		} `json:"in_msg"`
	} `json:"transactions"`
}

type comingTraces struct{ Traces []comingTrace }

// coming asks for the pending trace of a message, nil for none.
func (s *sender) coming(hash string) *comingTrace {
	s.Helper()
	var found comingTraces
	harness.GetJSON(s, s.base+"/api/v3/pendingTraces?ext_msg_hash="+url.QueryEscape(hash), &found)
	if len(found.Traces) == 0 {
		return nil
	}
	return &found.Traces[0]
}

// awaitComing awaits it and tells how long it took. It is nil where all of it came
// before anybody looked, which a busy machine may bring about.
func (s *sender) awaitComing(hash string) (*comingTrace, time.Duration) {
	s.Helper()
	began := time.Now()
	for {
		if c := s.coming(hash); c != nil {
			return c, time.Since(began)
		}
		var found comingTraces
		harness.GetJSON(s, s.base+"/api/v3/traces?msg_hash="+url.QueryEscape(hash), &found)
		if len(found.Traces) == 1 && found.Traces[0].Info.State == "complete" {
			return nil, 0
		}
		if time.Since(began) > startLimit {
			s.Fatalf("the message %s is not seen pending", hash)
		}
		time.Sleep(time.Millisecond)
	}
}

// come awaits the trace of the index.
func (s *sender) come(hash string) *comingTrace {
	s.Helper()
	var found comingTraces
	harness.Await(s, startLimit, func() bool {
		harness.GetJSON(s, s.base+"/api/v3/traces?include_actions=true&msg_hash="+url.QueryEscape(hash), &found)
		return len(found.Traces) == 1 && found.Traces[0].Info.State == "complete"
	}, func() string { return "the message " + hash + " does not become a trace" })
	return &found.Traces[0]
}

// shapes is what a trace's transactions are, without what only a block decides.
func (c *comingTrace) shapes() (list []string) {
	for _, tx := range c.By {
		text := func(p *string) string {
			if p == nil {
				return "-"
			}
			return *p
		}
		value := text(tx.In.Value)
		if text(tx.In.Opcode) == "0xd53276db" { // excesses: rent is by the second
			value = "the rest"
		}
		list = append(list, fmt.Sprint(tx.Account, " ", text(tx.In.Opcode), " ", value, " ", tx.In.Contents.Hash))
	}
	slices.Sort(list)
	return list
}

func (c *comingTrace) types() (list []string) {
	for _, a := range c.Actions {
		list = append(list, fmt.Sprint(a.Type, " ", a.Success, " ", a.Details["amount"], " ", a.Details["value"]))
	}
	slices.Sort(list)
	return list
}

// A message is seen before a block has it, under the id that it keeps; what is
// foreseen of it is what comes; and it is not pending any more when all of it came.
func TestWhatIsSentIsSeenPendingAndThenComes(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--tps", "0", "--interval", "250ms")
	p.AwaitReady(base, startLimit)
	s, to := newSender(t, base, data, 1), devnet.OwnerOf(seed, 6)
	for _, c := range []struct {
		what   string
		action string
		order  func(n int) contracts.Message
	}{
		{"TON", "ton_transfer", func(n int) contracts.Message {
			return contracts.Message{To: to.Address(0), Value: big.NewInt(1_500_000_000 + int64(n)), Body: cell.BeginCell().EndCell()}
		}},
		{"jettons", "jetton_transfer", func(n int) contracts.Message {
			wallet := devnet.OwnersJetton(seed).Wallet(0, s.Address(0)).Address(0)
			return contracts.Message{To: wallet, Value: big.NewInt(200_000_000), Body: contracts.JettonTransferBody(contracts.JettonTransfer{
				QueryID: uint64(n), Amount: big.NewInt(7), Destination: to.Address(0), Response: s.Address(0), ForwardValue: big.NewInt(1)})}
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newSender(t, base, data, 1)
			var took []time.Duration
			same, whole, sent := 0, 0, 0
			for n := 0; n < 4 || (same == 0 || whole == 0) && n < 40; n++ {
				// A block has the time of its second: messages are sent at any moment of one.
				time.Sleep(time.Duration(n*3%10) * 100 * time.Millisecond)
				message := s.message(c.order(n))
				hash, normal := s.send(n, message)
				sent++
				foreseen, after := s.awaitComing([]string{hash, normal}[n%2])
				if foreseen == nil {
					continue
				}
				took = append(took, after)
				s.checkComing(foreseen, hash, normal)
				s.checkLists(foreseen, to, c.action)
				came := s.come([]string{normal, hash}[n%2])
				if came.External != hash || came.Actions[0].Normal != foreseen.Actions[0].Normal {
					t.Errorf("trace %s came with the message %s, it was %s", *came.ID, came.External, hash)
				}
				if got, want := foreseen.shapes(), came.shapes(); !slices.Equal(got, want) {
					t.Errorf("foreseen\n%s\ncame\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if got, want := foreseen.types(), came.types(); !slices.Equal(got, want) || len(got) == 0 {
					t.Errorf("foreseen actions %q, came %q", got, want)
				}
				if left := s.coming(hash); left != nil {
					t.Errorf("the trace came, and is still pending: %+v", left)
				}
				equal := s.compare(foreseen, came)
				if same += equal; equal == len(came.By) {
					whole++
				}
			}
			if same == 0 || whole == 0 {
				t.Errorf("of %d messages %d transactions were foreseen as they came, of %d messages all; want one at least", len(took), same, whole)
			}
			t.Logf("%d of %d seen pending, %v after the answer to who sent it; %d transactions had the hashes that were foreseen, of %d messages all", len(took), sent, took, same, whole)
		})
	}
	p.Stop()
}

// checkComing checks what pending traces say of themselves.
func (s *sender) checkComing(c *comingTrace, hash, normal string) {
	s.Helper()
	if c.External != hash || c.Info.State != "pending" || c.Info.Nodes != len(c.Order) || len(c.By) != len(c.Order) || c.Info.Pending == 0 {
		s.Errorf("pending trace of %s: %+v", hash, c)
	}
	for _, a := range c.Actions {
		if a.External != hash || normal != hash && a.Normal != normal || len(a.Accounts) == 0 {
			s.Errorf("action %+v, want one of message %s (%s)", a, hash, normal)
		}
	}
	emulated := 0
	for _, tx := range c.By {
		if tx.External != hash {
			s.Errorf("transaction of message %s, want %s", tx.External, hash)
		}
		if !tx.Emulated {
			continue
		}
		emulated++
		_, tock := tx.Description["is_tock"]
		_, installed := tx.Description["installed"]
		if tx.Finality != "pending" || tx.Seqno != 0 || tx.Description["type"] != "ord" || !tock || !installed {
			s.Errorf("pending transaction %+v", tx)
		}
	}
	if emulated == len(c.By) && c.ID != nil {
		s.Errorf("nothing has come of trace %s, want no id", *c.ID)
	}
}

// checkLists checks that lists by account have what is coming, if it has not come.
func (s *sender) checkLists(c *comingTrace, to devnet.Owner, action string) {
	s.Helper()
	var actions struct {
		Actions []struct {
			Type     string
			Finality string
			External string `json:"trace_external_hash"`
			Accounts []string
			Full     []struct{ Emulated bool } `json:"transactions_full"`
		}
	}
	harness.GetJSON(s, s.base+"/api/v3/pendingActions?include_transactions=true&account="+raw(to), &actions)
	for _, a := range actions.Actions {
		if !slices.Contains(a.Accounts, raw(to)) || len(a.Full) == 0 || a.External != c.External {
			s.Errorf("pending action %+v, want one of %s with transactions", a, raw(to))
		}
		if foreseen := slices.ContainsFunc(a.Full, func(tx struct{ Emulated bool }) bool { return tx.Emulated }); foreseen != (a.Finality == "pending") {
			s.Errorf("an action with transactions %+v is %s", a.Full, a.Finality)
		}
	}
	status, body, err := harness.Get(s.base + "/api/v3/pendingTransactions?account=" + raw(to))
	if err != nil {
		s.Fatal(err)
	}
	var transactions struct {
		Transactions []struct {
			Account  string
			Emulated bool
		}
	}
	if status == http.StatusOK {
		if err := json.Unmarshal(body, &transactions); err != nil {
			s.Fatal(err)
		}
		for _, tx := range transactions.Transactions {
			if tx.Account != raw(to) || !tx.Emulated {
				s.Errorf("pending transaction %+v, want those of %s", tx, raw(to))
			}
		}
	} else if !bytes.Contains(body, []byte("emulated traces not found")) || s.coming(c.External) != nil {
		s.Errorf("pending transactions of %s: %d %s", raw(to), status, body)
	} else {
		return // it came meanwhile
	}
	if len(actions.Actions) == 0 || !slices.ContainsFunc(actions.Actions, func(a struct {
		Type     string
		Finality string
		External string `json:"trace_external_hash"`
		Accounts []string
		Full     []struct{ Emulated bool } `json:"transactions_full"`
	}) bool {
		return a.Type == action
	}) {
		s.Errorf("pending actions %+v, want a %s", actions.Actions, action)
	}
}

// compare counts the transactions that are as they were foreseen, and checks that the
// first one is if its lt and its time are.
func (s *sender) compare(foreseen, came *comingTrace) (same int) {
	s.Helper()
	for hash := range came.By {
		if _, is := foreseen.By[hash]; is {
			same++
		}
	}
	root, guess := came.By[came.Order[0]], foreseen.By[foreseen.Order[0]]
	if root.LT == guess.LT && root.Now == guess.Now && root.Hash != guess.Hash {
		s.Errorf("the transaction %s was foreseen at the same lt and time with the hash %s", root.Hash, guess.Hash)
	}
	return same
}

// What nobody accepts is never shown.
func TestWhatIsRefusedIsNotPending(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--tps", "0", "--interval", "300ms")
	p.AwaitReady(base, startLimit)
	s := newSender(t, base, data, 2)
	m, err := s.External(0, s.Key, contracts.Order{Seqno: 77, ValidUntil: uint32(time.Now().Unix()) + 600,
		Messages: []contracts.Message{{To: s.Address(0), Value: big.NewInt(1), Body: cell.BeginCell().EndCell()}}})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := s.post("/api/v2/sendBoc", `{"boc":"`+base64.StdEncoding.EncodeToString(m.ToBOC())+`"}`); status == http.StatusOK {
		t.Fatalf("a message with a wrong number: %d %s", status, text)
	}
	h := m.HashKey()
	if got := s.coming(hex.EncodeToString(h[:])); got != nil {
		t.Errorf("it is pending: %+v", got)
	}
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"pendingTraces":       {422, "account or ext_msg_hash should be specified"},
		"pendingActions":      {422, "account or ext_msg_hash should be specified"},
		"pendingTransactions": {422, "at least 1 account address required"},
		"pendingTransactions?account=" + raw(s.Owner):             {404, "emulated traces not found"},
		"pendingTraces?account=" + raw(s.Owner):                   {200, `"traces":[]`},
		"pendingActions?account=" + raw(s.Owner):                  {200, `"actions":[]`},
		"pendingActions?ext_msg_hash=" + hex.EncodeToString(h[:]): {200, `"actions":[]`},
	} {
		status, body, err := harness.Get(base + "/api/v3/" + path)
		if err != nil || status != want.status || !strings.Contains(string(body), want.text) {
			t.Errorf("%s: %d %s (%v), want %d %s", path, status, body, err, want.status, want.text)
		}
	}
	p.Stop()
}
