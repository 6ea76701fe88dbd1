package query

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// returning are contracts with all roles of tokens, each of which says so with the first
// bundle. Of every eight, one is nothing any more with the second, one comes back with the
// third, and one has spent its jettons; two become vesting contracts and no more with the second,
// of which one is all that it was again with the third.
type returning struct {
	*town
	master []byte // of all jetton wallets, and the collection of all items
}

func newReturning(t *testing.T, contracts int) *returning {
	t.Helper()
	w := newWorld(t, syntheticBundles(300, 9))
	for _, table := range append([]string{"contracts"}, tablesOfTokens...) {
		w.exec(t, "TRUNCATE TABLE "+table)
	}
	x := &returning{&town{world: w}, addressOf(200)}
	for step := range 3 {
		var list []*record.Contract
		for i := range contracts {
			a := make([]byte, schema.AddressSize)
			binary.BigEndian.PutUint64(a[4:], uint64(i)*0x9e3779b97f4a7c15)
			c := &record.Contract{Account: a, McSeqno: w.bundles[step].Seqno, FirstMcSeqno: w.bundles[0].Seqno, LastTransLt: uint64(1000*step + i/2),
				CodeHash: hashOf(1), DataHash: hashOf(2)}
			balance := []byte{byte(1 + i%50)}
			switch kind := i % 8; {
			case step == 1 && kind < 2:
				list = append(list, c)
				continue
			case step == 1 && (kind == 3 || kind == 4):
				c.LostRoles, c.Vesting = rolesOfTokens, &record.Vesting{}
				list = append(list, c)
				continue
			case step == 1 && kind == 2:
				balance = nil
			case step == 2 && kind == 1:
				c.FirstMcSeqno = c.McSeqno
			case step == 2 && kind == 3:
				c.WalletAgainMcSeqno = c.McSeqno
			case step > 0:
				continue
			}
			c.JettonWallet = &record.JettonWallet{Balance: balance, Owner: a, Master: x.master}
			c.JettonMaster = &record.JettonMaster{TotalSupply: balance, WalletCodeHash: hashOf(3)}
			c.NftItem = &record.NFTItem{Init: true, Index: binary.BigEndian.AppendUint16(nil, uint16(i)), Collection: x.master, Owner: a}
			c.NftCollection = &record.NFTCollection{Owner: a}
			list = append(list, c)
		}
		x.tell(t, list)
	}
	x.server = w.serve(t, holdNothing)
	return x
}

const rolesOfTokens = schema.RoleJettonMaster | schema.RoleJettonWallet | schema.RoleNFTCollection | schema.RoleNFTItem

var tablesOfTokens = []string{"jetton_wallets", "jetton_masters", "nft_items", "nft_collections"}

// tell writes what a bundle says, as one part of each table.
func (x *returning) tell(t *testing.T, list []*record.Contract) {
	t.Helper()
	rows := map[string][]string{}
	for _, c := range list {
		at := fmt.Sprintf("%d, %d, unhex('%x'), %d", schema.Workchain(c.Account), schema.Prefix(c.Account[4:]), c.Account[4:], c.McSeqno)
		place := fmt.Sprintf("%s, %d", at, c.FirstMcSeqno)
		none, parent := "-2147483648, 0", "-2147483648, 0"
		if c.JettonWallet != nil {
			parent = fmt.Sprintf("%d, %d", schema.Workchain(x.master), schema.Prefix(x.master[4:]))
		}
		state := fmt.Sprintf("%d, %t", c.LastTransLt, c.JettonWallet != nil)
		rows["contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record)"] = append(
			rows["contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record)"], fmt.Sprintf("(%s, unhex('%x'))", place, packed(t, c)))
		for table, columns := range map[string][2]string{
			"jetton_wallets":  {"master_workchain, master_prefix, balance", fmt.Sprintf("%s, %s", parent, bigOf(c.JettonWallet.GetBalance()))},
			"jetton_masters":  {"admin_workchain, admin_prefix", none},
			"nft_items":       {"collection_workchain, collection_prefix, item_index", fmt.Sprintf("%s, %s", parent, bigOf(c.NftItem.GetIndex()))},
			"nft_collections": {"owner_workchain, owner_prefix", none},
		} {
			into := table + " (workchain, account_prefix, account, mc_seqno, first_mc_seqno, lt, active, " + columns[0] + ")"
			first := c.FirstMcSeqno
			if table == "jetton_wallets" {
				first = schema.WalletSince(c)
			}
			rows[into] = append(rows[into], fmt.Sprintf("(%s, %d, %s, %s)", at, first, state, columns[1]))
		}
	}
	for into, values := range rows {
		x.exec(t, "INSERT INTO "+into+" VALUES "+strings.Join(values, ","))
	}
}

