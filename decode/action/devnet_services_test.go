package action_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

func TestNamesOfADevnet(t *testing.T) {
	alice := newActor(1, contracts.WalletV4R2, 0)
	zone := contracts.DNSCollection{Content: contracts.OffchainContent("https://example.com/names.json"), MinPrice: ton(1), AuctionTime: 60}
	at, name := zone.Address(0), zone.Item(0, "alice")
	item := name.Address(0)
	owned := placed(name.OwnedStateInit(zone, alice.Address, devnetDawn, nil), 0, 1)
	owned.ID = [32]byte(item.Data())
	s := newDevnet(t, placed(zone.StateInit(), 0, 1), owned)
	record, wallet, site := contracts.DNSWalletRecord(s.bob.Address), hexOf(contracts.DNSCategoryWallet), hexOf(contracts.DNSCategorySite)
	body, none := contracts.DNSChangeRecordBody(1, contracts.DNSCategoryWallet, record), contracts.DNSChangeRecordBody(1, contracts.DNSCategoryWallet, nil)
	says := func(what string, by *actor, details ...any) wanted {
		return is(what, append(details, "source", by, "asset", item, "nft_collection", at)...)
	}
	changed := func(what string, by *actor) wanted {
		return says(what, by, "key", wallet, "value.sum_type", "DNSSmcAddress", "value.dns_smc_address", s.bob, "value.flags", 0)
	}
	s.plays("a record", s.alice, one(item, 0.1, body), changed("change_dns", s.alice))
	s.plays("a site", s.alice, one(item, 0.1, contracts.DNSChangeRecordBody(1, contracts.DNSCategorySite, contracts.DNSSiteRecord([32]byte{0xad}))),
		says("change_dns", s.alice, "key", site, "value.sum_type", "DNSAdnlAddress", "value.dns_adnl_address", "ad"+strings.Repeat("00", 31), "value.flags", 0))
	s.plays("a record by another", s.bob, one(item, 0.1, body), changed("change_dns!", s.bob))
	s.plays("a record with too little for its gas", s.alice, one(item, 0.001, body), changed("change_dns!", s.alice))
	s.plays("a record with too little for any gas", s.alice, one(item, 0.00001, body), changed("change_dns!", s.alice))
	s.plays("a record goes", s.alice, one(item, 0.1, none), says("delete_dns", s.alice, "hash", wallet))
	s.plays("a record that another takes away", s.bob, one(item, 0.1, none), says("delete_dns!", s.bob, "hash", wallet))
	s.plays("renewed", s.alice, one(item, 0.1, contracts.DNSRenewBody(1)), says("renew_dns", s.alice))
	s.plays("renewed by another", s.bob, one(item, 0.1, contracts.DNSRenewBody(1)), says("renew_dns!", s.bob))
	s.plays("transferred", s.alice, one(item, 0.2, contracts.NFTTransferBody(contracts.NFTTransfer{QueryID: 3, NewOwner: s.bob.Address, Response: s.alice.Address, ForwardValue: ton(0.01)})),
		is("nft_transfer", "nft_item", item, "nft_collection", at, "nft_item_index", contracts.DNSIndex("alice"), "query_id", 3, "old_owner", s.alice, "new_owner", s.bob,
			"response_destination", s.alice, "forward_amount", ton(0.01), "forward_payload", emptyPayload))
	const release = 0x4ed14b65
	s.plays("released too early", s.carol, one(item, 2, cell.BeginCell().MustStoreUInt(release, 32).MustStoreUInt(2, 64).EndCell()), refusedCall(release, s.carol, item, 2)...)

	// Names of another zone than .ton are not taken for auctions.
	river := zone.Item(0, "river").Address(0)
	s.plays("a name is asked for", s.carol, one(at, 2, contracts.CommentBody("river")),
		is("ton_transfer", "source", s.carol, "destination", at, "value", ton(2), "comment", "river"),
		is("nft_mint", "owner", at, "nft_item", river, "nft_collection", at, "nft_item_index", contracts.DNSIndex("river")),
		is("contract_deploy", "opcode", anything{}, "source", at, "destination", river, "value", anything{}))
	s.plays("a name is asked for with too little", s.carol, one(at, 0.5, contracts.CommentBody("ocean")), refusedTransfer(s.carol, at, 0.5, "comment", "ocean")...)
	s.plays("a bid for it", s.alice, one(river, 3, nil), is("ton_transfer", "source", s.alice, "destination", river, "value", ton(3)),
		is("call_contract", "opcode", 0x557cea20, "source", river, "destination", s.carol, "value", anything{}))
	s.plays("a bid below the step", s.alice, one(river, 3.01, nil), refusedTransfer(s.alice, river, 3.01)...)
	s.now += 60
	s.plays("the first order of its winner", s.alice, one(river, 0.1, body),
		is("change_dns", "source", s.alice, "asset", river, "nft_collection", at, "key", wallet, "value.sum_type", "DNSSmcAddress", "value.dns_smc_address", s.bob, "value.flags", 0),
		is("call_contract", "opcode", 0x370fec51, "source", river, "destination", at, "value", anything{}))
}

