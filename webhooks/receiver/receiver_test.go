package receiver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/webhooks/event"
	"tonscribe/webhooks/signature"
)

const secret = "whsec_c2VjcmV0"

// shop is a receiver with orders in a folder.
type shop struct {
	*Receiver
	book      *Book
	processed chan string
}

func openShop(t *testing.T, dir string) *shop {
	t.Helper()
	book, err := OpenBook(filepath.Join(dir, "orders.jsonl"), filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { book.Close() })
	s := &shop{&Receiver{Secrets: []string{secret}, Orders: book, Log: zerolog.Nop()}, book, make(chan string, 100)}
	s.Process = func(_ context.Context, e *event.Event) { s.processed <- e.Data.Reference }
	return s
}

func writeOrders(t *testing.T, dir string, lines ...string) {
	t.Helper()
	path := filepath.Join(dir, "orders.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Duration(len(lines)) * time.Hour) // so that it has changed
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
}

func paidEvent(reference string) *event.Event {
	at := event.Time{Time: time.Unix(1700000000, 0)}
	return &event.Event{Type: event.TransferCompleted, Timestamp: at, Data: event.Data{
		Amount: "10.5", RawAmount: "10500000000", Asset: "TON", RecipientAddr: "EQshop", Status: event.Success, Reference: reference, TxHash: "aa", Date: at,
	}}
}

// post sends a body, signed by a secret, and returns the answer's status.
func (s *shop) post(body []byte, by string) int {
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("x-pay-signature", signature.Sign(body, by))
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)
	return answer.Code
}

func (s *shop) send(t *testing.T, e *event.Event) int {
	t.Helper()
	body, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return s.post(body, secret)
}

// done are the references that were processed so far.
func (s *shop) done() (list []string) {
	s.Wait()
	for {
		select {
		case reference := <-s.processed:
			list = append(list, reference)
		default:
			return list
		}
	}
}

func TestTheRulesOfAReceiverHoldInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	writeOrders(t, dir, `{"reference":"r","amount":"10.50"}`, `{"reference":"usd","amount":"10.5","asset":"EQusd"}`, `{"reference":"ours","amount":"10.5","recipient":"EQours"}`)
	s := openShop(t, dir)
	code := int64(37)
	failed := func(e *event.Event) {
		e.Data.Status, e.Data.ErrorCode, e.Data.ErrorMessage = event.Failed, &code, "no coins"
	}
	refunded := func(e *event.Event) { e.Type = event.TransferRefunded }
	for _, step := range []struct {
		why       string
		by        string
		reference string
		change    func(*event.Event)
		status    int
		state     State // of the order afterwards
		processed bool
	}{
		{"1: a wrong signature comes before the event", "other", "r", refunded, 401, "", false},
		{"2: another event comes before the reference", secret, "nobody's", refunded, 400, "", false},
		{"3: a reference that no order has", secret, "nobody's", nil, 200, "", false},
		{"5: a failed transfer comes before its amount", secret, "r", func(e *event.Event) { failed(e); e.Data.Amount = "1" }, 200, Failed, false},
		{"5: twice", secret, "r", failed, 200, Failed, false},
		{"6: too little", secret, "r", func(e *event.Event) { e.Data.Amount = "10.4999999999" }, 200, Failed, false},
		{"6: no amount", secret, "r", func(e *event.Event) { e.Data.Amount = "1e1" }, 200, Failed, false},
		{"6: another asset than the native coin", secret, "r", func(e *event.Event) { e.Data.Asset = "EQusd" }, 200, Failed, false},
		{"6: the native coin for a jetton", secret, "usd", nil, 200, "", false},
		{"6: to another wallet", secret, "ours", nil, 200, "", false},
		{"7: paid after it had failed", secret, "r", nil, 200, Paid, true},
		{"4: paid before, whatever else", secret, "r", func(e *event.Event) { failed(e); e.Data.Amount = "1" }, 200, Paid, false},
		{"4: once more", secret, "r", nil, 200, Paid, false},
	} {
		e := paidEvent(step.reference)
		if step.change != nil {
			step.change(e)
		}
		body, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		status := s.post(body, step.by)
		var state State
		if last := s.book.last[step.reference]; last != nil {
			state = last.State
		}
		if done := s.done(); status != step.status || state != step.state || (len(done) == 1) != step.processed {
			t.Errorf("%s: answer %d, order %q, processed %q; want %d, %q, %t", step.why, status, state, done, step.status, step.state, step.processed)
		}
	}
	if status := s.post([]byte("no JSON"), secret); status != http.StatusBadRequest {
		t.Errorf("a body that is no JSON: %d, want 400", status)
	}
	if status := s.post(make([]byte, maxBody+1), secret); status != http.StatusBadRequest {
		t.Errorf("a body of %d bytes: %d, want 400", maxBody+1, status)
	}
}

// brokenOrders cannot be read, or not be written.
type brokenOrders struct{ order *Order }

var errBroken = errors.New("broken")

