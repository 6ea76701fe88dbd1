package devnet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/internal/report"
)

// senderDir makes this test binary a devnet in that folder, to which the owners
// send one message each. It tells those that it has taken, and makes no block.
const senderDir = "DEVNET_TEST_SENDER"

// senders are owners that have done nothing before: the first one sets up the
// jetton and the collection.
const senders = Owners - 1

func sender(dir string) error {
	c := liveConfiguration(dir)
	c.TPS, c.Interval = 0, time.Hour
	d, err := New(c, Dependencies{Report: report.Silent()})
	if err != nil {
		return err
	}
	if err := d.Start(context.Background()); err != nil {
		return err
	}
	for i := 1; i <= senders; i++ {
		message, err := ownersMessage(d, i)
		if err != nil {
			return err
		}
		if err := d.Send(message); err != nil {
			return err
		}
		fmt.Printf("%x\n", message.Hash())
	}
	<-d.Done()
	return d.Err()
}

// ownersMessage is the next transfer of an owner.
func ownersMessage(d *Component, index int) (*cell.Cell, error) {
	d.making.Lock()
	defer d.making.Unlock()
	owner := OwnerOf(d.Seed(), index)
	shard, err := d.maker.chain.Account(0, [32]byte(owner.Address(0).Data()))
	if err != nil {
		return nil, err
	}
	var state tlb.AccountState
	if err := tlb.Parse(&state, shard.Account); err != nil {
		return nil, err
	}
	data := state.StateInit.Data.MustBeginParse()
	if owner.Version == contracts.WalletV5R1 {
		data.MustLoadBoolBit()
	}
	to := OwnerOf(d.Seed(), 0).Address(0)
	return owner.External(0, owner.Key, contracts.Order{
		Seqno: uint32(data.MustLoadUInt(32)), ValidUntil: d.before() + 3600,
		Messages: []contracts.Message{{To: to, Value: tons(1), Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors}},
	})
}

// received are the hashes of the external messages in all blocks so far, each
// with how often it is there.
func received(t *testing.T, d *Component) map[string]int {
	t.Helper()
	hashes := map[string]int{}
	for seqno := uint32(1); seqno <= d.Seqno(); seqno++ {
		b, err := d.history.Bundle(seqno)
		must(t, err)
		for _, block := range append(b.Shards, b.Master) {
			for _, one := range block.Transactions {
				var tx tlb.Transaction
				must(t, tlb.Parse(&tx, one.Cell))
				if tx.IO.In != nil && tx.IO.In.MsgType == tlb.MsgTypeExternalIn {
					hashes[hex.EncodeToString(one.Cell.MustPeekRef(0).MustPeekRef(0).Hash())]++
				}
			}
		}
	}
	return hashes
}

// mustHave fails unless every message is in the blocks once.
func mustHave(t *testing.T, d *Component, messages []string) {
	t.Helper()
	got := received(t, d)
	for _, hash := range messages {
		if got[hash] != 1 {
			t.Errorf("message %s is in %d blocks, want 1", hash, got[hash])
		}
	}
}

func TestMessagesThatWaitAreInABlockAfterARestart(t *testing.T) {
	dir := t.TempDir()
	c := liveConfiguration(dir)
	c.TPS, c.Interval = 0, time.Hour
	d := live(t, c)
	var messages []string
	for i := 1; i <= senders; i++ {
		message, err := ownersMessage(d, i)
		if err == nil {
			err = d.Send(message)
		}
		must(t, err)
		messages = append(messages, hex.EncodeToString(message.Hash()))
	}
	must(t, d.Stop(t.Context()))
	again := still(t, dir, c)
	for range 2 {
		must(t, again.step(time.Now()))
	}
	mustHave(t, again, messages)
	if waiting, err := again.history.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("%d messages still wait (%v), want 0", len(waiting), err)
	}
	must(t, again.close(t.Context()))
}

func TestMessageWhoseTimeIsOverIsForgottenAfterARestart(t *testing.T) {
	dir := t.TempDir()
	c := fixedConfiguration()
	d := still(t, dir, c)
	d.mempool.ttl = -time.Second
	step := func(d *Component) {
		t.Helper()
		must(t, d.step(time.Now()))
	}
	for len(d.Shards()) < minShards {
		step(d)
	}
	message, err := ownersMessage(d, 3)
	if err == nil {
		err = d.Send(message)
	}
	must(t, errors.Join(err, d.close(t.Context())))
	again := still(t, dir, c)
	step(again)
	if n := received(t, again)[hex.EncodeToString(message.Hash())]; n != 0 {
		t.Errorf("the message is in %d blocks, want 0", n)
	}
	if waiting, err := again.history.Waiting(); err != nil || len(waiting) != 0 {
		t.Errorf("%d messages still wait (%v), want 0", len(waiting), err)
	}
	must(t, again.close(t.Context()))
}

// The devnet dies at once after it took the messages, and again in every block
// that it begins.
func TestNoMessageThatWasTakenIsLostWhenTheDevnetIsKilled(t *testing.T) {
	dir := t.TempDir()
	var messages []string
	for range 2 {
		taken := runSender(t, dir)
		messages = append(messages, taken...)
		runVictim(t, dir, 2)
	}
	slices.Sort(messages)
	if n := len(slices.Compact(messages)); n != 2*senders {
		t.Fatalf("%d different messages were taken, want %d", n, 2*senders)
	}
	d := still(t, dir, liveConfiguration(dir))
	for range 2 {
		must(t, d.step(time.Now()))
	}
	mustHave(t, d, messages)
	must(t, d.close(t.Context()))
}

// runSender kills the sender as soon as it has told all messages.
func runSender(t *testing.T, dir string) (messages []string) {
	t.Helper()
	command, lines := startChild(t, senderDir, dir)
	for len(messages) < senders && lines.Scan() {
		messages = append(messages, lines.Text())
	}
	must(t, command.Process.Kill())
	_ = command.Wait() // it was killed
	if len(messages) != senders {
		t.Fatalf("%d messages were taken, want %d", len(messages), senders)
	}
	return messages
}
