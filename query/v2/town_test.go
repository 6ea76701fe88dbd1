package v2

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/devnet/chain"
	"tonscribe/internal/devnet/contracts"
	"tonscribe/internal/devnet/history"
	"tonscribe/internal/devnet/traffic"
	"tonscribe/internal/lite"
)

// town is a chain of its own with people, jettons, NFTs and names on it, a lite
// server that proves it, and the API that asks it.
type town struct {
	*service
	pool    *lite.Pool
	store   *history.Store
	traffic *traffic.Traffic
	alice   person

	mu    sync.Mutex
	chain *chain.Chain
	inbox []*cell.Cell
	now   uint32
}

const townID = -3

// person has a wallet v4r2 with money in the zerostate.
type person struct {
	key    ed25519.PrivateKey
	wallet contracts.Wallet
}

func newPerson(number byte) person {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = number
	key := ed25519.NewKeyFromSeed(seed)
	return person{key: key, wallet: contracts.NewWallet(contracts.WalletV4R2, key.Public().(ed25519.PublicKey), townID)}
}

func (p person) address() *address.Address { return p.wallet.Address(0) }

func (p person) account() chain.Account {
	state := p.wallet.StateInit()
	return chain.Account{ID: [32]byte(p.address().Data()), Code: state.Code, Data: state.Data, Balance: big.NewInt(1_000_000_000_000)}
}

// newTown has made its first blocks.
func newTown(t *testing.T, blocks int, transactions int) *town {
	t.Helper()
	w := &town{traffic: traffic.New(7, traffic.Options{NetworkID: townID}), alice: newPerson(1), now: uint32(time.Now().Unix()) - 1000}
	made, err := chain.New(chain.Options{
		Seed: 7, GenUtime: w.now, Params: w.traffic.Params(), Accounts: append(w.traffic.Accounts(), w.alice.account()),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.chain = made
	if w.store, err = history.Open(t.TempDir(), history.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.store.Close() })
	if err := w.store.SetZerostates(made.Zerostates()); err != nil {
		t.Fatal(err)
	}
	w.service = &service{t: t}
	for range blocks {
		w.step(transactions)
	}
	w.pool = newPool(t, w.store, w.take, lite.Secure)
	w.service = newService(t, w.pool, withTON)
	return w
}

// take is where the lite server puts what it is sent.
func (w *town) take(message *cell.Cell) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.chain.Check(message); err != nil {
		return err
	}
	w.inbox = append(w.inbox, message)
	return nil
}

