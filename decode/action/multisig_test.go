package action_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var (
	multisig  = account(0x51)
	orderWith = account(0x52)
	orderCell = cell.BeginCell().MustStoreUInt(0xf1381e5b, 32).EndCell()
	// What is shown of it: a bag without CRC.
	orderBoC   = base64.StdEncoding.EncodeToString(orderCell.ToBOCWithOptions(cell.BOCSerializeOptions{}))
	orderFacts = known{{Account: orderWith, MultisigOrder: &record.MultisigOrder{Multisig: multisig, Signers: [][]byte{alice, bob}}}}
)

// outermost are the actions of a trace that are no parts of others.
func outermost(t *testing.T, facts action.Facts, transactions []*record.Transaction) (list []*action.Action) {
	t.Helper()
	for _, a := range recognise(t, facts, transactions) {
		if a.Parent() == nil {
			list = append(list, a)
		}
	}
	return list
}

// concerns complains unless the action has the accounts.
func concerns(t *testing.T, a *action.Action, accounts ...[]byte) {
	t.Helper()
	for _, want := range accounts {
		found := false
		for _, got := range a.Accounts {
			found = found || bytes.Equal(got, want)
		}
		if !found {
			t.Errorf("%s does not concern %x", a.Type.Name, want)
		}
	}
}

func TestAnOrderOfAMultisigIsCreatedWithItsContract(t *testing.T) {
	create := func(init step, signed bool) step {
		body := word(0x9c73fba2).MustStoreUInt(4, 64).MustStoreUInt(2, 8).MustStoreRef(cell.BeginCell().EndCell()).
			MustStoreUInt(1700000000, 48).MustStoreRef(orderCell).MustStoreBoolBit(signed)
		if signed {
			body.MustStoreUInt(1, 8)
		}
		init.to, init.value, init.body = orderWith, 8, body
		return step{to: multisig, value: 9, then: []step{init}, body: word(0xf718510f).MustStoreUInt(4, 64).MustStoreUInt(12, 256).
			MustStoreBoolBit(true).MustStoreUInt(1, 8).MustStoreUInt(1700000000, 48).MustStoreRef(orderCell)}
	}
	list := outermost(t, orderFacts, play(carol, create(step{deployed: true}, true)))
	wants(t, list, "multisig_create_order", "contract_deploy")
	details(t, list, "multisig_create_order", "query_id", 4, "order_seqno", 12, "is_created_by_signer", true, "is_signed_by_creator", true,
		"creator_index", 1, "expiration_date", 1700000000, "order_boc", orderBoC, "source", carol, "destination", multisig, "destination_order", orderWith)
	concerns(t, list[0], alice, bob, carol, multisig, orderWith)
	details(t, recognise(t, orderFacts, play(carol, create(step{}, false))), "multisig_create_order", "is_signed_by_creator", false)
	wants(t, outermost(t, orderFacts, play(carol, create(step{aborted: true}, true))), "multisig_create_order!")
	wants(t, outermost(t, action.NoFacts{}, play(carol, create(step{}, true))), "call_contract", "call_contract")
	// The multisig is known before its order is.
	list = outermost(t, known{{Account: multisig, Multisig: &record.Multisig{Signers: [][]byte{alice, bob}}}}, play(carol, create(step{deployed: true}, true)))
	wants(t, list, "multisig_create_order", "contract_deploy")
	concerns(t, list[0], alice, bob, carol, multisig, orderWith)
	// An order that is there already takes it for an approval, or refuses that: its answer is
	// no part of the creation.
	again := func(answer *cell.Builder) step {
		return create(step{then: []step{{to: carol, value: 1, body: answer}}}, true)
	}
	wants(t, outermost(t, orderFacts, play(carol, again(word(0x82609bf6).MustStoreUInt(4, 64)))), "multisig_create_order", "call_contract")
	wants(t, outermost(t, orderFacts, play(carol, again(word(0xafaf283e).MustStoreUInt(4, 64).MustStoreUInt(107, 32)))), "multisig_create_order!", "call_contract")
	refused := create(step{}, true)
	refused.aborted, refused.then = true, nil
	wants(t, outermost(t, orderFacts, play(carol, refused)), "call_contract!")
}

func TestAnOrderOfAMultisigTakesAnApprovalOrRefusesIt(t *testing.T) {
	approve := word(0xa762230f).MustStoreUInt(4, 64).MustStoreUInt(1, 8)
	accepted := step{to: bob, value: 1, body: word(0x82609bf6).MustStoreUInt(4, 64)}
	rejected := step{to: bob, value: 1, body: word(0xafaf283e).MustStoreUInt(4, 64).MustStoreUInt(107, 32)}
	for what, c := range map[string]struct {
		body   *cell.Builder
		answer []step
		want   []string
		index  int
		code   int
	}{
		"accepted":            {approve, []step{accepted}, []string{"multisig_approve"}, 1, 0},
		"rejected":            {approve, []step{rejected}, []string{"multisig_approve!"}, 1, 107},
		"by comment":          {comment("approve"), []step{accepted}, []string{"multisig_approve"}, -1, 0},
		"by comment rejected": {comment("approve"), []step{rejected}, []string{"multisig_approve!"}, -1, 107},
		"another comment":     {comment("approved"), []step{accepted}, []string{"ton_transfer", "call_contract"}, 0, 0},
		"no answer":           {approve, nil, []string{"call_contract"}, 0, 0},
	} {
		t.Run(what, func(t *testing.T) {
			s := step{to: orderWith, value: 9, body: c.body, then: c.answer}
			list := outermost(t, orderFacts, play(bob, s))
			wants(t, list, c.want...)
			if len(c.want) == 1 && c.answer != nil {
				details(t, list, c.want[0], "signer_index", c.index, "exit_code", c.code, "source", bob, "destination", orderWith)
				concerns(t, list[0], alice, bob, orderWith)
			}
			for _, a := range recognise(t, action.NoFacts{}, play(bob, s)) {
				if a.Type.Name == "multisig_approve" {
					t.Error("of what is no order")
				}
			}
		})
	}
}

func TestAMultisigExecutesWhatItsOrderSends(t *testing.T) {
	hash := bytes.Repeat([]byte{7}, 32)
	execute := step{to: multisig, value: 9, body: word(0x75097f5d).MustStoreUInt(4, 64).MustStoreUInt(12, 256).MustStoreUInt(1700000000, 48).
		MustStoreUInt(2, 8).MustStoreSlice(hash, 256).MustStoreRef(orderCell)}
	list := outermost(t, orderFacts, play(orderWith, execute))
	wants(t, list, "multisig_execute")
	details(t, list, "multisig_execute", "query_id", 4, "order_seqno", 12, "expiration_date", 1700000000, "approvals_num", 2,
		"signers_hash", base64.StdEncoding.EncodeToString(hash), "order_boc", orderBoC, "source", orderWith, "destination", multisig)
	concerns(t, list[0], alice, bob)
	wants(t, outermost(t, action.NoFacts{}, play(orderWith, execute)), "call_contract")
	execute.aborted = true
	wants(t, outermost(t, orderFacts, play(orderWith, execute)), "multisig_execute!")
	execute.body = word(0x75097f5d).MustStoreUInt(4, 64)
	wants(t, outermost(t, orderFacts, play(orderWith, execute)), "call_contract!")
}