func (x *returning) check(t *testing.T, when string) {
	t.Helper()
	const all = 400
	master := url.QueryEscape(rawOf(x.master))
	for path, want := range map[string]int{
		"/jetton/wallets": all * 6 / 8, "/jetton/wallets?sort=desc": all * 6 / 8, "/jetton/wallets?jetton_address=" + master: all * 6 / 8,
		"/jetton/wallets?sort=asc&jetton_address=" + master: all * 6 / 8, "/jetton/wallets?exclude_zero_balance=true": all * 5 / 8,
		"/jetton/wallets?exclude_zero_balance=true&sort=desc": all * 5 / 8, "/jetton/wallets?exclude_zero_balance=true&jetton_address=" + master: all * 5 / 8,
		"/jetton/masters": all * 6 / 8, "/nft/collections": all * 6 / 8,
		"/nft/items": all * 6 / 8, "/nft/items?sort_by_last_transaction_lt=true": all * 6 / 8,
		"/nft/items?collection_address=" + master: all * 6 / 8, "/nft/items?sort_by_last_transaction_lt=true&collection_address=" + master: all * 6 / 8,
	} {
		list := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "_")
		list, _, _ = strings.Cut(list, "?")
		rows, _ := x.page(joined(path)+"limit=1000", list, addressIn)
		if distinct := slices.Compact(slices.Sorted(slices.Values(rows))); len(rows) != want || len(distinct) != want {
			t.Errorf("%s, %s: %d rows of %d contracts, want %d", when, path, len(rows), len(distinct), want)
		}
		x.walks(path, list, addressIn, rows, 70)
		for offset := 0; offset <= want+70; offset += 70 {
			got, _ := x.page(fmt.Sprintf("%slimit=70&offset=%d", joined(path), offset), list, addressIn)
			x.equal(fmt.Sprintf("%s, %s from %d on", when, path, offset), got, rows[min(offset, want):min(offset+70, want)])
		}
	}
}

// Contracts that were nothing for a while, and wallets that are empty now, are neither
// missing nor counted in pages by offset, whether or not their rows are merged; and who
// else is in the tables is not read for a page.
func TestContractsThatComeBackAreInTheirListsAtEveryOffset(t *testing.T) {
	t.Parallel()
	x := newReturning(t, 400)
	x.check(t, "before a merge")
	for _, table := range tablesOfTokens {
		x.merge(t, table)
	}
	x.check(t, "after a merge")
	const others = 20_000
	for table, parent := range map[string]string{"jetton_wallets": "master", "nft_items": "collection"} {
		x.exec(t, fmt.Sprintf("INSERT INTO %s (account_prefix, account, mc_seqno, first_mc_seqno, active, %s_prefix) SELECT number, toString(number), %[3]d, %[3]d, true, 1 FROM numbers(%d)",
			table, parent, x.watermark, others))
		x.merge(t, table)
	}
	for path, list := range map[string]string{
		"/jetton/wallets?jetton_address=" + url.QueryEscape(rawOf(x.master)): "jetton_wallets", "/jetton/wallets": "jetton_wallets", "/nft/items": "nft_items",
	} {
		before := x.rowsRead("contract offset")
		if rows, _ := x.page(joined(path)+"limit=10&offset=250", list, addressIn); len(rows) != 10 {
			t.Errorf("%s: %d rows, want 10", path, len(rows))
		}
		if read := x.rowsRead("contract offset") - before; read == 0 || read > others/4 {
			t.Errorf("%s: %.0f rows were read for a page of 10, most of which are others'", path, read)
		}
	}
}
