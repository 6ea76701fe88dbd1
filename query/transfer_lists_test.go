package query

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// transferRow is what lists of transfers are checked by.
type transferRow struct {
	account, source, destination, parent []byte
	lt                                   uint64
	now                                  uint32
	aborted                              bool
}

func transferID(r map[string]any) string {
	for _, name := range []string{"source_wallet", "jetton_wallet", "nft_address"} {
		if a, ok := r[name]; ok {
			return fmt.Sprint(a, " ", r["transaction_lt"])
		}
	}
	return "?"
}

func idsOf(rows []transferRow, match func(*transferRow) bool, byTime, descending bool) (ids []string) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b transferRow) int {
		c := cmp.Or(cmp.Compare(a.lt, b.lt), bytes.Compare(a.account, b.account))
		if byTime {
			c = cmp.Or(cmp.Compare(a.now, b.now), c)
		}
		if descending {
			return -c
		}
		return c
	})
	for i := range rows {
		if match(&rows[i]) {
			ids = append(ids, fmt.Sprintf("%s %d", rawOf(rows[i].account), rows[i].lt))
		}
	}
	return ids
}

func transferLists(w *town) {
	kinds := map[string][]transferRow{}
	for _, j := range w.transfers {
		if !j.Aborted {
			kinds["jetton_transfers"] = append(kinds["jetton_transfers"], transferRow{j.SourceWallet, j.Source, j.Destination, j.Master, j.Lt, j.Now, false})
		}
	}
	for _, j := range w.burns {
		kinds["jetton_burns"] = append(kinds["jetton_burns"], transferRow{j.Wallet, j.Owner, nil, j.Master, j.Lt, j.Now, j.Aborted})
	}
	for _, n := range w.nfts {
		kinds["nft_transfers"] = append(kinds["nft_transfers"], transferRow{n.Item, n.OldOwner, n.NewOwner, n.Collection, n.Lt, n.Now, n.Aborted})
	}
	for name, rows := range kinds {
		account, parent := "jetton_wallet", "jetton_master"
		if name == "nft_transfers" {
			account, parent = "item_address", "collection_address"
		}
		path := "/" + strings.Replace(name, "_", "/", 1)
		check := func(query string, match func(*transferRow) bool, byTime bool) {
			w.Helper()
			for _, descending := range []bool{true, false} {
				sort := "&sort=asc"
				if descending {
					sort = ""
				}
				w.walks(path+"?"+query+sort, name, transferID, idsOf(rows, match, byTime, descending), 397)
			}
		}
		owner, other := rows[0].source, rows[1].source
		one := rows[len(rows)/2]
		is := func(a, b []byte) bool { return bytes.Equal(a, b) }
		all := func(*transferRow) bool { return true }
		check("", all, false)
		check("start_utime=1", all, true)
		check(fmt.Sprintf("start_utime=%d&end_utime=%d", one.now-50, one.now+50), func(r *transferRow) bool { return r.now >= one.now-50 && r.now <= one.now+50 }, true)
		check(fmt.Sprintf("start_lt=%d", one.lt), func(r *transferRow) bool { return r.lt >= one.lt }, false)
		either := func(r *transferRow) bool { return is(r.source, owner) || is(r.destination, owner) }
		check("owner_address="+rawOf(owner), either, false)
		check("address="+rawOf(owner), either, false)
		check("owner_address="+rawOf(owner)+"&end_utime=4000000000", either, true)
		check("owner_address="+rawOf(owner)+"&owner_address="+rawOf(other), func(r *transferRow) bool {
			return either(r) || is(r.source, other) || is(r.destination, other)
		}, false)
		check(account+"="+rawOf(one.account), func(r *transferRow) bool { return is(r.account, one.account) }, false)
		check(account+"="+rawOf(one.account)+"&start_utime=5", func(r *transferRow) bool { return is(r.account, one.account) }, true)
		if stranger := slices.IndexFunc(rows, func(r transferRow) bool { return !is(r.parent, one.parent) }); stranger < 0 {
			w.Errorf("%s: all of one %s", name, parent)
		} else {
			both := account + "=" + rawOf(one.account) + "&" + account + "=" + rawOf(rows[stranger].account) + "&" + parent + "=" + rawOf(one.parent)
			check(both, func(r *transferRow) bool { return is(r.account, one.account) && is(r.parent, one.parent) }, false)
			check(both+"&start_utime=5", func(r *transferRow) bool { return is(r.account, one.account) && is(r.parent, one.parent) }, true)
		}
		check(parent+"="+rawOf(one.parent), func(r *transferRow) bool { return is(r.parent, one.parent) }, false)
		check(parent+"="+rawOf(one.parent)+"&end_utime=4000000000", func(r *transferRow) bool { return is(r.parent, one.parent) }, true)
		check(parent+"="+rawOf(one.parent)+"&owner_address="+rawOf(one.source), func(r *transferRow) bool {
			return is(r.parent, one.parent) && (is(r.source, one.source) || is(r.destination, one.source))
		}, false)
		if name == "jetton_burns" {
			continue
		}
		check("direction=in&owner_address="+rawOf(owner), func(r *transferRow) bool { return is(r.destination, owner) }, false)
		check("direction=out&owner_address="+rawOf(owner), func(r *transferRow) bool { return is(r.source, owner) }, false)
		check("direction=sideways&owner_address="+rawOf(owner)+"&start_utime=1", func(r *transferRow) bool { return is(r.source, owner) }, true)
		check("direction=in", all, false)
	}
}
