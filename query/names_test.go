package query

import (
	"encoding/json"
	"fmt"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// The address book shows the shortest name of an account that the account owns,
// at every bundle as the items of its names are then.
func TestANameIsThatOfItsItemsAtEveryBundle(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(300, 4)
	w := newWorld(t, bundles)
	w.setWatermark(t, bundles[0])
	s := w.serve(t, nil)
	ann := bundles[0].Transactions[0].Account
	var bob []byte
	for _, tx := range bundles[0].Transactions {
		if tx.Account[0] == 0 && string(tx.Account) != string(ann) {
			bob = tx.Account
		}
	}
	// tell writes a DNS item as the sink does: its newest row, and what it names.
	tell := func(item byte, domain string, owner, wallet []byte, b *synthetic.Bundle) {
		c := &record.Contract{Account: addressOf(item), McSeqno: b.Seqno, FirstMcSeqno: bundles[0].Seqno,
			NftItem: &record.NFTItem{Init: true, Index: []byte{item}, Owner: owner}}
		if domain != "" {
			c.NftItem.Dns = &record.DNSName{Domain: domain, Wallet: wallet}
		}
		raw := packed(t, c)
		at := fmt.Sprintf("0, %d, unhex('%x')", schema.Prefix(schema.AccountID(c.Account)), schema.AccountID(c.Account))
		w.exec(t, fmt.Sprintf("INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record) VALUES (%s, %d, %d, unhex('%x'))",
			at, c.McSeqno, c.FirstMcSeqno, raw))
		w.exec(t, fmt.Sprintf("INSERT INTO nft_items (workchain, account_prefix, account, mc_seqno, first_mc_seqno) VALUES (%s, %d, %d)", at, c.McSeqno, c.FirstMcSeqno))
		if c.NftItem.Dns == nil {
			return
		}
		w.exec(t, fmt.Sprintf("INSERT INTO contract_links (role, key_workchain, key_prefix, first_mc_seqno, workchain, account_prefix, account, mc_seqno) VALUES ('%s', 0, %d, %d, %s, %d)",
			schema.LinkWallet, schema.Prefix(schema.AccountID(wallet)), c.FirstMcSeqno, at, c.McSeqno))
	}
	for n, step := range []struct {
		what      string
		tell      func(b *synthetic.Bundle)
		ann, bobs string
	}{
		{"no item", func(*synthetic.Bundle) {}, "", ""},
		{"a name of one's own", func(b *synthetic.Bundle) { tell(81, "annabel.ton", ann, ann, b) }, "annabel.ton", ""},
		{"nothing new", func(*synthetic.Bundle) {}, "annabel.ton", ""},
		{"a shorter name", func(b *synthetic.Bundle) { tell(82, "ann.ton", ann, ann, b) }, "ann.ton", ""},
		{"somebody else's item", func(b *synthetic.Bundle) { tell(83, "a.ton", bob, ann, b) }, "ann.ton", ""},
		{"the shortest is sold", func(b *synthetic.Bundle) { tell(82, "ann.ton", bob, bob, b) }, "annabel.ton", "ann.ton"},
		{"and its record stays", func(b *synthetic.Bundle) { tell(81, "annabel.ton", bob, ann, b) }, "", "ann.ton"},
		{"it comes back", func(b *synthetic.Bundle) { tell(81, "annabel.ton", ann, ann, b) }, "annabel.ton", "ann.ton"},
		{"the item is no name any more", func(b *synthetic.Bundle) { tell(82, "", bob, nil, b) }, "annabel.ton", ""},
	} {
		b := bundles[n+1]
		step.tell(b)
		w.setWatermark(t, b)
		s.await(b.Seqno)
		for a, want := range map[string]string{rawOf(ann): step.ann, rawOf(bob): step.bobs} {
			for range 2 { // the second time it is remembered
				var book map[string]struct{ Domain *string }
				if err := json.Unmarshal(s.ask("/api/v3/addressBook?address="+a).Body.Bytes(), &book); err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, row := range book {
					if row.Domain != nil {
						got = *row.Domain
					}
				}
				if got != want {
					t.Errorf("%s: %s is %q, want %q", step.what, a, got, want)
				}
			}
		}
	}
}
