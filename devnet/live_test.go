package devnet

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/ton/jetton"
	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/ton/wallet"

	"tonscribe/devnet/contracts"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
)

// live is a devnet whose clock runs.
func live(t *testing.T, c Configuration) *Component {
	t.Helper()
	d, err := New(c, Dependencies{Report: report.Silent()})
	must(t, err)
	lifetimetest.Run(t, d)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// clientOf is tonutils-go's client with every proof checked.
func clientOf(t *testing.T, d *Component) ton.APIClientWrapped {
	t.Helper()
	pool := liteclient.NewConnectionPool()
	t.Cleanup(pool.Stop)
	config, err := liteclient.GetConfigFromFile(d.ConfigPath())
	must(t, err)
	must(t, pool.AddConnectionsFromConfig(t.Context(), config))
	api := ton.NewAPIClient(pool, ton.ProofCheckPolicySecure).WithRetryTimeout(5, 20*time.Second)
	api.SetTrustedBlockFromConfig(config)
	return api
}

// await returns when a condition holds after some block.
func await(t *testing.T, d *Component, what string, holds func() bool) {
	t.Helper()
	blocks, cancel := d.Subscribe()
	defer cancel()
	for range 500 {
		if holds() {
			return
		}
		if _, ok := <-blocks; !ok {
			t.Fatalf("%s: the devnet ended: %v", what, d.Err())
		}
	}
	t.Fatalf("%s: not so after 500 blocks", what)
}

func TestWalletOfAnotherClientSendsTokensOfEachKind(t *testing.T) {
	d := live(t, liveConfiguration(t.TempDir()))
	api := clientOf(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // without blocks there is nothing to wait for
		<-d.Done()
		cancel()
	}()
	sender, receiver := OwnerOf(3, 2), OwnerOf(3, 5)
	w, err := wallet.FromPrivateKey(api, sender.Key, wallet.V3R2)
	must(t, err)
	if w.WalletAddress().Bounce(true).String() != sender.Address(0).Bounce(true).String() {
		t.Fatalf("the wallet is %s, want %s", w.WalletAddress(), sender.Address(0))
	}
	send := func(message *wallet.Message) {
		t.Helper()
		tx, block, err := w.SendWaitTransaction(ctx, message)
		must(t, err)
		if len(tx.Hash) != 32 || block.SeqNo == 0 {
			t.Fatalf("transaction %x in block %d", tx.Hash, block.SeqNo)
		}
	}

	id := [32]byte{1, 2, 3}
	nobody := address.NewAddress(0, 0, id[:])
	gift := wallet.SimpleMessage(nobody, tlb.MustFromTON("1.5"), nil)
	gift.InternalMessage.Bounce = false // nobody is there yet
	send(gift)
	await(t, d, "the TON arrives", func() bool {
		block, err := api.CurrentMasterchainInfo(t.Context())
		must(t, err)
		account, err := api.GetAccount(t.Context(), block, nobody)
		must(t, err)
		return account.State != nil && account.State.Balance.String() == "1.5"
	})

	master := jetton.NewJettonMasterClient(api, OwnersJetton(3).Address(0))
	jettonWallet := contracts.JettonWallet{Owner: sender.Address(0), Minter: OwnersJetton(3).Address(0)}
	await(t, d, "the owner has jettons", func() bool {
		j, err := master.GetJettonWallet(t.Context(), sender.Address(0))
		if err != nil {
			return false // the minter is not deployed yet
		}
		if !bytes.Equal(j.Address().Data(), jettonWallet.Address(0).Data()) {
			t.Fatalf("jetton wallet %s, want %s", j.Address(), jettonWallet.Address(0))
		}
		balance, err := j.GetBalance(t.Context())
		return err == nil && balance.Sign() > 0
	})
	send(wallet.SimpleMessage(jettonWallet.Address(0), tlb.MustFromTON("0.2"), contracts.JettonTransferBody(contracts.JettonTransfer{
		Amount: tons(7), Destination: receiver.Address(0), Response: sender.Address(0),
	})))
	await(t, d, "the jettons arrive", func() bool {
		j, err := master.GetJettonWallet(t.Context(), receiver.Address(0))
		must(t, err)
		balance, err := j.GetBalance(t.Context())
		return err == nil && balance.Cmp(tons(ownersJettons+7)) == 0
	})

	item := nft.NewItemClient(api, OwnersCollection(3).Item(0, 2).Address(0))
	send(wallet.SimpleMessage(item.GetNFTAddress(), tlb.MustFromTON("0.2"), contracts.NFTTransferBody(contracts.NFTTransfer{
		NewOwner: receiver.Address(0), Response: sender.Address(0),
	})))
	await(t, d, "the item arrives", func() bool {
		data, err := item.GetNFTData(t.Context())
		return err == nil && bytes.Equal(data.OwnerAddress.Data(), receiver.Address(0).Data())
	})
}

func TestNoBlockIsMadeWithoutRoom(t *testing.T) {
	c := DefaultConfiguration()
	c.Dir, c.Interval = t.TempDir(), 10*time.Millisecond
	asked, room := make(chan struct{}), make(chan struct{})
	d, err := New(c, Dependencies{Report: report.Silent(), Room: func(ctx context.Context) error {
		select {
		case asked <- struct{}{}:
		case <-room:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-room:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	must(t, err)
	must(t, d.Start(t.Context()))
	before := d.Seqno()
	<-asked
	if got := d.Seqno(); got != before {
		t.Errorf("masterchain block %d was made without room", got)
	}
	close(room)
	await(t, d, "a block", func() bool { return d.Seqno() > before })
	if err := d.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestShardsSplitAndMergeWhenAsked(t *testing.T) {
	c := liveConfiguration(t.TempDir())
	c.Reshard = 0
	d := live(t, c)
	running, err := FindRunning(c.Dir)
	must(t, err)
	if err := running.Ask(t.Context(), "merge", ""); err == nil {
		t.Error("the last two shards may merge")
	}
	must(t, running.Ask(t.Context(), "split", "4000000000000000"))
	await(t, d, "the split", func() bool {
		return slices.Equal(d.Shards(), []uint64{0x2000000000000000, 0x6000000000000000, 0xc000000000000000})
	})
	if err := running.Ask(t.Context(), "split", "4000000000000000"); err == nil {
		t.Error("a shard that is gone can be split")
	}
	must(t, running.Ask(t.Context(), "merge", ""))
	await(t, d, "the merge", func() bool {
		return slices.Equal(d.Shards(), []uint64{0x4000000000000000, 0xc000000000000000})
	})
	other := running
	other.Token = "guessed"
	if err := other.Ask(t.Context(), "split", ""); err == nil {
		t.Error("anybody can ask for a split")
	}
}

func TestStoppedDevnetLeavesNothingBehindThatSaysItRuns(t *testing.T) {
	c := liveConfiguration(t.TempDir())
	d, err := New(c, Dependencies{Report: report.Silent()})
	must(t, err)
	must(t, d.Start(t.Context()))
	address := d.LiteServer()
	blocks, _ := d.Subscribe()
	<-blocks
	must(t, d.Stop(t.Context()))
	<-d.Done()
	if err := d.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v, want %v", err, context.Canceled)
	}
	if _, err := FindRunning(c.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found as running: %v", err)
	}
	again := live(t, c)
	if got := again.LiteServer(); got != address {
		t.Errorf("the lite server moved from %s to %s", address, got)
	}
}
