package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	nodetest "tonscribe/test/support/node"
	"tonscribe/webhooks/signature"
)

func completed() *Event {
	at := Time{time.Date(2024, 1, 15, 14, 30, 0, 0, time.UTC)}
	return &Event{TransferCompleted, at, Data{
		Amount: "10.5", RawAmount: "10500000000", SenderAddr: "EQa", RecipientAddr: "EQb", Asset: "TON", Status: Success,
		Reference: "r", BodyBase64Hash: "+/=", TxHash: "00ff", TraceID: "ff00", Date: at,
	}}
}

func TestABodyHasTheMembersOfTheContract(t *testing.T) {
	e := completed()
	body, err := e.Encode()
	const want = `{"event":"transfer.completed","timestamp":"2024-01-15T14:30:00.000Z","data":{"amount":"10.5","rawAmount":"10500000000","senderAddr":"EQa","recipientAddr":"EQb","asset":"TON","status":"success","reference":"r","bodyBase64Hash":"+/=","txHash":"00ff","traceId":"ff00","date":"2024-01-15T14:30:00.000Z"}}`
	if string(body) != want || err != nil {
		t.Errorf("the body is %s (%v), want %s", body, err, want)
	}
	code := int64(37)
	e.Data.Status, e.Data.ErrorCode, e.Data.ErrorMessage, e.Data.AssetTicker = Failed, &code, "Not enough TON", "TON"
	e.Data.CommentToSender, e.Data.CommentToRecipient = "a", "b"
	failed := strings.Replace(want, `"status":"success"`, `"assetTicker":"TON","status":"failed"`, 1)
	failed = strings.Replace(failed, `"date"`, `"commentToSender":"a","commentToRecipient":"b","date"`, 1)
	failed = strings.TrimSuffix(failed, "}}") + `,"errorCode":37,"errorMessage":"Not enough TON"}}`
	if body, err := e.Encode(); string(body) != failed || err != nil {
		t.Errorf("the body is %s (%v), want %s", body, err, failed)
	}
}

func TestWhatContradictsItselfIsNotSent(t *testing.T) {
	code := int64(1)
	for why, change := range map[string]func(*Event){
		"another type":               func(e *Event) { e.Type = "transfer.begun" },
		"another status":             func(e *Event) { e.Data.Status = "error" },
		"failed without a code":      func(e *Event) { e.Data.Status, e.Data.ErrorMessage = Failed, "why" },
		"failed without a text":      func(e *Event) { e.Data.Status, e.Data.ErrorCode = Failed, &code },
		"success with a code":        func(e *Event) { e.Data.ErrorCode = &code },
		"success with an error text": func(e *Event) { e.Data.ErrorMessage = "why" },
	} {
		e := completed()
		change(e)
		if body, err := e.Encode(); !errors.Is(err, ErrEvent) {
			t.Errorf("%s: %s, %v, want %v", why, body, err, ErrEvent)
		}
	}
}

// comments are texts that JSON writers treat in different ways.
func comments() []string {
	list := []string{"", "<a href='x'>&</a>", "\u2028 and \u2029", `\u2028`, `\\u2028`, "\\\u2028", "😀 \U0001F468\u200d\U0001F469", "\x00\x01\x1f\x7f\b\f\n\r\t\"\\/", "bad \xff\xfe utf-8 \xed\xa0\x80", "\ufffd", "é"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = byte(r.UintN(256))
			if r.IntN(3) == 0 {
				b[i] = "\\u2028\"9<"[r.IntN(9)]
			}
		}
		list = append(list, string(b), strings.ToValidUTF8(string(b), "\u2028"))
	}
	return list
}

func TestABodyIsWhatJavaScriptWritesAfterReadingItAndItsClientFindsItSigned(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	var bodies bytes.Buffer
	var want []string
	for _, comment := range comments() {
		e := completed()
		e.Data.CommentToRecipient = comment
		body, err := e.Encode()
		if err != nil {
			t.Fatalf("%q: %v", comment, err)
		}
		var read Event
		if err := json.Unmarshal(body, &read); err != nil || read.Data.CommentToRecipient != strings.ToValidUTF8(comment, "\uFFFD") {
			t.Errorf("%q is read as %q, %v", comment, read.Data.CommentToRecipient, err)
		}
		bodies.Write(append(body, '\n'))
		want = append(want, signature.Sign(body, secret)+" true "+string(body))
	}
	out := nodetest.Run(t, bodies.Bytes(), "testdata/read.js", secret)
	have := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(have) != len(want) {
		t.Fatalf("%d bodies came back, want %d", len(have), len(want))
	}
	for i := range want {
		if have[i] != want[i] {
			t.Errorf("JavaScript says\n%s, want\n%s", have[i], want[i])
		}
	}
}