// hexOf is the key of a category of records.
func hexOf(category string) string { return fmt.Sprintf("%064x", contracts.DNSIndex(category)) }

// bare is a cell as a bag without a checksum, base64.
func bare(c *cell.Cell) string {
	return base64.StdEncoding.EncodeToString(c.ToBOCWithOptions(cell.BOCSerializeOptions{}))
}

func TestMultisigOfADevnet(t *testing.T) {
	people := []*tonutils.Address{newActor(1, contracts.WalletV4R2, 0).Address, newActor(2, contracts.WalletV4R2, 0).Address, newActor(3, contracts.WalletV3R2, 0).Address}
	wallet := contracts.Multisig{Threshold: 2, Signers: people, Proposers: []*tonutils.Address{newActor(4, contracts.WalletV4R2, 0).Address}}
	at := wallet.Address(0)
	s := newDevnet(t, placed(wallet.StateInit(), 0, 100))
	const opens, approves, expiration = 0xf718510f, 0xa762230f, devnetDawn + 3600
	order := func(seqno int64) *tonutils.Address { return wallet.Order(0, big.NewInt(seqno)).Address(0) }
	pay := func(tons float64, mode uint8) *cell.Cell {
		return contracts.MultisigActions(contracts.MultisigAction{Message: &contracts.Message{To: s.carol.Address, Value: ton(tons), Mode: mode, Body: contracts.CommentBody("salary")}})
	}
	body := func(seqno int64, signer bool, index uint8, actions *cell.Cell) *cell.Cell {
		return contracts.MultisigNewOrderBody(contracts.NewOrder{QueryID: 1, Seqno: big.NewInt(seqno), FromSigner: signer, Index: index, Expiration: expiration, Actions: actions})
	}
	s.plays("with another's index", s.bob, one(at, 1, body(0, true, 0, pay(5, 3))), refusedCall(opens, s.bob, at, 1)...)
	s.plays("with a wrong number", s.alice, one(at, 1, body(7, true, 0, pay(5, 3))), refusedCall(opens, s.alice, at, 1)...)
	s.plays("with too little value", s.alice, one(at, 0.01, body(0, true, 0, pay(5, 3))), refusedCall(opens, s.alice, at, 0.01)...)
	s.plays("with too little for any gas", s.alice, one(at, 0.00001, body(0, true, 0, pay(5, 3))),
		is("call_contract!", "opcode", opens, "source", s.alice, "destination", at, "value", ton(0.00001)))

	created := func(seqno int64, by *actor, actions *cell.Cell, more ...any) []wanted {
		return []wanted{is("multisig_create_order", append(more, "query_id", 1, "order_seqno", seqno, "creator_index", 0, "expiration_date", expiration,
			"order_boc", bare(actions), "source", by, "destination", at, "destination_order", order(seqno))...),
			is("contract_deploy", "opcode", 0x9c73fba2, "source", at, "destination", order(seqno), "value", anything{})}
	}
	approved := func(what string, by *actor, seqno, index, exit int64) wanted {
		return is(what, "signer_index", index, "exit_code", exit, "source", by, "destination", order(seqno))
	}
	executed := func(what string, seqno int64, actions *cell.Cell) wanted {
		return is(what, "query_id", anything{}, "order_seqno", seqno, "expiration_date", expiration, "approvals_num", 2, "signers_hash", anything{},
			"order_boc", bare(actions), "source", order(seqno), "destination", at)
	}
	salary := pay(5, 3)
	s.plays("proposed", s.admin, one(at, 1, body(0, false, 0, salary)), created(0, s.admin, salary)...)
	s.plays("approved by one who may not", s.admin, one(order(0), 0.2, contracts.MultisigApproveBody(2, 1)), refusedCall(approves, s.admin, order(0), 0.2)...)
	s.plays("approved with too little for any gas", s.bob, one(order(0), 0.00001, contracts.MultisigApproveBody(2, 1)),
		is("call_contract!", "opcode", approves, "source", s.bob, "destination", order(0), "value", ton(0.00001)))
	s.plays("approved by a word", s.carol, one(order(0), 0.2, contracts.CommentBody("approve")), approved("multisig_approve", s.carol, 0, -1, 0))
	s.plays("approved twice by one", s.carol, one(order(0), 0.2, contracts.MultisigApproveBody(2, 2)), approved("multisig_approve!", s.carol, 0, 2, 107))
	s.plays("approved, and executed", s.bob, one(order(0), 0.2, contracts.MultisigApproveBody(2, 1)), approved("multisig_approve", s.bob, 0, 1, 0),
		executed("multisig_execute", 0, salary), is("ton_transfer", "source", at, "destination", s.carol, "value", ton(5), "comment", "salary"))
	s.plays("approved when it has no toncoins left for its rent", s.alice, one(order(0), 0.2, contracts.MultisigApproveBody(2, 0)), refusedCall(approves, s.alice, order(0), 0.2)...)
	s.plays("opened by a signer", s.alice, one(at, 1, body(1, true, 0, salary)), append(created(1, s.alice, salary, "is_created_by_signer", true, "is_signed_by_creator", true),
		is("call_contract", "opcode", 0x82609bf6, "source", order(1), "destination", s.alice, "value", anything{}))...)

	for i, mode := range []uint8{3, 1} { // skipped, and failing
		seqno, tooMuch := int64(2+i), pay(1_000, mode)
		s.act(s.admin, one(at, 1, body(seqno, false, 0, tooMuch))...)
		s.act(s.bob, one(order(seqno), 0.2, contracts.MultisigApproveBody(2, 1))...)
		s.plays("executed, and its message not sent", s.alice, one(order(seqno), 0.2, contracts.MultisigApproveBody(2, 0)), approved("multisig_approve", s.alice, seqno, 0, 0),
			executed("multisig_execute!", seqno, tooMuch))
	}
}

