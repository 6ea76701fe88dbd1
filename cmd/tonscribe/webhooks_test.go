package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/query/rows"
	index "tonscribe/query/store"
	"tonscribe/ton/address"
	merchantapi "tonscribe/webhooks/api"
	"tonscribe/webhooks/send"
)

func TestOnlyADeliveryThatHasNotEndedIsDue(t *testing.T) {
	due := time.Unix(1_780_000_000, 0)
	for _, state := range []send.State{send.Pending, send.Delivered, send.Exhausted, send.Ignored, send.Cancelled} {
		shown := deliveryOf(&send.Delivery{State: state, Due: due})
		if ended := state != send.Pending; shown.Due.IsZero() != ended {
			t.Errorf("one that is %s is due at %s", state, shown.Due)
		}
	}
}

// silentServers are lite servers that do not answer.
type silentServers struct{ node.Servers }

func (silentServers) Head(context.Context) (*ton.BlockIDExt, error) { return nil, lite.ErrUnavailable }

func TestJettonWalletsCannotBeToldWithoutLiteServersThatAnswer(t *testing.T) {
	for want, servers := range map[error]node.Servers{merchantapi.ErrNoServers: nil, merchantapi.ErrNoAnswer: silentServers{}} {
		n, err := node.New(node.DefaultConfiguration(), node.Dependencies{Servers: servers})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&chainFacts{node: n}).WalletsOf(context.Background(), address.Address{}, address.Address{}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		n.Stop()
	}
}

func TestJettonsCannotBeToldBeforeTheIndexIsRead(t *testing.T) {
	unread, err := index.New(index.DefaultConfiguration(), driver.Options{Addr: []string{"127.0.0.1:1"}}, nil, report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Stop()
	if _, err := (&chainFacts{index: &rows.Reader{Store: unread}}).Token(t.Context(), address.Address{}); !errors.Is(err, merchantapi.ErrNoIndex) {
		t.Errorf("%v, want %v", err, merchantapi.ErrNoIndex)
	}
}

func TestAKeyMayDoSomething(t *testing.T) {
	for scopes, wanted := range map[string]bool{"transfers": true, "transfers,deliveries,manage": true, "": false, "transfers,transfers": false, "transfer": false} {
		list := []string{}
		if scopes != "" {
			list = strings.Split(scopes, ",")
		}
		if err := checkScopes(list); (err == nil) != wanted {
			t.Errorf("scopes %q: %v, want taken %t", scopes, err, wanted)
		}
	}
}

func TestASealKeyIsMadeOnceAndAnEmptyFileIsNoKey(t *testing.T) {
	dir := t.TempDir()
	read := func() (string, error) {
		p := &process{settings: &settings{}}
		p.settings.Data = dir
		err := p.sealKey()
		return p.settings.Webhooks.Store.SealKey, err
	}
	first, err := read()
	if err != nil || first == "" {
		t.Fatalf("the first start: key %q, %v", first, err)
	}
	if again, err := read(); err != nil || again != first {
		t.Errorf("another start: key %q, %v, want %q", again, err, first)
	}
	path := filepath.Join(dir, sealKeyName)
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("an empty file: %v, want an error that names %s", err, path)
	}
}

func TestTheWalletOfAMerchantIsOneThatCanBePaid(t *testing.T) {
	id := bytes.Repeat([]byte{7}, 32)
	basic, far := address.New(0, id), address.New(5, id)
	form := func(a address.Address, testOnly bool) string {
		return string(address.AppendFriendly(nil, a[:], address.Form{Friendly: true, TestOnly: testOnly}, base64.URLEncoding))
	}
	for _, c := range []struct {
		text, network string
		taken         bool
	}{
		{form(basic, false), "mainnet", true}, {basic.String(), "mainnet", true}, {form(basic, true), "testnet", true}, {form(basic, true), "", true},
		{form(basic, true), "mainnet", false}, {form(far, false), "mainnet", false}, {"nonsense", "mainnet", false},
	} {
		if err := checkWallet(c.text, c.network); (err == nil) != c.taken {
			t.Errorf("%s on %s: %v, want taken %t", c.text, c.network, err, c.taken)
		}
	}
}
