package apiclients

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/harness"
	pythontest "tonscribe/test/support/python"
)

// toldLine is what one of toncenter's clients was told of a message.
type toldLine struct {
	Client, Kind, Norm, Finality string
	Transactions                 []struct {
		Hash, Account string
		Sent          int
	}
}

// follower is toncenter's clients at two wallets of a devnet.
type follower struct {
	*testing.T
	base, key string
	lines     chan toldLine
	seen      map[string][]toldLine // by the message
	problems  bytes.Buffer
}

// followers are the clients that each message is told.
var followers = []string{"ToncenterSSE", "ToncenterWebSocket"}

// toldLimit is how long anything may take to be told.
const toldLimit = time.Minute

// follow starts the clients.
func follow(t *testing.T, base, key string, wallets ...devnet.Owner) *follower {
	t.Helper()
	f := &follower{T: t, base: base, key: key, lines: make(chan toldLine, 64), seen: map[string][]toldLine{}}
	given := map[string]any{"base": base, "key": key}
	var addresses []string
	for _, w := range wallets {
		addresses = append(addresses, w.Address(0).String())
	}
	given["addresses"] = addresses
	input, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), pythontest.Interpreter(t, requirements), "testdata/toncenter_foreseen.py")
	command.Stdin, command.Stderr = bytes.NewReader(append(input, '\n')), &f.problems
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	go func() {
		defer close(f.lines)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var line toldLine
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				return
			}
			f.lines <- line
		}
	}()
	f.await("", func(t toldLine) bool { return t.Kind == "subscribed" })
	return f
}

// await returns when both clients were told something of a message.
func (f *follower) await(norm string, what func(toldLine) bool) {
	f.Helper()
	if !f.toldWithin(toldLimit, norm, what) {
		f.Fatalf("of %q the clients were told %+v within %s", norm, f.seen[norm], toldLimit)
	}
}

// toldWithin reports whether both clients are told something of a message in time.
func (f *follower) toldWithin(limit time.Duration, norm string, what func(toldLine) bool) bool {
	f.Helper()
	late := time.After(limit)
	for {
		if !slices.ContainsFunc(followers, func(client string) bool {
			return !slices.ContainsFunc(f.seen[norm], func(t toldLine) bool { return t.Client == client && what(t) })
		}) {
			return true
		}
		select {
		case line, ok := <-f.lines:
			if !ok {
				f.Fatalf("the clients have ended\n%s", f.problems.Bytes())
			}
			f.seen[line.Norm] = append(f.seen[line.Norm], line)
		case <-late:
			return false
		}
	}
}

func pending(t toldLine) bool     { return t.Finality == "pending" }
func finalized(t toldLine) bool   { return t.Finality == "finalized" }
func invalidated(t toldLine) bool { return t.Kind == "invalidated" }

// story is what one client was told of a message, in order and without repetition: a
// finality with the number of messages that its wallet sent, or that it is invalid.
func (f *follower) story(client, norm string, wallet devnet.Owner) (list []string) {
	for _, line := range f.seen[norm] {
		if line.Client != client {
			continue
		}
		if line.Kind == "invalidated" {
			list = append(list, line.Kind)
		}
		for _, tx := range line.Transactions {
			if tx.Account == raw(wallet.Address(0)) {
				list = append(list, fmt.Sprint(line.Finality, " ", tx.Sent))
			}
		}
	}
	return slices.Compact(list)
}

// mustTell fails unless both clients were told a message's story.
func (f *follower) mustTell(what, norm string, wallet devnet.Owner, want ...string) {
	f.Helper()
	for _, client := range followers {
		if got := f.story(client, norm, wallet); !slices.Equal(got, want) {
			f.Errorf("%s: %s was told %q, want %q", what, client, got, want)
		}
	}
}

// wallet is the state of a wallet in the index.
func (f *follower) wallet(o devnet.Owner) (seqno uint32, balance *big.Int) {
	f.Helper()
	var states struct {
		Wallets []struct {
			Seqno   uint32
			Balance string
		}
	}
	harness.Await(f, toldLimit, func() bool { // the first bundles have no wallets yet
		harness.GetJSON(f, f.base+"/api/v3/walletStates?address="+raw(o.Address(0)), &states)
		return len(states.Wallets) == 1
	}, func() string { return fmt.Sprintf("%d states of wallet %s", len(states.Wallets), raw(o.Address(0))) })
	balance, ok := new(big.Int).SetString(states.Wallets[0].Balance, 10)
	if !ok {
		f.Fatalf("wallet %s has a balance of %q", raw(o.Address(0)), states.Wallets[0].Balance)
	}
	return states.Wallets[0].Seqno, balance
}

// order signs a transfer of a wallet, and tells its normalised hash.
func (f *follower) order(from, to devnet.Owner, amount *big.Int, validFor time.Duration) (message *cell.Cell, normal string) {
	f.Helper()
	seqno, _ := f.wallet(from)
	message, err := from.External(0, from.Key, contracts.Order{
		Seqno: seqno, ValidUntil: uint32(time.Now().Add(validFor).Unix()),
		Messages: []contracts.Message{{To: to.Address(0), Value: amount, Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors}},
	})
	if err != nil {
		f.Fatal(err)
	}
	return message, norm(f.T, base64.StdEncoding.EncodeToString(message.ToBOC()))
}

