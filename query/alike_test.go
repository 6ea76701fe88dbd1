package query

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"tonscribe/schema/record"
)

// Where there are hundreds of millions of external messages, many share the 32 bits of their
// hashes that rows have: pages by offset have every one once all the same, and one that was
// taken twice is one.
func TestExternalMessagesWhoseHashesBeginAlikeAreThereOnce(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(900, 3)
	var externals []*record.Message
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			if m := tx.InMsg; m != nil && m.Kind == record.Message_EXTERNAL_IN {
				copy(m.Hash, fmt.Sprintf("%04d", len(externals)/3))
				if n := len(externals); n%7 == 6 {
					*m = *externals[n-1].CloneVT()
				}
				externals = append(externals, m)
			}
		}
	}
	var want []string
	for _, m := range externals {
		want = append(want, string(m.Hash))
	}
	slices.Sort(want)
	want = slices.Compact(want)
	slices.Reverse(want)
	if len(want) < 70 {
		t.Fatalf("%d messages, at least 70 are needed", len(want))
	}
	for i := range want {
		want[i] = base64.StdEncoding.EncodeToString([]byte(want[i]))
	}
	w := newWorld(t, bundles)
	s := w.serve(t, nil)
	for _, limit := range []int{2, 30} {
		for offset := 0; offset < 60; offset += limit {
			var got []string
			for _, m := range s.get(fmt.Sprintf("/api/v3/messages?only_externals=true&limit=%d&offset=%d", limit, offset)).Messages {
				got = append(got, m.Hash)
			}
			if !slices.Equal(got, want[offset:offset+limit]) {
				t.Errorf("from %d:\ngot  %v\nwant %v", offset, got, want[offset:offset+limit])
			}
		}
	}
	// Others follow them.
	rest := s.get(fmt.Sprintf("/api/v3/messages?limit=3&offset=%d", len(want)-1)).Messages
	if len(rest) != 3 || rest[0].Hash != want[len(want)-1] || slices.Contains(want, rest[1].Hash) {
		t.Errorf("from the last external message on: %v, want it and two others", rest)
	}
}

// Some accounts take the same message from outside again and again: it is one message, though
// no statement can name all the transactions that it is in.
func TestAMessageThatWasTakenThousandsOfTimesIsThereOnce(t *testing.T) {
	t.Parallel()
	hash := bytes.Repeat([]byte{0xff}, 32) // the first one of a list
	var same *record.Message
	bundles := syntheticBundles(12_500, 3)
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			switch {
			case same != nil:
				*tx.InMsg = *same.CloneVT()
			case tx.InMsg.GetKind() == record.Message_EXTERNAL_IN:
				tx.InMsg.Hash, tx.InMsg.HashNorm = hash, nil
				same = tx.InMsg
			}
		}
	}
	s := newWorld(t, bundles).serve(t, nil)
	for _, path := range []string{"/messages?limit=2", "/messages?limit=2&source=null", "/messages?msg_hash=" + hex.EncodeToString(hash)} {
		var count int
		list := s.get("/api/v3" + path).Messages
		for _, m := range list {
			if m.Hash == b64(hash) {
				count++
			}
		}
		if count != 1 || list[0].Hash != b64(hash) {
			t.Errorf("%s: %d times in %v", path, count, list)
		}
	}
	if s.get("/api/v3/actions?limit=1&msg_hash="+hex.EncodeToString(hash)).Next == "" {
		t.Error("the message has one action at most")
	}
}
