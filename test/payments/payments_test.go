// Package payments lets a shop be paid on a devnet: it registers transfers with the
// client library of shops, a wallet signs and sends them, and its receiver takes webhooks.
package payments

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/harness"
	nodetest "tonscribe/test/support/node"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/receiver"
)

const seed = 11

// made is what the library answers to a new transfer.
type made struct {
	Message struct {
		Address string `json:"address"`
		Amount  string `json:"amount"`
		Payload string `json:"payload"`
	} `json:"message"`
	BodyBase64Hash string `json:"bodyBase64Hash"`
	Reference      string `json:"reference"`
}

// book keeps a shop's orders in memory.
type book struct {
	mutex  sync.Mutex
	orders map[string]*receiver.Order
	paid   map[string]*event.Event
	failed map[string]*event.Event
}

func (b *book) Find(_ context.Context, reference string) (*receiver.Order, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.orders[reference], nil
}

func (b *book) Pay(_ context.Context, e *event.Event) (bool, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	first := b.paid[e.Data.Reference] == nil
	b.paid[e.Data.Reference] = e
	b.orders[e.Data.Reference].Paid = true
	return first, nil
}

func (b *book) Fail(_ context.Context, e *event.Event) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.failed[e.Data.Reference] = e
	return nil
}

func (b *book) ended(reference string) *event.Event {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if e := b.paid[reference]; e != nil {
		return e
	}
	return b.failed[reference]
}

// shop is a merchant of a running tonscribe.
type shop struct {
	testing.TB
	base, key, token string
	data             string
	owners           string // API key of who runs it
	payer            *payer
	recipient        string
	orders           *book
	shipped          sync.Map
}

// payer is a funded wallet, and how many messages from outside it has obeyed.
type payer struct {
	devnet.Owner
	seqno uint32
}

func payerOf(index int) *payer { return &payer{Owner: devnet.OwnerOf(seed, index)} }

func open(t testing.TB, interval time.Duration) *shop {
	t.Helper()
	nodetest.Modules(t)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	s := &shop{TB: t, base: "http://" + listen, data: data, payer: payerOf(1), recipient: devnet.OwnerOf(seed, 4).Address(0).String(),
		orders: &book{orders: map[string]*receiver.Order{}, paid: map[string]*event.Event{}, failed: map[string]*event.Event{}}}
	p := harness.Start(t, []string{"TONSCRIBE_WEBHOOKS_SEND_ALLOW_HTTP=true", "TONSCRIBE_WEBHOOKS_SEND_ALLOW_NETWORKS=127.0.0.0/8"},
		"up", "--data", data, "--listen", listen, "--seed", strconv.Itoa(seed), "--interval", interval.String(), "--tps", "5")
	t.Cleanup(p.Stop) // its engine ends before the folder does
	p.AwaitReady(s.base, time.Minute)
	out, err := exec.CommandContext(t.Context(), harness.Binary(t), "merchants", "add", "shop", "--json", "--data", data).Output()
	if err != nil {
		t.Fatalf("merchants add: %v", err)
	}
	var added struct{ Key, Token string }
	if err := json.Unmarshal(out, &added); err != nil {
		t.Fatal(err)
	}
	s.key, s.token = added.Key, added.Token
	owners, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	s.owners = strings.TrimSpace(string(owners))
	r := &receiver.Receiver{Orders: s.orders, Log: zerolog.Nop(), Process: func(_ context.Context, e *event.Event) { s.shipped.Store(e.Data.Reference, true) }}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	s.ask(http.MethodPut, "webhook", map[string]any{"url": server.URL + "/hook", "enabled": true, "signing": "secret"}, nil)
	var revealed struct{ Secret string }
	s.ask(http.MethodPost, "webhook/secret/reveal", nil, &revealed)
	r.Secrets = []string{revealed.Secret}
	return s
}

// ask asks the merchant's API with the shop's key.
func (s *shop) ask(method, path string, body, into any) {
	s.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		content = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(s.Context(), method, s.base+"/api/merchant/v1/"+path, content)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("X-Api-Key", s.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 {
		s.Fatalf("%s %s: %d %s %v", method, path, answer.StatusCode, raw, err)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			s.Fatalf("%s %s: %s: %v", method, path, raw, err)
		}
	}
}

// library runs the client library of shops.
func (s *shop) library(what string, list, into any) {
	s.Helper()
	input, err := json.Marshal(map[string]any{"base": s.base, "key": s.key, what: list})
	if err != nil {
		s.Fatal(err)
	}
	out := nodetest.Run(s.TB, input, "testdata/pay.js")
	if err := json.Unmarshal(out, into); err != nil {
		s.Fatalf("%s: %v", out, err)
	}
}

