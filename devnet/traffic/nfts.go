package traffic

import (
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	account "tonscribe/ton/address"
)

// collection is a collection of NFTs of the devnet.
type collection struct {
	admin   *person
	is      contracts.NFTCollection
	address *address.Address
}

// firstItems is how many items each collection has in the beginning.
const firstItems = 40

func (t *Traffic) foundCollections() {
	const site = "https://example.com/nfts/"
	royalty := contracts.Royalty{Numerator: 5, Denominator: 100}
	for _, is := range []contracts.NFTCollection{
		{Content: contracts.OffchainContent(site + "cats.json"), CommonContent: contracts.SnakeText(site + "cats/"), Royalty: royalty},
		{Content: contracts.OnchainContent(map[string]string{"name": "Devnet Stones", "description": "Every stone is another"}), Royalty: royalty},
		{Content: contracts.OffchainContent(site + "diplomas.json"), CommonContent: contracts.SnakeText(site + "diplomas/"), SBT: true},
	} {
		admin := t.admin(len(t.people))
		is.Owner, is.Royalty.Destination = admin.address, admin.address
		if is.Royalty.Denominator == 0 {
			is.Royalty.Denominator = 1
		}
		t.collections = append(t.collections, &collection{admin: admin, is: is, address: is.Address(0)})
	}
}

// content is what an item is minted with.
func (c *collection) content(index uint64) *cell.Cell {
	if c.is.CommonContent != nil {
		return contracts.SnakeText(fmt.Sprintf("%d.json", index))
	}
	return contracts.OnchainContent(map[string]string{"name": fmt.Sprintf("Stone #%d", index), "image": fmt.Sprintf("https://example.com/nfts/stones/%d.png", index)})
}

// items is how many items a collection has deployed, -1 when it is not deployed
// itself.
func (s *step) items(c *collection) int64 {
	data := s.data(c.address)
	if data == nil {
		return -1
	}
	data.Account() // the owner
	next := data.Uint(64)
	s.fail(data.Err())
	return int64(next)
}

// item is any item of a collection and its owner: a user who can send.
func (s *step) item(c *collection) (*address.Address, *person) {
	items := s.items(c)
	if items <= 0 {
		return nil, nil
	}
	for range 10 {
		at := c.is.Item(0, s.chance.Uint64N(uint64(items))).Address(0)
		if owner := s.byAccount[s.itemOwner(at)]; owner != nil && s.free(owner, 2) {
			return at, owner
		}
	}
	return nil, nil
}

// itemOwner reads an item's data, zero when it is not there.
func (s *step) itemOwner(item *address.Address) account.Address {
	data := s.data(item)
	if data == nil {
		return account.Address{}
	}
	data.Skip(64)
	data.Account() // the collection
	if data.BitsLeft() == 0 {
		return account.Address{}
	}
	return accountOf(data)
}

func (s *step) nftMint() int {
	c := s.tradable()
	if !s.ready || !s.free(c.admin, 10) {
		return 0
	}
	return s.send(3, c.admin, s.mintItem(c, uint64(s.items(c)), among(s.chance, s.users)))
}

func (s *step) mintItem(c *collection, index uint64, owner *person) contracts.Message {
	init := contracts.NFTInit{Owner: owner.address, Content: c.content(index), Value: ton(0.05)}
	if s.chance.IntN(5) == 0 {
		init.Editor = c.admin.address
	}
	return pay(c.address, ton(0.1), contracts.NFTDeployBody(s.query(), index, init))
}

func (s *step) nftTransfer(_ *collection, item *address.Address, owner *person) int {
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: s.other(owner).address, Response: owner.address}
	caused := 3
	if s.chance.IntN(2) == 0 {
		transfer.ForwardValue, transfer.ForwardPayload = ton(0.01), contracts.CommentBody(oneOf(s.chance, remarks))
		caused++
	}
	return s.send(caused, owner, pay(item, ton(0.1), contracts.NFTTransferBody(transfer)))
}

// nftAsked asks a collection or an item what it tells everybody.
func (s *step) nftAsked() int {
	c := oneOf(s.chance, s.collections)
	p := s.anyone(5)
	items := s.items(c)
	if p == nil || items <= 0 {
		return 0
	}
	message := pay(c.address, ton(0.05), contracts.GetRoyaltyParamsBody(s.query()))
	if s.chance.IntN(2) == 0 {
		at := c.is.Item(0, s.chance.Uint64N(uint64(items))).Address(0)
		message = pay(at, ton(0.05), contracts.GetStaticDataBody(s.query()))
	}
	return s.send(3, p, message)
}

// tradable is a collection whose items change hands.
func (s *step) tradable() *collection { return s.collections[s.chance.IntN(2)] }

// bound is the collection of soul-bound items.
func (s *step) bound() *collection { return s.collections[len(s.collections)-1] }

func (s *step) sbtMint() int {
	c := s.bound()
	if !s.ready || !s.free(c.admin, 10) {
		return 0
	}
	return s.send(3, c.admin, s.mintBound(c, uint64(s.items(c)), among(s.chance, s.users)))
}

func (s *step) mintBound(c *collection, index uint64, owner *person) contracts.Message {
	return pay(c.address, ton(0.1), contracts.SBTDeployBody(s.query(), index, contracts.SBTInit{
		Owner: owner.address, Content: c.content(index), Authority: c.admin.address, Value: ton(0.05),
	}))
}

func (s *step) sbtProof(_ *collection, item *address.Address, owner *person) int {
	body := contracts.SBTProveOwnershipBody(s.query(), s.other(owner).address, contracts.CommentBody("door 3"), s.chance.IntN(2) == 0)
	return s.send(3, owner, pay(item, ton(0.05), body))
}

// sbtEnd revokes an item, or its owner destroys it.
func (s *step) sbtEnd(c *collection, item *address.Address, owner *person) int {
	if s.chance.IntN(2) == 0 {
		return s.send(3, owner, pay(item, ton(0.05), contracts.SBTDestroyBody(s.query())))
	}
	if !s.ready || !s.free(c.admin, 10) {
		return 0
	}
	return s.send(2, c.admin, pay(item, ton(0.05), contracts.SBTRevokeBody(s.query())))
}

// collectionTasks deploy the collections and their first items.
func (t *Traffic) collectionTasks() (deploy, mint []task) {
	for i, c := range t.collections {
		name := fmt.Sprintf("collection %d", i)
		deploy = append(deploy, task{name + " deployed", func(s *step) bool { return s.items(c) >= 0 }, func(s *step) int {
			message := pay(c.address, ton(1), contracts.TopUpBody(0))
			message.StateInit = c.is.StateInit()
			return s.sendAs(c.admin, 2, message)
		}})
		mint = append(mint, task{name + " minted", func(s *step) bool { return s.items(c) > 0 }, func(s *step) int {
			if c.is.SBT {
				return s.sendAs(c.admin, 3, s.mintBound(c, 0, t.users[0]))
			}
			items := make([]contracts.NFTInit, firstItems)
			for index := range items {
				items[index] = contracts.NFTInit{
					Owner: t.users[index%len(t.users)].address, Content: c.content(uint64(index)), Value: ton(0.05),
				}
			}
			message := pay(c.address, ton(0.2*firstItems), contracts.NFTBatchDeployBody(s.query(), 0, items))
			return s.sendAs(c.admin, 2+firstItems, message)
		}})
	}
	return deploy, mint
}
