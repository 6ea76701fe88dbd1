// Package devnet proves what a user of a devnet and of its index relies on, by
// the commands that the user has: what is sent becomes visible, nothing is lost
// or doubled when everything is killed, and the way of the blocks makes no
// difference to the tables.
package devnet

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tonscribe/devnet"
	"tonscribe/test/support/harness"
)

// startLimit is for an `up` until it is ready, or for what needs some blocks.
const startLimit = 3 * time.Minute

// run runs a command to its end and gives what it printed.
func run(t *testing.T, arguments ...string) (output string, err error) {
	t.Helper()
	out, err := exec.Command(harness.Binary(t), arguments...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is run for a command that must succeed.
func must(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := run(t, arguments...)
	if err != nil {
		t.Fatalf("tonscribe %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return out
}

// raw is an address as the API shows it.
func raw(o devnet.Owner) string {
	return "0:" + strings.ToUpper(hex.EncodeToString(o.Address(0).Data()))
}

// seed that a devnet has when none is asked for.
const seed = 1

func TestATransferThatTheWalletDoesNotMakeIsAnError(t *testing.T) {
	data := t.TempDir()
	p := harness.Start(t, nil, "devnet", "--data", data, "--tps", "0", "--interval", "200ms")
	harness.Await(t, startLimit, func() bool { return strings.Contains(p.Output(), "The devnet runs") }, p.Output)
	out, err := run(t, "devnet", "send", "--data", data, "--to", devnet.OwnerOf(seed, 1).Address(0).String(), "--amount", "1000000000")
	if want := "sent nothing"; err == nil || !strings.Contains(out, want) {
		t.Errorf("more than the wallet has: %v, %s, want an error with %q", err, out, want)
	}
}

func TestTransfersOfEachKindAppearInTheAPI(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	api := "http://" + listen + "/api/v3/"
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--tps", "0", "--interval", "200ms")
	p.AwaitReady("http://"+listen, startLimit)
	for i, c := range []struct {
		what     string
		flags    []string
		sent     string // opcode of the wallet's message, empty for none
		received string // opcode of the message that the receiver gets
		// action is what the trace of it is, with its details that name both.
		action, giver, taker string
	}{
		{what: "TON", flags: []string{"--amount", "1.5"}, action: "ton_transfer", giver: "source", taker: "destination"},
		{what: "jettons", flags: []string{"--jetton", "own", "--amount", "20"}, sent: "0x0f8a7ea5", received: "0x7362d09c", action: "jetton_transfer", giver: "sender", taker: "receiver"},
		{what: "an NFT", flags: []string{"--nft", "own"}, sent: "0x5fcc3d14", received: "0x05138d91", action: "nft_transfer", giver: "old_owner", taker: "new_owner"},
	} {
		t.Run(c.what, func(t *testing.T) {
			from, to := devnet.OwnerOf(seed, i+1), devnet.OwnerOf(seed, i+5)
			arguments := append([]string{"devnet", "send", "--data", data, "--from", fmt.Sprint(i + 1), "--to", to.Address(0).Bounce(false).String()}, c.flags...)
			var hash string
			var err error
			harness.Await(t, startLimit, func() bool { // the funded wallets get their tokens in the first blocks
				hash, err = run(t, arguments...)
				return err == nil
			}, func() string { return fmt.Sprint(err, " ", hash) })
			message := sentBy(t, api, hash, raw(from), c.sent)
			if c.what == "TON" && (message["destination"] != raw(to) || message["value"] != "1500000000") {
				t.Errorf("sent %v to %v, want 1500000000 to %s", message["value"], message["destination"], raw(to))
			}
			awaitReceived(t, api, raw(to), raw(from), c.received)
			a := awaitAction(t, api, hash, c.action)
			if a.Details[c.giver] != raw(from) || a.Details[c.taker] != raw(to) || !a.Success {
				t.Errorf("the action is %+v, want a %s of %s to %s", a, c.action, raw(from), raw(to))
			}
			if c.what == "TON" && a.Details["value"] != "1500000000" {
				t.Errorf("the action has the value %v, want 1500000000", a.Details["value"])
			}
			checkChanges(t, api, a, raw(from), raw(to))
		})
	}
	p.Stop()
}

// sentBy awaits the transaction and gives the only message that the wallet sent
// in it.
func sentBy(t *testing.T, api, hash, wallet, opcode string) map[string]any {
	t.Helper()
	var found []map[string]any
	harness.Await(t, startLimit, func() bool {
		found = harness.Pages(t, api+"transactions?limit=10&hash="+hash, "transactions")
		return len(found) > 0
	}, func() string { return "transaction " + hash + " is not in the API" })
	out, _ := found[0]["out_msgs"].([]any)
	if len(found) != 1 || found[0]["account"] != wallet || len(out) != 1 {
		t.Fatalf("%d transactions, the first of account %v with %d messages, want one of %s with one", len(found), found[0]["account"], len(out), wallet)
	}
	message, _ := out[0].(map[string]any)
	if got := message["opcode"]; opcode != "" && got != opcode {
		t.Errorf("the wallet's message has opcode %v, want %s", got, opcode)
	}
	return message
}

// awaitReceived awaits a message of this opcode to the receiver, in a
// transaction of the receiver's; without an opcode, one from the sender.
func awaitReceived(t *testing.T, api, receiver, sender, opcode string) {
	t.Helper()
	filter := "&opcode=" + opcode
	if opcode == "" {
		filter = "&source=" + sender
	}
	var messages []map[string]any
	harness.Await(t, startLimit, func() bool {
		messages = harness.Pages(t, api+"messages?limit=10&destination="+receiver+filter, "messages")
		return len(messages) > 0
	}, func() string { return "no message to " + receiver + filter + " is in the API" })
	hash, _ := messages[0]["hash"].(string)
	harness.Await(t, startLimit, func() bool {
		list := harness.Pages(t, api+"transactionsByMessage?limit=10&direction=in&msg_hash="+url.QueryEscape(hash), "transactions")
		return len(list) == 1 && list[0]["account"] == receiver
	}, func() string { return "no transaction of " + receiver + " for message " + hash })
}

// sentAction is an action of the API.
type sentAction struct {
	ID      string `json:"action_id"`
	Type    string
	Success bool
	Trace   string `json:"trace_id"`
	Details map[string]any
}

// awaitAction waits until the trace of a transaction is complete and gives its only
// action of a type.
func awaitAction(t *testing.T, api, hash, kind string) (found sentAction) {
	t.Helper()
	var traces struct {
		Traces []struct {
			ID       string `json:"trace_id"`
			External string `json:"external_hash"`
			Info     struct {
				State string `json:"trace_state"`
			} `json:"trace_info"`
			Actions []sentAction
			Order   []string       `json:"transactions_order"`
			By      map[string]any `json:"transactions"`
		}
	}
	harness.Await(t, startLimit, func() bool {
		harness.GetJSON(t, api+"traces?include_actions=true&tx_hash="+url.QueryEscape(hash), &traces)
		return len(traces.Traces) == 1 && traces.Traces[0].Info.State == "complete"
	}, func() string { return fmt.Sprintf("transaction %s is of %+v", hash, traces.Traces) })
	trace := traces.Traces[0]
	if len(trace.Order) < 2 || len(trace.By) != len(trace.Order) || trace.Order[0] != trace.ID {
		t.Errorf("trace %s has the transactions %v", trace.ID, trace.Order)
	}
	n := 0
	for _, a := range trace.Actions {
		if a.Type == kind {
			found, n = a, n+1
		}
	}
	if n != 1 {
		t.Errorf("trace %s has %d actions of type %s: %+v", trace.ID, n, kind, trace.Actions)
	}
	var listed struct{ Actions []sentAction }
	harness.GetJSON(t, api+"actions?action_type="+kind+"&trace_id="+url.QueryEscape(trace.ID), &listed)
	if len(listed.Actions) != 1 || listed.Actions[0].Trace != trace.ID {
		t.Errorf("actions of trace %s are %+v, want the %s", trace.ID, listed.Actions, kind)
	}
	return found
}

// checkChanges compares what an action, and its whole trace, did to balances with what
// the action says.
func checkChanges(t *testing.T, api string, a sentAction, from, to string) {
	t.Helper()
	for _, query := range []string{"trace_id=" + url.QueryEscape(a.Trace), "action_id=" + url.QueryEscape(a.ID), "trace_id=" + url.QueryEscape(a.Trace) + "&action_id=" + url.QueryEscape(a.ID)} {
		var got struct {
			Changes, Fees map[string]int64
			Jettons       map[string]map[string]string
		}
		harness.GetJSON(t, api+"balanceChanges?"+query, &got)
		if got.Fees[from] <= 0 || got.Changes[from] >= -got.Fees[from] {
			t.Errorf("%s: the sender has %d more and paid %d as fees", query, got.Changes[from], got.Fees[from])
		}
		switch a.Type {
		case "ton_transfer":
			if got.Changes[to] != 1_500_000_000-got.Fees[to] || got.Changes[from] != -1_500_000_000-got.Fees[from] {
				t.Errorf("%s: changes are %v, fees %v, want 1500000000 moved", query, got.Changes, got.Fees)
			}
		case "jetton_transfer":
			asset, _ := a.Details["asset"].(string)
			amount, _ := a.Details["amount"].(string)
			if len(got.Jettons) != 2 || amount == "" || got.Jettons[to][asset] != amount || got.Jettons[from][asset] != "-"+amount {
				t.Errorf("%s: jettons are %v, want %s of %s moved", query, got.Jettons, amount, asset)
			}
		default:
			if len(got.Jettons) != 0 {
				t.Errorf("%s: jettons are %v, want none", query, got.Jettons)
			}
		}
	}
}
