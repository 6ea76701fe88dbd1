package decode

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"
	"google.golang.org/protobuf/encoding/prototext"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

// The expected values in oracle_json were written by other implementations.

func oracleFiles(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "oracle_json"), pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", pattern, err)
	}
	return files
}

// corpus is every transaction of blocks.tsv by hash, in hex.
func corpus(t *testing.T) map[string]*record.Transaction {
	all := map[string]*record.Transaction{}
	var d Decoder
	for _, f := range blockFiles(t) {
		r, err := d.Block(f.boc, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range r.Transactions {
			all[hex.EncodeToString(tx.Hash)] = tx
		}
	}
	return all
}

var statusNames = []string{"uninit", "frozen", "active", "nonexist"}

func TestBlocksHoldTheTransactionsTongoNames(t *testing.T) {
	all := corpus(t)
	checked := 0
	for _, file := range oracleFiles(t, "tongo_block/*.json") {
		var want struct {
			TxHashes []string
			Accounts map[string]struct {
				Transactions map[string]struct {
					AccountAddr, PrevTransHash, OrigStatus, EndStatus string
					Lt, PrevTransLt                                   uint64
					Now                                               uint32
					OutMsgCnt                                         int
				}
			}
		}
		readJSON(t, file, &want)
		byPlace := map[string]*record.Transaction{}
		for _, hash := range want.TxHashes {
			tx := all[hash]
			if tx == nil {
				t.Errorf("%s: no transaction %s", filepath.Base(file), hash)
				continue
			}
			byPlace[fmt.Sprintf("%x %d", schema.AccountID(tx.Account), tx.Lt)] = tx
		}
		for _, account := range want.Accounts {
			for _, w := range account.Transactions {
				name := fmt.Sprintf("%s %d", w.AccountAddr, w.Lt)
				tx := byPlace[name]
				if tx == nil {
					t.Errorf("no transaction %s", name)
					continue
				}
				got := []any{hex.EncodeToString(tx.PrevTransHash), tx.PrevTransLt, tx.Now, len(tx.OutMsgs), statusNames[tx.OrigStatus], statusNames[tx.EndStatus]}
				expected := []any{w.PrevTransHash, w.PrevTransLt, w.Now, w.OutMsgCnt, w.OrigStatus, w.EndStatus}
				equal(t, name, fmt.Sprint(got), fmt.Sprint(expected))
				checked++
			}
		}
	}
	if checked < 900 {
		t.Errorf("only %d transactions checked", checked)
	}
}

func equal[T comparable](t *testing.T, name string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

type opentonapiMessage struct {
	Type                string `json:"msg_type"`
	CreatedLT           uint64 `json:"created_lt"`
	CreatedAt           uint32 `json:"created_at"`
	IhrDisabled         bool   `json:"ihr_disabled"`
	Bounce, Bounced     bool
	Value               uint64
	FwdFee              uint64 `json:"fwd_fee"`
	IhrFee              uint64 `json:"ihr_fee"`
	ImportFee           uint64 `json:"import_fee"`
	Hash                string
	OpCode              string `json:"op_code"`
	RawBody             string `json:"raw_body"`
	Init                *struct{ BOC string }
	Source, Destination *struct{ Address string }
}

type opentonapiTransaction struct {
	Hash             string
	LT               uint64
	Account          struct{ Address string }
	Utime            uint32
	OrigStatus       string `json:"orig_status"`
	EndStatus        string `json:"end_status"`
	TotalFees        uint64 `json:"total_fees"`
	Type             string `json:"transaction_type"`
	StateOld         string `json:"state_update_old"`
	StateNew         string `json:"state_update_new"`
	PrevHash         string `json:"prev_trans_hash"`
	PrevLT           uint64 `json:"prev_trans_lt"`
	Aborted, Success bool
	Destroyed        bool
	Raw              string
	InMsg            *opentonapiMessage  `json:"in_msg"`
	OutMsgs          []opentonapiMessage `json:"out_msgs"`
	Compute          *struct {
		Skipped, Success bool
		Reason           string `json:"skip_reason"`
		GasFees          uint64 `json:"gas_fees"`
		GasUsed          uint64 `json:"gas_used"`
		VMSteps          uint32 `json:"vm_steps"`
		ExitCode         int32  `json:"exit_code"`
	} `json:"compute_phase"`
	Storage *struct {
		Fees   uint64 `json:"fees_collected"`
		Change string `json:"status_change"`
	} `json:"storage_phase"`
	Credit *struct {
		Fees, Credit uint64
	} `json:"credit_phase"`
	Action *struct {
		Success bool
		Result  int32  `json:"result_code"`
		Total   uint32 `json:"total_actions"`
		Skipped uint32 `json:"skipped_actions"`
		FwdFees uint64 `json:"fwd_fees"`
		Fees    uint64 `json:"total_fees"`
	} `json:"action_phase"`
}

func TestTransactionsAreWhatOpentonapiSays(t *testing.T) {
	count := 0
	for _, file := range oracleFiles(t, "opentonapi/block-txs-*.json") {
		var recorded struct{ Transactions []opentonapiTransaction }
		readJSON(t, file, &recorded)
		for _, w := range recorded.Transactions {
			t.Run(w.Hash, func(t *testing.T) { compareOpentonapi(t, w) })
			count++
		}
	}
	t.Logf("%d transactions", count)
}

func compareOpentonapi(t *testing.T, w opentonapiTransaction) {
	raw, err := hex.DecodeString(w.Raw)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := Transaction(raw)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]record.TransactionType{"TransOrd": record.TransactionType_ORD, "TransTickTock": record.TransactionType_TICK_TOCK}
	equal(t, "hash", hex.EncodeToString(tx.Hash), w.Hash)
	equal(t, "lt", tx.Lt, w.LT)
	_, account, _ := strings.Cut(w.Account.Address, ":") // a lone transaction does not tell its workchain
	equal(t, "account", hex.EncodeToString(schema.AccountID(tx.Account)), account)
	equal(t, "now", tx.Now, w.Utime)
	equal(t, "status", statusNames[tx.OrigStatus]+statusNames[tx.EndStatus], w.OrigStatus+w.EndStatus)
	equal(t, "fees", tx.TotalFees, w.TotalFees)
	equal(t, "type", tx.Type, types[w.Type])
	equal(t, "states", hex.EncodeToString(tx.StateHashBefore)+hex.EncodeToString(tx.StateHashAfter), w.StateOld+w.StateNew)
	if tx.PrevTransLt != 0 {
		equal(t, "previous hash", hex.EncodeToString(tx.PrevTransHash), w.PrevHash)
	}
	equal(t, "previous lt", tx.PrevTransLt, w.PrevLT)
	equal(t, "ends", fmt.Sprint(tx.Aborted, tx.Destroyed), fmt.Sprint(w.Aborted, w.Destroyed))
	if w.Storage != nil {
		equal(t, "storage", tx.Storage.FeesCollected, w.Storage.Fees)
		equal(t, "storage change", "acst_"+changeNames[tx.Storage.StatusChange], w.Storage.Change)
	}
	if w.Credit != nil {
		equal(t, "credit", tx.Credit.Credit, w.Credit.Credit)
		equal(t, "credit fees", value(tx.Credit.DueFeesCollected), w.Credit.Fees)
	}
	if c := w.Compute; c != nil && c.Skipped {
		equal(t, "skip reason", "cskip_"+strings.ToLower(tx.Compute.SkipReason.String()), c.Reason)
	} else if c != nil {
		equal(t, "compute", fmt.Sprint(tx.Compute.Success, tx.Compute.GasFees, tx.Compute.GasUsed, tx.Compute.VmSteps, tx.Compute.ExitCode),
			fmt.Sprint(c.Success, c.GasFees, c.GasUsed, c.VMSteps, c.ExitCode))
	}
	if a := w.Action; a != nil {
		equal(t, "action", fmt.Sprint(tx.Action.Success, tx.Action.ResultCode, tx.Action.TotActions, tx.Action.SkippedActions,
			value(tx.Action.TotalFwdFees), value(tx.Action.TotalActionFees)),
			fmt.Sprint(a.Success, a.Result, a.Total, a.Skipped, a.FwdFees, a.Fees))
	}
	equal(t, "in message", tx.InMsg != nil, w.InMsg != nil)
	if w.InMsg != nil {
		compareOpentonapiMessage(t, tx.InMsg, *w.InMsg)
	}
	equal(t, "out messages", len(tx.OutMsgs), len(w.OutMsgs))
	for i, m := range w.OutMsgs {
		compareOpentonapiMessage(t, tx.OutMsgs[i], m)
	}
}

func compareOpentonapiMessage(t *testing.T, m *record.Message, w opentonapiMessage) {
	kinds := []string{"int_msg", "ext_in_msg", "ext_out_msg"}
	if m.Kind == record.Message_EXTERNAL_IN {
		w.CreatedLT = 0 // opentonapi gives the transaction's
	}
	hash := m.Hash
	if len(m.HashNorm) > 0 && hex.EncodeToString(m.HashNorm) == w.Hash {
		hash = m.HashNorm
	}
	equal(t, "message hash", hex.EncodeToString(hash), w.Hash)
	equal(t, "message", fmt.Sprint(kinds[m.Kind], m.CreatedLt, m.CreatedAt, m.IhrDisabled, m.Bounce, m.Bounced, m.Value, m.FwdFee, m.IhrFee, m.ImportFee),
		fmt.Sprint(w.Type, w.CreatedLT, w.CreatedAt, w.IhrDisabled, w.Bounce, w.Bounced, w.Value, w.FwdFee, w.IhrFee, w.ImportFee))
	if w.Source != nil {
		equal(t, "source", text(m.Source), w.Source.Address)
	}
	if w.Destination != nil {
		equal(t, "destination", text(m.Destination), w.Destination.Address)
	}
	if w.OpCode != "" {
		equal(t, "opcode", fmt.Sprintf("0x%08x", m.GetOpcode()), w.OpCode)
	}
	if strings.HasPrefix(w.RawBody, "00000000") { // the bytes of a comment
		bag, err := cell.Parse(m.Body)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, bag.Root(0).Bits()/8)
		s := bag.Root(0).Slice()
		s.Read(body)
		equal(t, "comment", hex.EncodeToString(body), w.RawBody)
	} else if w.RawBody != "" {
		sameRoot(t, "body", m.Body, m.BodyHash, w.RawBody)
	}
	if w.Init != nil {
		sameRoot(t, "init", m.InitState, m.InitStateHash, w.Init.BOC)
	}
}