// step makes a bundle of what was sent and of traffic, two seconds later.
func (w *town) step(transactions int) *chain.Bundle {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now += 2
	master, _ := w.chain.Head()
	seqno := uint32(1)
	if master != nil {
		seqno = master.ID.SeqNo + 1
	}
	sent := w.inbox
	if transactions > 0 {
		more, err := w.traffic.Next(w.chain, seqno, w.now, transactions)
		if err != nil {
			w.t.Fatal(err)
		}
		sent = append(sent, more...)
	}
	b, err := w.chain.Step(w.now, sent)
	if err != nil {
		w.t.Fatal(err)
	}
	w.inbox = nil
	if err := w.store.Append(b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

// await lets the API see the newest block.
func (w *town) await() {
	w.t.Helper()
	if _, err := w.pool.WaitHead(w.t.Context(), w.store.Last()); err != nil {
		w.t.Fatal(err)
	}
}

// accounts are the accounts of the basechain that had a transaction.
func (w *town) accounts() []Address {
	w.t.Helper()
	seen := map[[32]byte]bool{}
	var list []Address
	for seqno := uint32(1); seqno <= w.store.Last(); seqno++ {
		bundle, err := w.store.Bundle(seqno)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, b := range bundle.Shards {
			for i := range b.Transactions {
				if id := b.Transactions[i].Account; !seen[id] {
					seen[id] = true
					list = append(list, Address{ID: id})
				}
			}
		}
	}
	return list
}

// transfer is a signed message of Alice's.
func (w *town) transfer(seqno uint32, to *address.Address, nanotons int64, comment string) *cell.Cell {
	w.t.Helper()
	m, err := w.alice.wallet.External(0, w.alice.key, contracts.Order{
		Seqno: seqno, ValidUntil: w.now + 3600,
		Messages: []contracts.Message{{To: to, Value: big.NewInt(nanotons), Body: contracts.CommentBody(comment), Mode: contracts.ModePayFees}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// post asks by POST.
func (s *service) post(name, body string) reply { return s.send("POST", Prefix+"/"+name, body) }

func (s *service) result(r reply, what string) any {
	s.t.Helper()
	if r.status != 200 {
		s.t.Fatalf("%s: %d %s", what, r.status, r.text)
	}
	return r.body["result"]
}

func TestTokensSayWhatTheyAre(t *testing.T) {
	w := newTown(t, 120, 60)
	found := map[string]int{}
	keys := map[string][]string{
		"ext.tokens.jettonMasterData":  {"address", "contract_type", "total_supply", "mintable", "jetton_content", "jetton_wallet_code"},
		"ext.tokens.jettonWalletData":  {"address", "contract_type", "balance", "owner", "jetton", "jetton_wallet_code"},
		"ext.tokens.nftCollectionData": {"address", "contract_type", "next_item_index", "collection_content"},
		"ext.tokens.nftItemData":       {"address", "contract_type", "init", "index", "content"},
	}
	names := 0
	for _, account := range w.accounts() {
		r := w.send("GET", Prefix+"/getTokenData?address="+account.upper(), "")
		if r.status == 409 {
			r.refusal(t, account.upper(), 409, "Smart contract is not Jetton or NFT")
			continue
		}
		result := w.result(r, account.upper())
		kind, _ := at(result, "@type").(string)
		found[kind]++
		for _, key := range keys[kind] {
			if at(result, key) == nil {
				t.Errorf("%s of %s has no %s: %v", kind, account.upper(), key, result)
			}
		}
		if got := at(result, "address"); got != account.upper() {
			t.Errorf("address is %v, want it as it was sent: %s", got, account.upper())
		}
		if domain, ok := at(result, "content.domain").(string); ok {
			names++
			w.resolves(domain, at(result, "content.data").(map[string]any))
		}
	}
	t.Logf("%d accounts: %v, %d names", len(w.accounts()), found, names)
	if names == 0 {
		t.Error("no item of the town is a name")
	}
	for kind := range keys {
		if found[kind] == 0 {
			t.Errorf("no account of the town is %s", kind)
		}
	}
}

// resolves asks the root of all names for one; records are those that its item
// tells.
func (w *town) resolves(domain string, records map[string]any) {
	w.t.Helper()
	root := "-1:" + hex.EncodeToString(parse(w.traffic.Params()[4]).MustLoadSlice(256))
	resolved := w.get("dnsResolve", "address="+root+"&name="+domain+"&ttl=3")
	entries := at(resolved, "entries").([]any)
	if len(entries) < len(records) { // texts are records of no kind that items tell
		w.t.Errorf("%s has %d entries, its item tells %d records", domain, len(entries), len(records))
	}
	wallet, ok := records["wallet"]
	if !ok {
		return
	}
	want := Address{Workchain: 0}
	if _, err := hex.Decode(want.ID[:], []byte(at(wallet, "smc_addr.address").(string))); err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if at(e, "entry.smc_address.account_address") == want.bounceable() {
			return
		}
	}
	w.t.Errorf("%s: %v has no wallet %s", domain, resolved, want.bounceable())
}

func TestWalletsOfTheTownAreKnown(t *testing.T) {
	w := newTown(t, 12, 30)
	types := map[string]int{}
	for _, account := range w.accounts() {
		info := w.get("getWalletInformation", "address="+account.upper())
		if at(info, "wallet") == true {
			types[at(info, "wallet_type").(string)]++
		}
		if at(info, "balance") != w.get("getAddressBalance", "address="+account.upper()) {
			t.Errorf("%s: two balances", account.upper())
		}
	}
	t.Logf("%v", types)
	if len(types) < 2 {
		t.Errorf("kinds of wallets: %v, want several", types)
	}
	info := w.get("getWalletInformation", "address="+w.alice.address().String())
	for key, want := range map[string]any{"wallet_type": "wallet v4 r2", "seqno": float64(0), "wallet_id": float64(wallet.DefaultSubwallet), "account_state": "active"} {
		if got := at(info, key); got != want {
			t.Errorf("Alice's wallet: %s is %v, want %v", key, got, want)
		}
	}
	extended := w.get("getExtendedAddressInformation", "address="+w.alice.address().String())
	if at(extended, "account_state.@type") != "wallet.v4.accountState" || at(extended, "revision") != float64(2) {
		t.Errorf("Alice's wallet: %v", extended)
	}
}

func TestSignaturesOfBlocksAreChecked(t *testing.T) {
	w := newTown(t, 5, 0)
	for _, seqno := range []uint32{1, 2, 5} {
		set := w.get("getMasterchainBlockSignatures", fmt.Sprintf("seqno=%d", seqno))
		if at(set, "@type") != "blocks.blockSignatures" || at(set, "id.seqno") != float64(seqno) || at(set, "signatures.0.@type") != "blocks.signature" {
			t.Errorf("block %d: %v", seqno, set)
		}
	}
}

func TestSentMessagesAreTriedFirst(t *testing.T) {
	w := newTown(t, 3, 0)
	boc := func(c *cell.Cell) string { return `{"boc":"` + base64.StdEncoding.EncodeToString(c.ToBOC()) + `"}` }
	to := newPerson(9).address()
	good := w.transfer(0, to, 1_500_000_000, "hello")
	early := w.transfer(5, to, 1_500_000_000, "too early")

	refused := w.post("sendBoc", boc(early))
	text, _ := refused.body["error"].(string)
	if refused.status != 500 || !strings.HasPrefix(text, "LITE_SERVER_UNKNOWN: cannot apply external message to current state : External message was not accepted") ||
		!strings.Contains(text, "exitcode=33,") {
		t.Errorf("a message with a wrong seqno: %d %s", refused.status, refused.text)
	}
	w.post("sendBocReturnHashNoError", boc(early)).refusal(t, "a wrong seqno", 400, text)

	estimated := w.result(w.post("estimateFee", `{"address":"`+w.alice.address().String()+`","body":"`+base64.StdEncoding.EncodeToString(bodyOf(t, good).ToBOC())+`","ignore_chksig":false}`), "estimateFee")
	sent := w.result(w.post("sendBocReturnHash", boc(good)), "sendBocReturnHash")
	if at(sent, "@type") != "raw.extMessageInfo" || at(sent, "hash") != text64(good.Hash()) {
		t.Errorf("sent: %v, want hash %s", sent, text64(good.Hash()))
	}
	w.step(0)
	w.step(0)
	w.await()
	var list []any
	waitFor(t, func() bool { // answers about accounts are kept for a second
		list = w.get("getTransactions", "address="+w.alice.address().String()).([]any)
		return len(list) == 1
	})
	tx := list[0]
	for path, want := range map[string]any{
		"in_msg.hash": text64(good.Hash()), "in_msg.source": "", "in_msg.msg_data.@type": "msg.dataRaw",
		"out_msgs.0.value": "1500000000", "out_msgs.0.msg_data.@type": "msg.dataText", "out_msgs.0.message": "hello",
		"out_msgs.0.msg_data.text": text64([]byte("hello")), "account": "0:" + strings.ToUpper(hex.EncodeToString(w.alice.address().Data())),
	} {
		if got := at(tx, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	paid := w.paid(tx)
	for name, want := range paid {
		if got := at(estimated, "source_fees."+name); got != float64(want) {
			t.Errorf("estimated %s is %v, paid %d", name, got, want)
		}
	}
	again := w.post("sendBoc", boc(good))
	if text, _ := again.body["error"].(string); again.status != 500 || !strings.Contains(text, "exitcode=33,") {
		t.Errorf("the same message again: %d %s", again.status, again.text)
	}
}

// waitFor looks again until something holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatal("never came true")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// bodyOf is the body of an external message.
func bodyOf(t *testing.T, message *cell.Cell) *cell.Cell {
	t.Helper()
	var m tlb.Message
	if err := tlb.Parse(&m, message); err != nil {
		t.Fatal(err)
	}
	return m.AsExternalIn().Body
}

// paid are the fees of a transaction by their names in estimates.
func (w *town) paid(shown any) map[string]int64 {
	w.t.Helper()
	var tx tlb.Transaction
	if err := tlb.Parse(&tx, fromBase64(w.t, at(shown, "data"))); err != nil {
		w.t.Fatal(err)
	}
	ordinary := tx.Description.(tlb.TransactionDescriptionOrdinary)
	gas := ordinary.ComputePhase.Phase.(tlb.ComputePhaseVM).GasFees.Nano().Int64()
	storage := ordinary.StoragePhase.StorageFeesCollected.Nano().Int64()
	action := ordinary.ActionPhase.TotalActionFees.Nano().Int64()
	return map[string]int64{
		"gas_fee": gas, "fwd_fee": ordinary.ActionPhase.TotalFwdFees.Nano().Int64(),
		"in_fwd_fee": tx.TotalFees.Coins.Nano().Int64() - gas - storage - action,
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	w := newTown(t, 2, 0)
	internal := cell.BeginCell().MustStoreUInt(0, 64).EndCell()
	cases := []struct{ boc, text string }{
		{"AAAA", "INVALID_BAG_OF_CELLS: body"},
		{text64(internal.ToBOC()), "CommonMsgInfo tag is not ext_in_msg_info"},
		{text64(make([]byte, 70000)), "LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message too large, rejecting"},
		{text64(externalMessage(&Address{}, internal, nil, nil).ToBOC()), "LITE_SERVER_UNKNOWN: cannot apply external message to current state : Failed to unpack account state"},
	}
	deep := internal
	for range 600 {
		deep = cell.BeginCell().MustStoreRef(deep).EndCell()
	}
	cases = append(cases, struct{ boc, text string }{
		text64(externalMessage(&Address{}, deep, nil, nil).ToBOC()), "LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message is too deep",
	})
	for _, c := range cases {
		w.post("sendBoc", `{"boc":"`+c.boc+`"}`).refusal(t, c.text, 500, c.text)
	}
}

func TestNormalHashesAreEqualForVariantsOfAMessage(t *testing.T) {
	body := cell.BeginCell().MustStoreUInt(7, 32).EndCell()
	to := newPerson(3).address()
	id := [32]byte(to.Data())
	normal := externalHeader(&Address{ID: id}).MustStoreUInt(0b01, 2).MustStoreRef(body).EndCell()
	inline, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: to, Body: body, ImportFee: tlb.MustFromTON("1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*cell.Cell{
		normal, inline, externalMessage(&Address{ID: id}, body, nil, nil), externalMessage(&Address{ID: id}, body, body, body),
	} {
		got, receiver, err := normalized(m)
		if err != nil || got.HashKey() != normal.HashKey() || receiver.ID != id {
			t.Errorf("%x: normal hash %x, want %x (%v)", m.Hash(), got.Hash(), normal.Hash(), err)
		}
	}
	var own *Error
	if _, _, err := normalized(body); !errors.As(err, &own) || own.Status != 500 {
		t.Errorf("a cell that is no message: %v", err)
	}
}

// What the API computes equals what the lite server computes.
func TestGetMethodsEqualThoseOfTheLiteServer(t *testing.T) {
	w := newTown(t, 25, 40)
	head, err := w.pool.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, account := range w.accounts() {
		for _, method := range []string{"seqno", "get_wallet_data", "get_jetton_data", "get_nft_data", "get_collection_data"} {
			own := w.result(w.post("runGetMethodStd", fmt.Sprintf(`{"address":"%s","method":"%s","stack":[],"seqno":%d}`, account.upper(), method, head.SeqNo)), method)
			theirs, err := w.pool.RunMethod(t.Context(), head, account.tonutils(), tlb.MethodNameHash(method), emptyStack())
			if err != nil {
				t.Fatal(err)
			}
			exit := at(own, "exit_code").(float64)
			if exit == -13 {
				exit = -256 // an account without code, in the words of lite servers
			}
			if exit != float64(theirs.ExitCode) {
				t.Errorf("%s of %s: exit code %v, the lite server's is %d", method, account.upper(), exit, theirs.ExitCode)
			}
			if exit == 0 {
				compared++
				if depth, ok := depthOf(theirs.Result); ok && depth != len(at(own, "stack").([]any)) {
					t.Errorf("%s of %s: %d values, the lite server has %d", method, account.upper(), len(at(own, "stack").([]any)), depth)
				}
			}
		}
	}
	t.Logf("%d successful runs", compared)
	if compared == 0 {
		t.Error("no get-method succeeded")
	}
}

func emptyStack() []byte {
	return cell.BeginCell().MustStoreUInt(0, 24).EndCell().ToBOC()
}

func depthOf(stack *cell.Cell) (int, bool) {
	if stack == nil {
		return 0, false
	}
	r := parse(stack)
	depth := r.uint(24)
	return int(depth), r.err == nil
}

func TestHotAnswersAreShared(t *testing.T) {
	w := newTown(t, 3, 0)
	const askers = 50
	replies := make(chan reply, askers)
	for range askers {
		go func() { replies <- w.send("GET", Prefix+"/getMasterchainInfo", "") }()
	}
	cached := 0
	for range askers {
		r := <-replies
		if r.status != 200 || at(r.body, "result.last.seqno") != float64(3) {
			t.Errorf("%d %s", r.status, r.text)
		}
		if strings.HasSuffix(r.body["@extra"].(string), ":c") {
			cached++
		}
	}
	t.Logf("%d of %d answers were kept ones", cached, askers)
	// A second request within the second gets the first one's answer.
	waitFor(t, func() bool {
		w.get("getMasterchainInfo", "")
		r := w.send("GET", Prefix+"/getMasterchainInfo", "")
		return strings.HasSuffix(r.body["@extra"].(string), ":c")
	})
}

func TestExtraNamesTheServersThatAnswered(t *testing.T) {
	w := newTown(t, 2, 0)
	for method, want := range map[string]string{"getAddressState": "0", "packAddress": "_"} {
		extra := w.send("GET", Prefix+"/"+method+"?address="+w.alice.address().String(), "").body["@extra"].(string)
		if parts := strings.Split(extra, ":"); len(parts) != 3 || parts[1] != want {
			t.Errorf("%s: @extra is %s, want time:%s:milliseconds", method, extra, want)
		}
	}
}