// registers makes orders with the client library, which the shop then expects.
func (s *shop) registers(list ...map[string]any) []made {
	s.Helper()
	for _, order := range list {
		if order["senderAddr"] == nil {
			order["senderAddr"] = s.payer.Address(0).String()
		}
		if order["recipientAddr"] == nil {
			order["recipientAddr"] = s.recipient
		}
	}
	var all []made
	s.library("create", list, &all)
	if len(all) != len(list) {
		s.Fatalf("%d transfers of %d orders", len(all), len(list))
	}
	s.orders.mutex.Lock()
	defer s.orders.mutex.Unlock()
	for i, m := range all {
		s.orders.orders[m.Reference] = &receiver.Order{Reference: m.Reference, Amount: fmt.Sprint(list[i]["amount"]), Asset: list[i]["asset"].(string)}
	}
	return all
}

// message is what the payer's wallet is asked to send.
func (s *shop) message(m made) contracts.Message {
	s.Helper()
	to, err := tonutils.ParseAddr(m.Message.Address)
	if err != nil {
		s.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(m.Message.Payload)
	if err != nil {
		s.Fatal(err)
	}
	body, err := cell.FromBOC(raw)
	if err != nil {
		s.Fatal(err)
	}
	if hash := base64.StdEncoding.EncodeToString(body.Hash()); hash != m.BodyBase64Hash {
		s.Errorf("the hash of the body is %s, the API says %s", hash, m.BodyBase64Hash)
	}
	value, ok := new(big.Int).SetString(m.Message.Amount, 10)
	if !ok {
		s.Fatalf("amount %q", m.Message.Amount)
	}
	return contracts.Message{To: to, Value: value, Bounce: to.IsBounceable(), Body: body, Mode: contracts.ModePayFees}
}

// sends signs messages with a wallet and sends them through v2.
func (s *shop) sends(from *payer, messages ...contracts.Message) {
	s.Helper()
	external, err := from.External(0, from.Key, contracts.Order{Messages: messages, Seqno: from.seqno, ValidUntil: uint32(time.Now().Unix()) + 600})
	if err != nil {
		s.Fatal(err)
	}
	from.seqno++
	body, err := json.Marshal(map[string]string{"boc": base64.StdEncoding.EncodeToString(external.ToBOC())})
	if err != nil {
		s.Fatal(err)
	}
	if status, text, err := harness.Post(s.Context(), s.base+"/api/v2/sendBoc", s.owners, body); err != nil || status != http.StatusOK {
		s.Fatalf("sendBoc: %d %s %v", status, text, err)
	}
}

// awaitJettons waits until the payer has jettons of a master.
func (s *shop) awaitJettons(master string) {
	s.Helper()
	harness.Await(s.TB, time.Minute, func() bool {
		status, body, err := harness.Get(s.base + "/api/v3/jetton/wallets?owner_address=" + s.payer.Address(0).String() + "&jetton_address=" + master)
		return err == nil && status == http.StatusOK && bytes.Contains(body, []byte(`"balance"`))
	}, func() string { return "the payer has no jettons of " + master })
}

// ends waits until the shop was told how an order ended.
func (s *shop) ends(m made) *event.Event {
	s.Helper()
	var e *event.Event
	harness.Await(s.TB, time.Minute, func() bool {
		e = s.orders.ended(m.Reference)
		return e != nil
	}, func() string { return "the shop was not told of " + m.Reference })
	return e
}

func TestAShopIsPaidWithItsLibraryAWalletAndItsReceiver(t *testing.T) {
	s := open(t, time.Second)
	master := devnet.OwnersJetton(seed).Address(0).String()
	s.awaitJettons(master)
	all := s.registers(
		map[string]any{"amount": 1.5, "asset": "TON", "commentToRecipient": `Order <42> & "Söhne" 🚀`, "commentToSender": "for the shop"},
		map[string]any{"amount": 2.25, "asset": master, "queryId": 7},
		map[string]any{"amount": 90000000, "asset": "TON"},
		map[string]any{"amount": 50000000, "asset": master},
	)
	native, jetton, much, many := all[0], all[1], all[2], all[3]

	s.sends(s.payer, s.message(native))
	e := s.ends(native)
	if e.Data.Status != event.Success || e.Data.Amount != "1.5" || e.Data.RawAmount != "1500000000" || e.Data.Asset != "TON" ||
		e.Data.CommentToRecipient != `Order <42> & "Söhne" 🚀` || e.Data.CommentToSender != "for the shop" || e.Data.RecipientAddr != s.recipient {
		t.Errorf("a native payment: %+v", e.Data)
	}
	s.sends(s.payer, s.message(jetton))
	if e := s.ends(jetton); e.Data.Status != event.Success || e.Data.Amount != "2.25" || e.Data.RawAmount != "2250000000" || e.Data.Asset != master || e.Data.AssetTicker != "DEVC" {
		t.Errorf("a payment of jettons: %+v", e.Data)
	}
	skipped := s.message(much)
	skipped.Mode |= contracts.ModeIgnoreErrors
	s.sends(s.payer, skipped)
	if e := s.ends(much); e.Data.Status != event.Failed || e.Data.ErrorCode == nil || *e.Data.ErrorCode != 37 || e.Data.ErrorMessage != "Not enough TON" {
		t.Errorf("more than the wallet has: %+v", e.Data)
	}
	s.sends(s.payer, s.message(many))
	if e := s.ends(many); e.Data.Status != event.Failed || e.Data.ErrorCode == nil || *e.Data.ErrorCode != 706 || e.Data.ErrorMessage != "Not enough jettons" {
		t.Errorf("more jettons than there are: %+v", e.Data)
	}

	// What the shop was told, the library finds by both ways, and the index has it.
	var lookups []map[string]string
	for _, m := range all {
		lookups = append(lookups, map[string]string{"reference": m.Reference, "bodyHash": m.BodyBase64Hash})
	}
	var found [][2]event.Data
	s.library("lookup", lookups, &found)
	for i, m := range all {
		e := s.ends(m)
		want := "success"
		if e.Data.Status == event.Failed {
			want = "error"
		}
		for _, got := range found[i] {
			if string(got.Status) != want || got.Reference != m.Reference || got.TxHash != e.Data.TxHash || got.TraceID != e.Data.TraceID || got.BodyBase64Hash != m.BodyBase64Hash {
				t.Errorf("looked up: %+v, want what the shop was told: %+v", got, e.Data)
			}
		}
		var index struct {
			Transactions []struct {
				Trace string `json:"trace_id"`
			}
		}
		harness.GetJSON(t, s.base+"/api/v3/transactions?hash="+e.Data.TxHash, &index)
		if len(index.Transactions) != 1 || hexOf(t, index.Transactions[0].Trace) != e.Data.TraceID {
			t.Errorf("the index has %+v of transaction %s, want trace %s", index, e.Data.TxHash, e.Data.TraceID)
		}
	}
	for _, m := range all[:2] {
		harness.Await(t, time.Minute, func() bool { _, is := s.shipped.Load(m.Reference); return is }, func() string { return "the order is not completed" })
	}

	// The log has an attempt of each, which was taken.
	var log struct {
		Deliveries []struct{ Event, Reference, State string }
	}
	harness.Await(t, time.Minute, func() bool {
		s.ask(http.MethodGet, "deliveries?limit=100", nil, &log)
		delivered := 0
		for _, d := range log.Deliveries {
			if d.State == "delivered" {
				delivered++
			}
		}
		return delivered == len(all)
	}, func() string { return fmt.Sprintf("deliveries %+v", log.Deliveries) })

	// A sample has the shop's signature, and does not touch an order.
	var attempt struct {
		Code int
		Kind string
	}
	s.ask(http.MethodPost, "webhook/test", map[string]any{"status": "success", "asset": "native"}, &attempt)
	if attempt.Code != http.StatusOK || attempt.Kind != "test" {
		t.Errorf("a sample: %+v, want 200", attempt)
	}
}

// BenchmarkWebhook is how much later than a request can see it a receiver is told of a
// payment, with a block in 0.4 s.
func BenchmarkWebhook(b *testing.B) {
	s := open(b, 400*time.Millisecond)
	var late []time.Duration
	for b.Loop() {
		m := s.registers(map[string]any{"amount": 0.5, "asset": "TON"})[0]
		s.sends(s.payer, s.message(m))
		var told, visible time.Time
		for told.IsZero() || visible.IsZero() {
			if told.IsZero() && s.orders.ended(m.Reference) != nil {
				told = time.Now()
			}
			if visible.IsZero() {
				status, body, err := harness.Get(s.base + "/api/v3/messages?limit=1&body_hash=" + url.QueryEscape(m.BodyBase64Hash))
				if err == nil && status == http.StatusOK && bytes.Contains(body, []byte(`"in_msg_tx_hash":"`)) {
					visible = time.Now()
				}
			}
			time.Sleep(time.Millisecond)
		}
		late = append(late, told.Sub(visible))
	}
	slices.Sort(late)
	at := func(percent int) float64 { return float64(late[(len(late)-1)*percent/100].Microseconds()) / 1000 }
	b.ReportMetric(at(50), "ms-p50")
	b.ReportMetric(at(99), "ms-p99")
	b.ReportMetric(0, "ns/op")
}

func hexOf(t *testing.T, text string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", raw)
}