func (b brokenOrders) Find(context.Context, string) (*Order, error) {
	if b.order == nil {
		return nil, errBroken
	}
	return b.order, nil
}
func (b brokenOrders) Pay(context.Context, *event.Event) (bool, error) { return false, errBroken }
func (b brokenOrders) Fail(context.Context, *event.Event) error        { return errBroken }

func TestAFailureOfTheShopAsksForTheWebhookAgain(t *testing.T) { // rule 8
	for why, orders := range map[string]brokenOrders{"read": {}, "written": {&Order{Reference: "r", Amount: "10.5"}}} {
		s := &shop{Receiver: &Receiver{Secrets: []string{secret}, Orders: orders, Log: zerolog.Nop()}}
		s.Process = func(context.Context, *event.Event) { t.Errorf("processed, though orders cannot be %s", why) }
		if status := s.send(t, paidEvent("r")); status != http.StatusInternalServerError {
			t.Errorf("orders cannot be %s: %d, want 500", why, status)
		}
		s.Wait()
	}
}

func TestAnOrderIsProcessedOnceHoweverManyWebhooksCome(t *testing.T) {
	dir := t.TempDir()
	writeOrders(t, dir, `{"reference":"r","amount":"10.5"}`)
	s := openShop(t, dir)
	body, err := paidEvent("r").Encode()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var refused atomic.Int64
	for range 50 {
		group.Go(func() {
			if s.post(body, secret) != http.StatusOK {
				refused.Add(1)
			}
		})
	}
	group.Wait()
	if done := s.done(); len(done) != 1 || refused.Load() != 0 {
		t.Errorf("processed %q, %d refused, want r once and none", done, refused.Load())
	}
}

func TestAnOrderThatIsWrittenWhileTheReceiverRunsIsFound(t *testing.T) {
	dir := t.TempDir()
	s := openShop(t, dir) // no file yet
	if status, done := s.send(t, paidEvent("new")), s.done(); status != http.StatusOK || done != nil {
		t.Errorf("before it is written: %d, %q", status, done)
	}
	writeOrders(t, dir, `{"reference":"new","amount":"10.5"}`)
	if status, done := s.send(t, paidEvent("new")), s.done(); status != http.StatusOK || len(done) != 1 {
		t.Errorf("after it is written: %d, %q, want 200 and one", status, done)
	}
}

// Clocks of file systems tick every few milliseconds.
func TestAnOrderThatIsAppendedInTheTickOfTheLastReadIsFound(t *testing.T) {
	dir := t.TempDir()
	first, tick := `{"reference":"first","amount":"10.5"}`, time.Unix(1_780_000_000, 0)
	write := func(lines ...string) {
		writeOrders(t, dir, lines...)
		if err := os.Chtimes(filepath.Join(dir, "orders.jsonl"), tick, tick); err != nil {
			t.Fatal(err)
		}
	}
	write(first)
	s := openShop(t, dir)
	write(first, `{"reference":"second","amount":"10.5"}`)
	if status, done := s.send(t, paidEvent("second")), s.done(); status != http.StatusOK || len(done) != 1 {
		t.Errorf("%d, %q, want 200 and one", status, done)
	}
}

func TestAJournalThatWasCutOffKeepsWhatWasAnswered(t *testing.T) {
	dir := t.TempDir()
	writeOrders(t, dir, `{"reference":"a","amount":"10.5"}`, `{"reference":"b","amount":"10.5"}`)
	s := openShop(t, dir)
	s.send(t, paidEvent("a"))
	s.send(t, paidEvent("b"))
	s.done()
	if err := s.book.Shipped("a"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for cut := len(lines[0]) + len(lines[1]); cut < len(whole); cut++ { // within the line that says that a was shipped
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again := openShop(t, dir)
		if left := again.book.Unshipped(); len(left) != 2 || left[0].Data.Reference != "a" || left[1].Data.Reference != "b" || left[1].Data.TxHash != "aa" {
			t.Fatalf("cut at %d of %d: %v are not shipped, want a and b", cut, len(whole), left)
		}
		if status, done := again.send(t, paidEvent("a")), again.done(); status != http.StatusOK || done != nil {
			t.Fatalf("cut at %d: %d, processed %q, want 200 and nothing", cut, status, done)
		}
		if err := again.book.Shipped("b"); err != nil {
			t.Fatal(err)
		}
		if left := openShop(t, dir).book.Unshipped(); len(left) != 1 || left[0].Data.Reference != "a" {
			t.Fatalf("cut at %d: %v are not shipped after b was, want a", cut, left)
		}
	}
	if err := os.WriteFile(path, append([]byte("{}x\n"), whole...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBook(filepath.Join(dir, "orders.jsonl"), path); err == nil {
		t.Error("a journal with a line that is no JSON in it was opened")
	}
}

func TestAnOrdersFileThatCannotBeReadIsSaid(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"{", `{"amount":"1"}`} {
		writeOrders(t, dir, `{"reference":"r"}`, line)
		if _, err := OpenBook(filepath.Join(dir, "orders.jsonl"), filepath.Join(dir, "journal.jsonl")); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v, want an error that names line 2", line, err)
		}
	}
}