// send gives messages to the API and tells whether it takes all of them. One that comes
// too late for the block it was made for is refused.
func (f *follower) send(messages ...*cell.Cell) bool {
	f.Helper()
	for _, m := range messages {
		body := `{"boc":"` + base64.StdEncoding.EncodeToString(m.ToBOC()) + `"}`
		status, _, err := harness.Post(f.Context(), f.base+"/api/v3/message", f.key, []byte(body))
		if err != nil {
			f.Fatal(err)
		}
		if status != http.StatusOK {
			return false
		}
	}
	return true
}

// awaitBlock returns just after a block, when the next one is an interval away.
func (f *follower) awaitBlock() {
	f.Helper()
	seqno := func() uint32 {
		var info struct{ Last struct{ Seqno uint32 } }
		harness.GetJSON(f, f.base+"/api/v3/masterchainInfo", &info)
		return info.Last.Seqno
	}
	before := seqno()
	harness.Await(f, toldLimit, func() bool { return seqno() > before }, func() string { return fmt.Sprintf("there is no block after %d", before) })
}

// final are the hashes of a message's transactions in the index.
func (f *follower) final(norm string) (hashes []string) {
	f.Helper()
	var found struct {
		Traces []struct{ Transactions map[string]json.RawMessage }
	}
	harness.GetJSON(f, f.base+"/api/v3/traces?msg_hash="+url.QueryEscape(norm), &found)
	for _, trace := range found.Traces {
		for hash := range trace.Transactions {
			hashes = append(hashes, hash)
		}
	}
	slices.Sort(hashes)
	return hashes
}

// What a stream told before a block had it, and what then comes otherwise or never, is
// told to be invalid, and what came in its place is told as final.
func TestWhatWasForeseenAndComesOtherwiseIsInvalidated(t *testing.T) {
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, []string{"TONSCRIBE_QUERY_LIVE_PENDING_DEADLINE=6s"}, "up", "--data", data, "--listen", listen,
		"--seed", strconv.Itoa(seed), "--interval", "4s", "--tps", "0")
	p.AwaitReady(base, time.Minute)
	text, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	giver, poor := inDifferentShards(t)
	f := follow(t, base, strings.TrimSpace(string(text)), giver, poor)

	t.Run("another message took its place", func(t *testing.T) {
		f.T = t
		var first, second string
		harness.Await(t, toldLimit, func() bool {
			f.awaitBlock()
			one, normOne := f.order(giver, poor, big.NewInt(1_000_000_000), time.Hour)
			two, normTwo := f.order(giver, poor, big.NewInt(2_000_000_000), time.Hour)
			first, second = normOne, normTwo
			return f.send(one, two)
		}, func() string { return "two messages of one number are not taken" })
		f.await(second, invalidated)
		f.await(first, finalized)
		f.mustTell("the message that came", first, giver, "pending 1", "finalized 1")
		f.mustTell("the other one", second, giver, "pending 1", "invalidated")
	})
	t.Run("it does what was not foreseen", func(t *testing.T) {
		f.T = t
		var late string
		harness.Await(t, toldLimit, func() bool {
			gift, _ := f.order(giver, poor, big.NewInt(50_000_000_000), time.Hour)
			before, _ := f.wallet(giver)
			_, has := f.wallet(poor)
			if !f.send(gift) {
				return false
			}
			harness.Await(t, toldLimit, func() bool {
				now, _ := f.wallet(giver)
				return now > before // the money is on its way to the other shard
			}, func() string { return "the gift is in no block" })
			// More than the wallet has before the gift: it is foreseen to send nothing.
			spend, normOfSpend := f.order(poor, giver, new(big.Int).Add(has, big.NewInt(20_000_000_000)), time.Hour)
			late = normOfSpend
			return f.send(spend)
		}, func() string { return "no message is taken" })
		f.await(late, finalized)
		f.mustTell("the message", late, poor, "pending 0", "invalidated", "finalized 1")
		for _, client := range followers {
			var hashes []string
			for _, line := range f.seen[late] {
				for _, tx := range line.Transactions {
					if line.Client == client && finalized(line) {
						hashes = append(hashes, tx.Hash)
					}
				}
			}
			harness.Await(t, toldLimit, func() bool { return len(f.final(late)) == 2 }, func() string { return fmt.Sprintf("the index has %q", f.final(late)) })
			for _, hash := range hashes {
				if !slices.Contains(f.final(late), hash) {
					t.Errorf("%s was told %q, the index has %q", client, hashes, f.final(late))
				}
			}
		}
	})
	t.Run("no block takes it", func(t *testing.T) {
		f.T = t
		var expired string
		harness.Await(t, toldLimit, func() bool {
			f.awaitBlock()
			message, normOfIt := f.order(giver, poor, big.NewInt(1_000_000_000), time.Second)
			expired = normOfIt
			return f.send(message) && f.toldWithin(10*time.Second, expired, pending)
		}, func() string { return "no message is taken and foreseen before it expires" })
		f.await(expired, invalidated)
		f.mustTell("the message", expired, giver, "pending 1", "invalidated")
	})
}

// inDifferentShards are two owners whose accounts are in the two halves of the basechain.
func inDifferentShards(t *testing.T) (one, other devnet.Owner) {
	t.Helper()
	half := func(o devnet.Owner) byte { return o.Address(0).Data()[0] >> 7 }
	one = devnet.OwnerOf(seed, 1)
	for i := 2; i < devnet.Owners; i++ {
		if other = devnet.OwnerOf(seed, i); half(other) != half(one) {
			return one, other
		}
	}
	t.Fatal("all owners are in one half of the basechain")
	return one, other
}
