package node

import (
	"context"
	"strings"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/ton/address"
)

// noting are Servers that note from which masterchain block on others have what they
// are asked for.
type noting struct {
	Servers
	after []uint32
}

func (s *noting) Transactions(ctx context.Context, account *tonutils.Address, lt uint64, hash []byte, limit int, after uint32, archival bool) ([]*cell.Cell, error) {
	s.after = append(s.after, after)
	return s.Servers.Transactions(ctx, account, lt, hash, limit, after, archival)
}

func (s *noting) Query(ctx context.Context, q lite.Query) (any, string, error) {
	s.after = append(s.after, q.Seqno)
	return s.Servers.Query(ctx, q)
}

func TestWhatTheHeadHasIsAskedOfServersThatHaveTheHead(t *testing.T) {
	w := newTown(t, 3)
	servers := &noting{Servers: w.servers}
	n, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	head, err := n.MasterOrHead(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := func(what string, err error, want uint32) {
		t.Helper()
		if err != nil || len(servers.after) == 0 {
			t.Fatalf("%s: %v, asked %d times", what, err, len(servers.after))
		}
		for _, got := range servers.after {
			if got != want {
				t.Errorf("%s is asked of servers that have masterchain block %d, want %d", what, got, want)
			}
		}
		servers.after = nil
	}
	_, err = n.Header(t.Context(), head)
	asked("its header", err, head.SeqNo)
	elector := address.MustParse("-1:" + strings.Repeat("3", 64))
	newest, err := n.Transactions(t.Context(), History{Account: elector, Limit: 2})
	asked("the newest transaction", err, head.SeqNo)
	_, err = n.Transactions(t.Context(), History{Account: elector, Limit: 1, From: &newest[0].ID})
	asked("a transaction that is named", err, 0)
}