// sameRoot compares a BoC and the hash the record has for it with a BoC in hex,
// whose cells may be in another order.
func sameRoot(t *testing.T, name string, boc, hash []byte, want string) {
	t.Helper()
	raw, err := hex.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{boc, raw} {
		bag, err := cell.Parse(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		equal(t, name, hex.EncodeToString(bag.Root(0).Hash()[:]), hex.EncodeToString(hash))
	}
}

func value(v *uint64) uint64 {
	if v == nil {
		return 0
	}
	return *v
}

func text(address []byte) string {
	if len(address) == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%x", schema.Workchain(address), schema.AccountID(address))
}

func TestConvertedTransactionIsWhatOpentonapiSays(t *testing.T) {
	for _, file := range oracleFiles(t, "opentonapi/convert-tx-*.json") {
		type message struct {
			CreatedLt, Value, FwdFee, IhrFee, ImportFee uint64
			Source, Destination, Hash, Init, Body       string
			IhrDisabled, Bounce, Bounced                bool
			CreatedAt, OpCode                           uint32
		}
		var w struct {
			Hash, Account, OrigStatus, EndStatus, PrevTransHash, Raw string
			Lt, PrevTransLt                                          uint64
			Utime                                                    uint32
			TotalFee                                                 uint64
			InMsg                                                    message
			OutMsgs                                                  []message
			ActionPhase                                              struct{ FwdFees, TotalFees uint64 }
			ComputePhase                                             struct{ GasFees, GasUsed, VmSteps uint64 }
			CreditPhase                                              struct{ CreditGrams uint64 }
			StoragePhase                                             struct{ StorageFeesCollected uint64 }
			StateHashUpdate                                          struct{ NewHash, OldHash string }
		}
		readJSON(t, file, &w)
		raw, err := base64.StdEncoding.DecodeString(w.Raw)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := Transaction(raw)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "transaction", fmt.Sprintf("%x %s %d %x %d %d %d", tx.Hash, text(tx.Account), tx.Lt, tx.PrevTransHash, tx.PrevTransLt, tx.Now, tx.TotalFees),
			fmt.Sprintf("%s %s %d %s %d %d %d", w.Hash, w.Account, w.Lt, w.PrevTransHash, w.PrevTransLt, w.Utime, w.TotalFee))
		equal(t, "states", fmt.Sprintf("%x %x", tx.StateHashBefore, tx.StateHashAfter), w.StateHashUpdate.OldHash+" "+w.StateHashUpdate.NewHash)
		equal(t, "phases", fmt.Sprint(*tx.Action.TotalFwdFees, *tx.Action.TotalActionFees, tx.Compute.GasFees, tx.Compute.GasUsed, tx.Compute.VmSteps, tx.Credit.Credit, tx.Storage.FeesCollected),
			fmt.Sprint(w.ActionPhase.FwdFees, w.ActionPhase.TotalFees, w.ComputePhase.GasFees, w.ComputePhase.GasUsed, w.ComputePhase.VmSteps, w.CreditPhase.CreditGrams, w.StoragePhase.StorageFeesCollected))
		for i, m := range append([]message{w.InMsg}, w.OutMsgs...) {
			got := tx.InMsg
			if i > 0 {
				got = tx.OutMsgs[i-1]
			}
			equal(t, "message", fmt.Sprintf("%x %s %s %d %d %d %d %d", got.Hash, text(got.Source), text(got.Destination), got.CreatedLt, got.CreatedAt, got.Value, got.FwdFee, got.GetOpcode()),
				fmt.Sprintf("%s %s %s %d %d %d %d %d", m.Hash, m.Source, m.Destination, m.CreatedLt, m.CreatedAt, m.Value, m.FwdFee, m.OpCode))
			for _, part := range []struct {
				boc, hash []byte
				want      string
			}{{got.Body, got.BodyHash, m.Body}, {got.InitState, got.InitStateHash, m.Init}} {
				equal(t, "part", len(part.boc) > 0, part.want != "")
				if part.want != "" {
					want, err := base64.StdEncoding.DecodeString(part.want)
					if err != nil {
						t.Fatal(err)
					}
					sameRoot(t, "part", part.boc, part.hash, hex.EncodeToString(want))
				}
			}
		}
	}
}

