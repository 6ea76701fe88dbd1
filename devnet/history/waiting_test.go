package history

import (
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/historytest"
)

func TestMessagesWaitUntilABundleHasDealtWithThem(t *testing.T) {
	dir := t.TempDir()
	c := historytest.Load(t)
	s := filled(t, dir, Options{}, historytest.Chain{Zerostates: c.Zerostates, Bundles: c.Bundles[:2]})
	expires := time.UnixMilli(1_700_000_000_123)
	for number := uint64(1); number <= 300; number++ {
		message := cell.BeginCell().MustStoreUInt(number, 64).EndCell()
		if err := s.Keep(Waiting{Number: number, Expires: expires, Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Append(c.Bundles[2], 1, 256, 300); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(7); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := open(t, dir, Options{}).Waiting()
	if err != nil {
		t.Fatal(err)
	}
	gone := map[uint64]bool{1: true, 7: true, 256: true, 300: true}
	next := uint64(1)
	for _, w := range list {
		for gone[next] {
			next++
		}
		if w.Number != next || !w.Expires.Equal(expires) || w.Message.MustBeginParse().MustLoadUInt(64) != next {
			t.Fatalf("got message %d that expires %s, want %d and %s", w.Number, w.Expires, next, expires)
		}
		next++
	}
	if len(list) != 300-len(gone) {
		t.Errorf("%d messages wait, want %d", len(list), 300-len(gone))
	}
}
