package action_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

func TestAMessageIsATransferOrACallByItsBody(t *testing.T) {
	for what, c := range map[string]struct {
		step step
		want string
	}{
		"no body":                          {step{}, "ton_transfer"},
		"a short body":                     {step{body: cell.BeginCell().MustStoreUInt(1, 16)}, "ton_transfer"},
		"a comment":                        {step{body: comment("hi")}, "ton_transfer"},
		"an encrypted comment":             {step{body: word(0x2167da4b).MustStoreUInt(1, 8)}, "ton_transfer"},
		"an opcode":                        {step{body: word(77)}, "call_contract"},
		"aborted, to come back":            {step{value: 5, bounce: true, aborted: true}, "ton_transfer!"},
		"aborted by code":                  {step{value: 5, aborted: true}, "ton_transfer!"},
		"aborted without code":             {step{value: 5, aborted: true, change: ends(record.AccountStatus_ACCOUNT_UNINIT)}, "ton_transfer"},
		"aborted for lack of gas":          {step{value: 1, aborted: true, change: skips(record.ComputePhase_NO_GAS)}, "ton_transfer"},
		"a call aborted":                   {step{body: word(77), value: 1, aborted: true}, "call_contract!"},
		"a notification without value":     {step{body: word(77), aborted: true}, "call_contract"},
		"extra currencies, a call aborted": {step{body: word(77), aborted: true, change: carries}, "call_contract!"},
		"excesses that nobody asked for":   {step{body: word(0xd53276db)}, "call_contract"},
		"a frozen account that is thawed":  {step{change: begins(record.AccountStatus_ACCOUNT_FROZEN)}, "ton_transfer"},
		"to an account that is not there":  {step{change: both(record.AccountStatus_ACCOUNT_NONEXIST)}, "ton_transfer"},
		"from an account that was uninit":  {step{deployed: true}, "ton_transfer contract_deploy"},
		"a deployment by a call":           {step{body: word(3), value: 9, deployed: true}, "call_contract contract_deploy"},
		"a deployment by an aborted call":  {step{body: word(3), value: 9, deployed: true, aborted: true}, "call_contract! contract_deploy!"},
	} {
		c.step.to = bob
		list := recognise(t, action.NoFacts{}, play(alice, c.step))
		if got := strings.Join(summaries(list), " "); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func ends(s record.AccountStatus) func(*record.Transaction) {
	return func(tx *record.Transaction) { tx.EndStatus = s }
}

func begins(s record.AccountStatus) func(*record.Transaction) {
	return func(tx *record.Transaction) { tx.OrigStatus = s }
}

func both(s record.AccountStatus) func(*record.Transaction) {
	return func(tx *record.Transaction) { tx.OrigStatus, tx.EndStatus = s, s }
}

func skips(r record.ComputePhase_SkipReason) func(*record.Transaction) {
	return func(tx *record.Transaction) { tx.Compute = &record.ComputePhase{SkipReason: r} }
}

func carries(tx *record.Transaction) {
	tx.InMsg.ValueExtra = []*record.ExtraCurrency{{Id: 7, Amount: []byte{9}}}
}

func TestCommentsAreTextWithBrokenBytesWrittenOut(t *testing.T) {
	long := strings.Repeat("x", 100)
	for what, c := range map[string]struct {
		body      *cell.Builder
		want      any
		encrypted bool
	}{
		"text":                   {comment("hello"), "hello", false},
		"nothing":                {word(0), nil, false},
		"bits that are no bytes": {word(0).MustStoreUInt(1, 7), nil, false},
		"two references":         {comment("a").MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(cell.BeginCell().EndCell()), nil, false},
		"a chain of cells":       {comment(long).MustStoreRef(cell.BeginCell().MustStoreSlice([]byte("y"), 8).EndCell()), long + "y", false},
		"a cell of its own":      {word(0).MustStoreRef(cell.BeginCell().MustStoreSlice([]byte("own"), 24).EndCell()), "own", false},
		"broken bytes":           {comment("a\xffb\x00c"), `a\xffbc`, false},
		"encrypted":              {word(0x2167da4b).MustStoreSlice([]byte{1, 2, 3}, 24), base64.StdEncoding.EncodeToString([]byte{1, 2, 3}), true},
	} {
		list := recognise(t, action.NoFacts{}, play(alice, step{to: bob, value: 3, body: c.body}))
		t.Run(what, func(t *testing.T) {
			details(t, list, "ton_transfer", "comment", c.want, "encrypted", c.encrypted, "source", alice, "destination", bob, "value", 3)
		})
	}
}

func TestMessagesFromAndToOutsideAreNoActions(t *testing.T) {
	list := recognise(t, action.NoFacts{}, play(alice, step{body: word(5)}, step{to: bob, then: []step{{body: word(6)}}}))
	wants(t, list, "ton_transfer")
}

func TestATraceWithoutActionsIsUnknown(t *testing.T) {
	for what, c := range map[string]struct {
		transactions []*record.Transaction
		want         string
	}{
		"accepted":      {play(alice), "unknown"},
		"a log":         {play(alice, step{body: word(5)}), "unknown"},
		"aborted":       {aborted(play(alice)), "unknown!"},
		"a tick":        {tick(play(alice)[:1]), ""},
		"a tick's call": {tick(play(alice, step{to: bob, body: word(5)})), "tick_tock call_contract"},
	} {
		list := recognise(t, action.NoFacts{}, c.transactions)
		if got := strings.Join(summaries(list), " "); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
			continue
		}
		if strings.HasPrefix(c.want, "unknown") {
			if hash := c.transactions[0].Hash; !slices.Equal(list[0].ID[:], hash) || !slices.Equal(list[0].Transactions[0], hash) {
				t.Errorf("%s: id %x, want that of the trace, %x", what, list[0].ID, hash)
			}
		}
	}
}

func aborted(list []*record.Transaction) []*record.Transaction {
	list[0].Aborted = true
	return list
}

func tick(list []*record.Transaction) []*record.Transaction {
	list[0].InMsg, list[0].Type = nil, record.TransactionType_TICK_TOCK
	return list
}

func TestAnActionHasItsTransactionsTimesAndAccounts(t *testing.T) {
	transactions := play(alice, step{to: bob, value: 3, body: word(77)})
	a := recognise(t, action.NoFacts{}, transactions)[0]
	root, tx := transactions[0], transactions[1]
	if a.StartLt != tx.InMsg.CreatedLt || a.EndLt != tx.Lt || a.StartUtime != tx.Now || a.EndUtime != tx.Now {
		t.Errorf("from %d (%d) to %d (%d), want that of the message, %d, to that of the transaction, %d", a.StartLt, a.StartUtime, a.EndLt, a.EndUtime,
			tx.InMsg.CreatedLt, tx.Lt)
	}
	if len(a.Transactions) != 2 || !slices.Equal(a.Transactions[0], tx.Hash) || !slices.Equal(a.Transactions[1], root.Hash) {
		t.Errorf("transactions %x, want its own and the one that sent its message", a.Transactions)
	}
	if len(a.Accounts) != 2 || !slices.Equal(a.Accounts[0], bob) || !slices.Equal(a.Accounts[1], alice) {
		t.Errorf("accounts %x, want bob's and alice's", a.Accounts)
	}
}

func TestTheIDOfAnActionIsThatOfItsFirstMessageAndItsName(t *testing.T) {
	// The payout is sent before the item, and received after it.
	facts := known{itemFacts, onAuction()}
	transactions := play(carol, step{to: saleAccount, value: 5, body: comment("finish"), then: []step{{to: alice, value: 34}, sentOn(bob)}})
	var payout *record.Message
	for _, tx := range transactions {
		if slices.Equal(tx.Account, saleAccount) {
			payout = tx.OutMsgs[0]
		}
	}
	for _, tx := range transactions {
		if slices.Equal(tx.Account, alice) && slices.Equal(tx.InMsg.Hash, payout.Hash) {
			tx.Lt += 1000
		}
	}
	for _, a := range recognise(t, facts, transactions) {
		if a.Type.Name != "nft_purchase" {
			continue
		}
		if want := sha256.Sum256([]byte(base64.StdEncoding.EncodeToString(payout.Hash) + "nft_purchase")); a.ID != want {
			t.Errorf("%x, want %x", a.ID, want)
		}
		return
	}
	t.Error("no purchase")
}

func TestAYoungTypeIsShownToClientsThatKnowItAndItsPartsToOthers(t *testing.T) {
	list := recognise(t, action.NoFacts{}, discovery())
	wants(t, list, "call_contract in nft_discovery", "nft_discovery", "call_contract in nft_discovery")
	for label, want := range map[string]int{"v1": 2, "v2": 1, "latest": 1, "nft_discovery": 1, "nothing of the kind": 2} {
		supported, shown := action.Expand([]string{label}), 0
		for _, a := range list {
			if a.Shown(supported) {
				shown++
			}
		}
		if shown != want {
			t.Errorf("%s shows %d actions, want %d", label, shown, want)
		}
	}
	if list[0].Parent() != list[1] || list[2].Parent() != list[1] || list[1].Parent() != nil {
		t.Error("the parent of the parts is not the whole")
	}
}

func TestLabelsStandForTheTypesOfTheirVersionAndThoseBefore(t *testing.T) {
	counts := map[string]int{}
	for _, label := range []string{"v1", "v2", "v3", "v4", "latest", "dns", "nft", "nft.v3", "jettons", "coffee"} {
		for typ := range action.Expand([]string{label}) {
			if typ.Version != action.V1 || label == "v1" {
				counts[label]++
			}
		}
	}
	if counts["v1"] == 0 || counts["v3"] <= counts["v2"] || counts["v4"] != counts["latest"] || counts["dns"] != 2 || counts["nft"] != 0 ||
		counts["coffee"] != 7 { // but for coffee_mev_protect_failed_swap
		t.Errorf("beyond those of v1: %v", counts)
	}
}

// discovery is a request for the data of an NFT item, and the answer.
func discovery() []*record.Transaction {
	report := word(0x8b771735).MustStoreUInt(1, 64).MustStoreUInt(5, 256).MustStoreAddr(friendly(collection))
	return play(alice, step{to: item, value: 9, body: word(0x2fcb26a2).MustStoreUInt(1, 64), then: []step{{to: alice, value: 8, body: report}}})
}

func TestAccountThatAMessageFromOutsideDeploysIsADeployment(t *testing.T) {
	list := play(alice, step{to: bob, value: 5})
	list[0].OrigStatus = record.AccountStatus_ACCOUNT_UNINIT
	actions := recognise(t, action.NoFacts{}, list)
	if got := strings.Join(summaries(actions), " "); got != "contract_deploy ton_transfer" {
		t.Fatalf("%s, want the deployment of the wallet and its transfer", got)
	}
	for i, d := range actions[0].Type.Details {
		switch v := actions[0].Details[i]; d.Name {
		case "source", "value":
			if v != nil {
				t.Errorf("%s is %v, want none", d.Name, v)
			}
		case "destination":
			if !bytes.Equal(v.(action.Address), alice) {
				t.Errorf("destination is %x, want %x", v, alice)
			}
		}
	}
}