func TestTransactionsHaveTheHashZetachainAndTonRsName(t *testing.T) {
	for _, file := range oracleFiles(t, "zetachain_tx/*.json") {
		var w struct {
			Account, BOC, Hash string
			LogicalTime        uint64
		}
		readJSON(t, file, &w)
		raw, err := hex.DecodeString(w.BOC)
		if err != nil {
			t.Fatal(err)
		}
		checkTransaction(t, file, raw, w.Hash, w.LogicalTime, w.Account)
	}
	for _, file := range oracleFiles(t, "ston-fi_ton-rs/tx_*.hex") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := hex.DecodeString(strings.TrimSpace(string(content)))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".hex"), "_")
		lt, err := strconv.ParseUint(parts[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		checkTransaction(t, file, raw, strings.ToLower(parts[1]), lt, "")
	}
}

func checkTransaction(t *testing.T, file string, raw []byte, hash string, lt uint64, account string) {
	t.Helper()
	tx, err := Transaction(raw)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	equal(t, file+" hash", hex.EncodeToString(tx.Hash), hash)
	equal(t, file+" lt", tx.Lt, lt)
	if account != "" {
		equal(t, file+" account", text(tx.Account), account)
	}
	compareTonutils(t, file, raw)
}

// compareTonutils compares a single transaction with what tonutils-go reads.
func compareTonutils(t *testing.T, file string, raw []byte) {
	t.Helper()
	got, err := Transaction(raw)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	root, err := tcell.FromBOC(raw)
	if err != nil {
		t.Fatal(err)
	}
	var tx tlb.Transaction
	if err := tlb.Parse(&tx, root); err != nil {
		t.Errorf("%s: tonutils-go: %v", file, err)
		return
	}
	tx.Hash = root.Hash()
	other := reference{t: t, workchain: int32(binary.BigEndian.Uint32(got.Account))}
	if want := other.transaction(&tx, root); !got.EqualVT(want) {
		t.Errorf("%s:\n got %s\nwant %s", file, prototext.Format(got), prototext.Format(want))
	}
}

func TestLoneTransactionsAreWhatTonutilsReads(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "accounts_tx_triples"), "*_transaction.boc"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range append(files, oracleFiles(t, "ton-rust-node_block-json/transactions/*.boc")...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		compareTonutils(t, filepath.Base(file), raw)
	}
}