func TestVestingOfADevnet(t *testing.T) {
	alice, admin := newActor(1, contracts.WalletV4R2, 0), newActor(4, contracts.WalletV4R2, 0)
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	wallet := contracts.Vesting{Key: key.Public().(ed25519.PublicKey), Subwallet: 1, StartTime: devnetDawn, TotalDuration: 100_000, UnlockPeriod: 10_000, CliffDuration: 20_000,
		TotalAmount: ton(100), Sender: admin.Address, Owner: alice.Address}
	at := wallet.Address(0)
	s := newDevnet(t, placed(wallet.StateInit(), 0, 110))
	send := func(to *tonutils.Address, tons float64, mode uint8) (contracts.Message, *cell.Cell) {
		m := contracts.Message{To: to, Value: ton(tons), Mode: mode, Body: contracts.CommentBody("rent")}
		return m, contracts.VestingSendBody(4, m)
	}
	const sends, adds = 0xa7733acd, 0x7258a69b
	sent := func(what string, m contracts.Message) wanted {
		return is(what, "query_id", 4, "message_boc", bare(m.Cell()), "source", s.alice, "vesting", at, "destination", m.To, "amount", m.Value)
	}
	got := func(tons float64) wanted {
		return is("ton_transfer", "source", at, "destination", s.bob, "value", ton(tons), "comment", "rent")
	}
	rent, body := send(s.bob.Address, 5, 3)
	s.plays("sent", s.alice, one(at, 0.1, body), sent("vesting_send_message", rent), got(5))
	s.plays("sent by another", s.bob, one(at, 0.1, body), refusedCall(sends, s.bob, at, 0.1)...)
	s.plays("sent with too little for any gas", s.alice, one(at, 0.00001, body),
		is("call_contract!", "opcode", sends, "source", s.alice, "destination", at, "value", ton(0.00001)))
	tooMuch, locked := send(s.bob.Address, 50, 3)
	s.plays("what is locked", s.alice, one(at, 0.1, locked), sent("vesting_send_message!", tooMuch))
	_, wrong := send(s.bob.Address, 1, 1)
	s.plays("in another mode", s.alice, one(at, 0.1, wrong), refusedCall(sends, s.alice, at, 0.1)...)
	list := contracts.VestingAddWhitelistBody(5, s.bob.Address, s.carol.Address)
	s.plays("a list by another than the sender", s.alice, one(at, 0.1, list), refusedCall(adds, s.alice, at, 0.1)...)
	s.plays("a list with too little for any gas", s.admin, one(at, 0.00001, list),
		is("call_contract!", "opcode", adds, "source", s.admin, "destination", at, "value", ton(0.00001)))
	s.plays("a list", s.admin, one(at, 0.1, list), is("vesting_add_whitelist", "query_id", 5, "accounts_added[0]", s.bob, "accounts_added[1]", s.carol, "source", s.admin, "vesting", at))
	s.plays("what is locked, to one of the list", s.alice, one(at, 0.1, locked), sent("vesting_send_message", tooMuch), got(50))
	message, _ := send(s.bob.Address, 2, 3)
	external, err := wallet.External(0, key, 0, s.now+600, message)
	if err != nil {
		t.Fatal(err)
	}
	s.shows("signed by the owner", s.follow(accountOf(at), external), got(2))
}

