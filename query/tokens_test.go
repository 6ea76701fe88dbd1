package query

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema/record"
)

// What is listed of tokens is what the tables were told last.
func TestTokenListsEqualTheNewestFacts(t *testing.T) {
	t.Parallel()
	w := sharedTown(t)
	for name, check := range map[string]func(*town){"jettons": jettonLists, "nfts": nftLists, "transfers": transferLists} {
		t.Run(name, func(t *testing.T) {
			w.server.TB = t
			check(w)
		})
	}
}

func jettonLists(w *town) {
	isWallet := func(c *record.Contract) bool { return c.JettonWallet != nil }
	holders := map[string]int{}
	owned := map[string]int{}
	for _, c := range w.contracts {
		if isWallet(c) {
			holders[string(c.JettonWallet.Master)]++
			owned[string(c.JettonWallet.Owner)]++
		}
	}
	most := func(counts map[string]int) (key []byte) {
		for k, n := range counts {
			if n > counts[string(key)] || n == counts[string(key)] && k < string(key) {
				key = []byte(k)
			}
		}
		return key
	}
	master, owner := most(holders), most(owned)
	of := func(master []byte) func(*record.Contract) bool {
		return func(c *record.Contract) bool { return isWallet(c) && bytes.Equal(c.JettonWallet.Master, master) }
	}
	small := w.any(func(c *record.Contract) bool { return isWallet(c) && !bytes.Equal(c.JettonWallet.Master, master) }).JettonWallet.Master
	for _, m := range [][]byte{master, small} {
		path := "/jetton/wallets?jetton_address=" + rawOf(m)
		w.walks(path, "jetton_wallets", addressIn, w.list(of(m), byFirst), 113)
		w.walks(path+"&sort=desc", "jetton_wallets", addressIn, w.list(of(m), reversed(byBalance)), 113)
		w.walks(path+"&sort=asc", "jetton_wallets", addressIn, w.list(of(m), byBalance), 197)
		w.walks(path+"&sort=desc&exclude_zero_balance=true", "jetton_wallets", addressIn, w.list(func(c *record.Contract) bool {
			return of(m)(c) && len(c.JettonWallet.Balance) > 0
		}, reversed(byBalance)), 200)
	}
	w.walks("/jetton/wallets?sort=desc", "jetton_wallets", addressIn, w.list(isWallet, reversed(byBalance)), 300)
	w.walks("/jetton/wallets", "jetton_wallets", addressIn, w.list(isWallet, byFirst), 300)

	ofOwners := func(owners ...[]byte) func(*record.Contract) bool {
		return func(c *record.Contract) bool {
			return isWallet(c) && slices.ContainsFunc(owners, func(o []byte) bool { return bytes.Equal(o, c.JettonWallet.Owner) })
		}
	}
	other := w.any(func(c *record.Contract) bool { return isWallet(c) && !bytes.Equal(c.JettonWallet.Owner, owner) }).JettonWallet.Owner
	byOwner := func(rest func(a, b *record.Contract) int) func(a, b *record.Contract) int {
		return func(a, b *record.Contract) int {
			return cmp.Or(bytes.Compare(a.JettonWallet.Owner, b.JettonWallet.Owner), rest(a, b))
		}
	}
	path := "/jetton/wallets?owner_address=" + rawOf(owner)
	w.walks(path, "jetton_wallets", addressIn, w.list(ofOwners(owner), byFirst), 17)
	w.walks(path+"&sort=desc", "jetton_wallets", addressIn, w.list(ofOwners(owner), reversed(byBalance)), 17)
	w.walks(path+"&owner_address="+rawOf(other), "jetton_wallets", addressIn, w.list(ofOwners(owner, other), byOwner(byFirst)), 11)
	w.walks(path+"&owner_address="+rawOf(other)+"&sort=asc", "jetton_wallets", addressIn, w.list(ofOwners(owner, other), byOwner(byBalance)), 11)
	w.walks(path+"&jetton_address="+rawOf(master), "jetton_wallets", addressIn, w.list(func(c *record.Contract) bool {
		return ofOwners(owner)(c) && of(master)(c)
	}, byFirst), 3)
	w.walks(path+"&jetton_address="+rawOf(master)+"&jetton_address="+rawOf(small)+"&sort=desc", "jetton_wallets", addressIn, w.list(func(c *record.Contract) bool {
		return ofOwners(owner)(c) && (of(master)(c) || of(small)(c))
	}, reversed(byBalance)), 3)
	some := w.list(of(master), byAddress)[:20]
	w.walks("/jetton/wallets?sort=desc&address="+strings.Join(some, "&address="), "jetton_wallets", addressIn, some, 7)

	isMaster := func(c *record.Contract) bool { return c.JettonMaster != nil }
	w.walks("/jetton/masters", "jetton_masters", addressIn, w.list(isMaster, byFirst), 90)
	admin := w.any(isMaster).JettonMaster.Admin
	w.walks("/jetton/masters?admin_address="+rawOf(admin), "jetton_masters", addressIn, w.list(func(c *record.Contract) bool {
		return isMaster(c) && bytes.Equal(c.JettonMaster.Admin, admin)
	}, byFirst), 1)
	w.walks("/jetton/masters?address="+rawOf(master)+"&admin_address="+rawOf(addressOf(9)), "jetton_masters", addressIn, nil, 5)
}