func TestStakesOfADevnet(t *testing.T) {
	validator := newActor(5, contracts.WalletV4R2, -1)
	at := func(id [32]byte) *tonutils.Address { return tonutils.NewAddress(0, 255, id[:]) }
	elector := contracts.Elector{ElectionID: devnetDawn, Period: 300, HeldFor: 30, MinStake: ton(300), Config: at(chain.Config)}
	config := contracts.Config{Params: cell.BeginCell().EndCell(), Key: validator.key.Public().(ed25519.PublicKey), Elector: at(chain.Elector)}
	special := func(id [32]byte, init *tlb.StateInit) chain.Account {
		return chain.Account{Workchain: -1, ID: id, Code: init.Code, Data: init.Data, Balance: ton(10_000), Tick: true, Tock: true}
	}
	pool := contracts.NominatorPool{Validator: validator.Address, ValidatorShare: 4000, MaxNominators: 2, MinValidatorStake: ton(100), MinNominatorStake: ton(10), Elector: at(chain.Elector)}
	poolAt, electorAt := pool.Address(-1), at(chain.Elector)
	s := newDevnet(t, special(chain.Elector, elector.StateInit()), special(chain.Config, config.StateInit()), placed(pool.StateInit(), -1, 20))
	deposit, withdraw := contracts.CommentBody(contracts.PoolDeposit), contracts.CommentBody(contracts.PoolWithdraw)
	gives := func(what string, by *actor, tons float64) wanted {
		return is(what, "provider", "nominator", "stake_holder", by, "pool", poolAt, "amount", ton(tons))
	}
	takes := func(what string, by *actor, more ...any) wanted {
		return is(what, append(more, "provider", "nominator", "stake_holder", by, "pool", poolAt)...)
	}
	s.plays("a deposit", s.alice, one(poolAt, 301, deposit), gives("stake_deposit", s.alice, 301))
	s.plays("a deposit below the lowest", s.bob, one(poolAt, 5, deposit), gives("stake_deposit!", s.bob, 5))
	s.plays("a deposit with too little for any gas", s.bob, one(poolAt, 0.0001, deposit), gives("stake_deposit!", s.bob, 0.0001))
	s.plays("another deposit", s.bob, one(poolAt, 101, deposit), gives("stake_deposit", s.bob, 101))
	s.plays("a deposit of one too many", s.carol, one(poolAt, 101, deposit), gives("stake_deposit!", s.carol, 101))
	s.plays("a withdrawal", s.bob, one(poolAt, 1, withdraw), takes("stake_withdrawal", s.bob, "amount", anything{}))
	s.plays("a withdrawal of nobody", s.carol, one(poolAt, 1, withdraw), takes("stake_withdrawal_request!", s.carol))
	s.plays("a deposit of the validator", s.validator, one(poolAt, 501, contracts.PoolValidatorDepositBody(1)),
		is("call_contract", "opcode", 4, "source", s.validator, "destination", poolAt, "value", ton(501)))

	const newStake, recovers = 0x4e73744b, 0x47657424
	stake := func(id uint32, key byte, amount *big.Int) *cell.Cell {
		b := cell.BeginCell().MustStoreUInt(newStake, 32).MustStoreUInt(5, 64)
		if amount != nil {
			b.MustStoreBigCoins(amount)
		}
		return b.MustStoreSlice(bytes.Repeat([]byte{key}, 32), 256).MustStoreUInt(uint64(id), 32).MustStoreUInt(3<<16, 32).MustStoreSlice(make([]byte, 32), 256).
			MustStoreRef(cell.BeginCell().MustStoreSlice(make([]byte, 64), 512).EndCell()).EndCell()
	}
	staked := func(what string, by any, tons float64) wanted {
		return is(what, "stake_holder", by, "amount", ton(tons))
	}
	s.plays("a stake for another election", s.validator, one(electorAt, 501, stake(1, 7, nil)), staked("election_deposit!", s.validator, 501))
	s.plays("a stake below the lowest", s.validator, one(electorAt, 50, stake(devnetDawn, 7, nil)), staked("election_deposit!", s.validator, 50))
	s.plays("a stake", s.validator, one(electorAt, 501, stake(devnetDawn, 7, nil)), staked("election_deposit", s.validator, 501))
	s.plays("a stake of the pool", s.validator, one(poolAt, 1, stake(devnetDawn, 8, ton(501))),
		is("call_contract", "opcode", newStake, "source", s.validator, "destination", poolAt, "value", ton(1)), staked("election_deposit", poolAt, 501))
	s.plays("a withdrawal while the stake is sent", s.alice, one(poolAt, 1, withdraw), takes("stake_withdrawal_request", s.alice))
	recovery := cell.BeginCell().MustStoreUInt(recovers, 32).MustStoreUInt(6, 64).EndCell()
	s.plays("nothing to recover yet", s.validator, one(electorAt, 1, recovery), is("election_recover!", "stake_holder", s.validator))
	for range 150 {
		s.step(nil)
	}
	s.plays("recovered", s.validator, one(electorAt, 1, recovery), is("election_recover", "stake_holder", s.validator, "amount", anything{}))
	s.plays("recovered by the pool", s.validator, one(poolAt, 2, recovery), is("call_contract", "opcode", recovers, "source", s.validator, "destination", poolAt, "value", ton(2)),
		is("election_recover", "stake_holder", poolAt, "amount", anything{}))
	s.plays("paid to those who asked", s.bob, one(poolAt, 1, cell.BeginCell().MustStoreUInt(2, 32).MustStoreUInt(1, 64).MustStoreUInt(10, 8).EndCell()),
		is("call_contract", "opcode", 2, "source", s.bob, "destination", poolAt, "value", ton(1)), takes("stake_withdrawal", s.alice, "amount", anything{}))
}