func nftLists(w *town) {
	isItem := func(c *record.Contract) bool { return c.NftItem != nil }
	owned := map[string]int{}
	for _, c := range w.contracts {
		if isItem(c) {
			owned[string(c.NftItem.Owner)]++
		}
	}
	var owner, other []byte
	for k, n := range owned {
		if n > owned[string(owner)] || n == owned[string(owner)] && k < string(owner) {
			owner = []byte(k)
		}
	}
	other = w.any(func(c *record.Contract) bool { return isItem(c) && !bytes.Equal(c.NftItem.Owner, owner) }).NftItem.Owner
	byIndex := func(a, b *record.Contract) int {
		return cmp.Or(bytes.Compare(a.NftItem.Collection, b.NftItem.Collection), bigOf(a.NftItem.Index).Cmp(bigOf(b.NftItem.Index)), byAddress(a, b))
	}
	byOwner := func(a, b *record.Contract) int {
		return cmp.Or(bytes.Compare(a.NftItem.Owner, b.NftItem.Owner), byIndex(a, b))
	}
	byLt := func(a, b *record.Contract) int {
		return cmp.Or(cmp.Compare(b.LastTransLt, a.LastTransLt), byAddress(b, a))
	}
	ofOwners := func(owners ...[]byte) func(*record.Contract) bool {
		return func(c *record.Contract) bool {
			return isItem(c) && slices.ContainsFunc(owners, func(o []byte) bool { return bytes.Equal(o, c.NftItem.Owner) })
		}
	}
	w.walks("/nft/items", "nft_items", addressIn, w.list(isItem, byFirst), 50)
	w.walks("/nft/items?sort_by_last_transaction_lt=true", "nft_items", addressIn, w.list(isItem, byLt), 50)
	path := "/nft/items?owner_address=" + rawOf(owner)
	w.walks(path, "nft_items", addressIn, w.list(ofOwners(owner), byOwner), 3)
	w.walks(path+"&sort_by_last_transaction_lt=true", "nft_items", addressIn, w.list(ofOwners(owner), byLt), 3)
	w.walks(path+"&owner_address="+rawOf(other), "nft_items", addressIn, w.list(ofOwners(owner, other), byOwner), 3)
	collection := w.any(ofOwners(owner)).NftItem.Collection
	in := func(c *record.Contract) bool { return isItem(c) && bytes.Equal(c.NftItem.Collection, collection) }
	w.walks("/nft/items?collection_address="+rawOf(collection), "nft_items", addressIn, w.list(in, byIndex), 2)
	w.walks("/nft/items?sort_by_last_transaction_lt=1&collection_address="+rawOf(collection), "nft_items", addressIn, w.list(in, byLt), 2)
	w.walks("/nft/items?collection_address="+rawOf(collection)+"&index=1&index=0&index=700", "nft_items", addressIn, w.list(func(c *record.Contract) bool {
		return in(c) && bigOf(c.NftItem.Index).Cmp(big.NewInt(1)) <= 0
	}, byIndex), 1)
	w.walks(path+"&collection_address="+rawOf(collection), "nft_items", addressIn, w.list(func(c *record.Contract) bool { return in(c) && ofOwners(owner)(c) }, byIndex), 2)

	isCollection := func(c *record.Contract) bool { return c.NftCollection != nil }
	w.walks("/nft/collections", "nft_collections", addressIn, w.list(isCollection, byFirst), 7)
	creator := w.any(isCollection).NftCollection.Owner
	w.walks("/nft/collections?owner_address="+rawOf(creator), "nft_collections", addressIn, w.list(func(c *record.Contract) bool {
		return isCollection(c) && bytes.Equal(c.NftCollection.Owner, creator)
	}, byFirst), 2)
}
