package tvm_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	nodetest "tonscribe/test/support/node"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// call is one get-method for both sides.
type call struct {
	name  string
	input tvm.Input
	extra map[string]string
	last  *previousBlocks
}

type previousBlocks struct {
	Last     []blockID `json:"last"`
	Key      blockID   `json:"key"`
	Hundreds []blockID `json:"hundreds"`
}

type blockID struct {
	Workchain int    `json:"workchain"`
	Shard     string `json:"shard"`
	Seqno     int    `json:"seqno"`
	Root      string `json:"root"`
	File      string `json:"file"`
}

func (b blockID) tuple() tvm.Tuple {
	shard, _ := new(big.Int).SetString(b.Shard, 10)
	root, _ := new(big.Int).SetString(b.Root, 16)
	file, _ := new(big.Int).SetString(b.File, 16)
	return tvm.Tuple{b.Workchain, shard, b.Seqno, root, file}
}

type answer struct {
	Error   string `json:"error"`
	Exit    int    `json:"exit"`
	Gas     int64  `json:"gas"`
	Stack   string `json:"stack"`
	Cell    string `json:"cell"`
	Missing string `json:"missing"`
}

// officialConfig is the config that the official emulator's package carries.
func officialConfig(t testing.TB) *tvm.Config {
	t.Helper()
	out := nodetest.Run(t, []byte(`{}`), "testdata/getmethods.js")
	return prepared(t, fromBase64(t, strings.TrimSpace(string(out))))
}

func prepared(t testing.TB, root *cell.Cell) *tvm.Config {
	t.Helper()
	config, err := tvm.Prepare(root)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func fromBase64(t testing.TB, text string) *cell.Cell {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cell.FromBOC(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func toBase64(c *cell.Cell) string { return base64.StdEncoding.EncodeToString(c.ToBOC()) }

// official runs the calls in the official emulator.
func official(t *testing.T, config *tvm.Config, calls []call) []answer {
	t.Helper()
	var request struct {
		Config string           `json:"config"`
		Calls  []map[string]any `json:"calls"`
	}
	request.Config = toBase64(config.Root())
	for _, c := range calls {
		stack, err := tvm.EncodeStack(c.input.Stack)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		method := c.input.MethodID
		if c.input.Method != "" {
			method = int64(code.MethodID(c.input.Method))
		}
		data := c.input.Data
		if data == nil {
			data = cell.BeginCell().EndCell()
		}
		one := map[string]any{
			"code": toBase64(c.input.Code), "data": toBase64(data), "method": method, "stack": toBase64(stack),
			"address": c.input.Address.StringRaw(), "now": c.input.Now, "balance": c.input.Balance.String(),
			"seed": hex.EncodeToString(c.input.Seed[:]), "gas": fmt.Sprint(c.input.GasLimit),
			"extra": c.extra, "previous": c.last,
		}
		if len(c.input.Libraries) > 0 {
			one["libraries"] = toBase64(c.input.Libraries[0])
		}
		request.Calls = append(request.Calls, one)
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(nodetest.Run(t, body, "testdata/getmethods.js")))
	lines.Buffer(nil, 64<<20)
	var answers []answer
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(calls) {
		t.Fatalf("%d answers to %d calls", len(answers), len(calls))
	}
	return answers
}

func compare(t *testing.T, config *tvm.Config, calls []call) {
	t.Helper()
	for i := range calls {
		in := &calls[i].input
		in.Config = config
		if in.Address == nil {
			in.Address = address.NewAddress(0, 0, bytes.Repeat([]byte{0x5a}, 32))
		}
		if in.Balance == nil {
			in.Balance = big.NewInt(1_234_567_890)
		}
		if in.Now == 0 {
			in.Now = 1_750_000_000
		}
		if in.GasLimit == 0 {
			in.GasLimit = tvm.DefaultGasLimit
		}
	}
	for i, want := range official(t, config, calls) {
		if want.Error != "" {
			t.Errorf("%s: the official emulator: %s", calls[i].name, want.Error)
			continue
		}
		got, err := tvm.Run(t.Context(), calls[i].input)
		if err != nil {
			t.Errorf("%s: %v", calls[i].name, err)
			continue
		}
		if got.ExitCode != want.Exit || got.GasUsed != want.Gas {
			t.Errorf("%s: exit code %d after %d gas, official %d after %d", calls[i].name, got.ExitCode, got.GasUsed, want.Exit, want.Gas)
		}
		if got.StackCell() == nil {
			t.Errorf("%s: no stack, official %s", calls[i].name, want.Stack)
			continue
		}
		if hash := hex.EncodeToString(got.StackCell().Hash()); hash != want.Stack {
			t.Errorf("%s: stack %s %v, official %s\n%s\n%s", calls[i].name, hash, got.Stack, want.Stack, got.StackCell().Dump(), fromBase64(t, want.Cell).Dump())
		}
		missing := ""
		if got.MissingLibrary != nil {
			missing = hex.EncodeToString(got.MissingLibrary[:])
		}
		if !strings.EqualFold(missing, want.Missing) {
			t.Errorf("%s: missing library %q, official %q", calls[i].name, missing, want.Missing)
		}
		again, err := tvm.DecodeStack(got.StackCell())
		if err != nil {
			t.Errorf("%s: decode the stack: %v", calls[i].name, err)
			continue
		}
		if twice, err := tvm.EncodeStack(again); err != nil || twice.HashKey() != got.StackCell().HashKey() {
			t.Errorf("%s: the stack read and written again is another (%v)", calls[i].name, err)
		}
	}
}

// walletCalls ask every wallet of tonutils-go everything that wallets answer.
func walletCalls(t *testing.T) []call {
	t.Helper()
	key := bytes.Repeat([]byte{7}, 32)
	versions := map[string]any{
		"v3r1": wallet.V3R1, "v3r2": wallet.V3R2, "v4r1": wallet.V4R1, "v4r2": wallet.V4R2,
		"v5r1":        wallet.ConfigV5R1Final{NetworkGlobalID: -239},
		"highload v3": wallet.ConfigHighloadV3{MessageTTL: 600, MessageBuilder: nil},
	}
	var calls []call
	for name, version := range versions {
		state, err := wallet.GetStateInit(key, version.(wallet.VersionConfig), 698983191)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, method := range []string{
			"seqno", "get_public_key", "get_subwallet_id", "get_plugin_list", "is_signature_allowed", "get_extensions",
			"get_timeout", "get_last_clean_time", "no_such_method",
		} {
			calls = append(calls, call{name: name + " " + method, input: tvm.Input{Code: state.Code, Data: state.Data, Method: method}})
		}
		for _, query := range []int64{0, 12345, 1 << 40} {
			calls = append(calls, call{name: name + " processed?", input: tvm.Input{
				Code: state.Code, Data: state.Data, Method: "processed?", Stack: []any{query, false},
			}})
		}
		calls = append(calls, call{name: name + " is_plugin_installed", input: tvm.Input{
			Code: state.Code, Data: state.Data, Method: "is_plugin_installed", Stack: []any{0, new(big.Int).Lsh(big.NewInt(3), 250)},
		}})
	}
	return calls
}

// assembly is code from its bytes; the method's number lies on the stack.
func assembly(t testing.TB, text string) *cell.Cell {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return cell.BeginCell().MustStoreSlice(raw, uint(len(raw)*8)).EndCell()
}

// wholeC7 drops the method and leaves register c7.
const wholeC7 = "30ED47"

func c7Calls(t *testing.T) []call {
	t.Helper()
	id := func(n int) blockID {
		return blockID{
			Workchain: -1, Shard: "-9223372036854775808", Seqno: 1000 + n,
			Root: fmt.Sprintf("%064x", n+1), File: fmt.Sprintf("%064x", n+77),
		}
	}
	previous := &previousBlocks{Key: id(0)}
	blocks := tvm.Tuple{tvm.Tuple{}, id(0).tuple(), tvm.Tuple{}}
	for n := range 16 {
		previous.Last = append(previous.Last, id(n))
		previous.Hundreds = append(previous.Hundreds, id(n*100))
		blocks[0] = append(blocks[0].(tvm.Tuple), id(n).tuple())
		blocks[2] = append(blocks[2].(tvm.Tuple), id(n*100).tuple())
	}
	extra := cell.NewDict(32)
	for currency, amount := range map[uint64]uint64{100: 5_000_000_000} {
		key := cell.BeginCell().MustStoreUInt(currency, 32).EndCell()
		if err := extra.Set(key, cell.BeginCell().MustStoreBigVarUInt(new(big.Int).SetUint64(amount), 32).EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	code := assembly(t, wholeC7)
	seed := [32]byte(bytes.Repeat([]byte{0xab}, 32))
	return []call{
		{name: "c7, nothing known", input: tvm.Input{Code: code}},
		{name: "c7, everything known", last: previous, extra: map[string]string{"100": "5000000000"}, input: tvm.Input{
			Code: code, Balance: big.NewInt(77), Extra: extra.AsCell(),
			Address: address.NewAddress(0, 255, bytes.Repeat([]byte{0x11}, 32)),
			Context: tvm.Context{Now: 1_765_432_100, Seed: seed, PrevBlocks: blocks},
		}},
	}
}

// valueCalls leave every type of value on the stack.
func valueCalls(t *testing.T) []call {
	t.Helper()
	huge := new(big.Int).Lsh(big.NewInt(1), 255)
	part := cell.BeginCell().MustStoreUInt(0xdeadbeef, 32).MustStoreRef(cell.BeginCell().MustStoreUInt(1, 8).EndCell()).EndCell()
	nop := assembly(t, "30")
	argument := func(name string, values ...any) call {
		return call{name: name, input: tvm.Input{Code: nop, MethodID: 1, Stack: values}}
	}
	return []call{
		argument("nothing"),
		argument("integers", 0, -1, 1, int64(-1<<63), int64(1<<62), huge, new(big.Int).Neg(huge)),
		argument("null and tuples", nil, tvm.Tuple{}, tvm.Tuple{1}, tvm.Tuple{1, tvm.Tuple{2, nil}}, tvm.Tuple{1, 2, 3, tvm.Tuple{tvm.Tuple{tvm.Tuple{4}}}}),
		argument("cells", part, part.MustBeginParse(), cell.BeginCell().MustStoreUInt(5, 3)),
		// CTOS, 5 LDU: a slice that begins within its cell.
		{name: "part of a cell", input: tvm.Input{Code: assembly(t, "30D0D304"), Stack: []any{part}}},
		// 1 PUSHINT, 0 PUSHINT, QDIV: not a number.
		{name: "not a number", input: tvm.Input{Code: assembly(t, "307170B7A904")}},
		// NEWC, 7 STU 8 on it, a builder and its cell.
		{name: "builder", input: tvm.Input{Code: assembly(t, "3077C8CB0720C9")}},
		{name: "stack underflow", input: tvm.Input{Code: assembly(t, "303030")}},
		{name: "thrown", input: tvm.Input{Code: assembly(t, "30F2C4D2")}},
		{name: "unknown opcode", input: tvm.Input{Code: assembly(t, "30FEFF")}},
	}
}

func TestGetMethodsEndAsInTheOfficialEmulator(t *testing.T) {
	config := officialConfig(t)
	calls := append(walletCalls(t), c7Calls(t)...)
	calls = append(calls, valueCalls(t)...)
	calls = append(calls, libraryCalls(t)...)
	calls = append(calls, exhaustingCalls(t)...)
	compare(t, config, calls)
	t.Logf("%d calls", len(calls))
}

// libraryCalls run code that is a library cell, found and missing.
func libraryCalls(t *testing.T) []call {
	t.Helper()
	code := assembly(t, "3075")
	reference := libraryCell(t, code.Hash())
	// PUSHREF (the reference), CTOS: a library opened while running.
	inside := cell.BeginCell().MustStoreSlice([]byte{0x30, 0x88, 0xd0}, 24).MustStoreRef(reference).EndCell()
	known := tvm.Context{Libraries: []*cell.Cell{libraries(t, code)}}
	return []call{
		{name: "library as code", input: tvm.Input{Code: reference, Context: known}},
		{name: "missing library as code", input: tvm.Input{Code: reference}},
		{name: "library opened", input: tvm.Input{Code: inside, Context: known}},
		{name: "missing library opened", input: tvm.Input{Code: inside}},
		{name: "missing library opened by a library", input: tvm.Input{Code: libraryCell(t, inside.Hash()),
			Context: tvm.Context{Libraries: []*cell.Cell{libraries(t, inside)}}}},
	}
}

// libraries is a dictionary of one library.
func libraries(t testing.TB, code *cell.Cell) *cell.Cell {
	t.Helper()
	held := cell.NewDict(256)
	key := cell.BeginCell().MustStoreSlice(code.Hash(), 256).EndCell()
	if err := held.Set(key, cell.BeginCell().MustStoreRef(code).EndCell()); err != nil {
		t.Fatal(err)
	}
	return held.AsCell()
}

func libraryCell(t testing.TB, hash []byte) *cell.Cell {
	t.Helper()
	// A BoC by hand: builders cannot end special cells.
	body := append([]byte{0x08, 66, 2}, hash...)
	boc := append([]byte{0xb5, 0xee, 0x9c, 0x72, 1, 1, 1, 1, 0, byte(len(body)), 0}, body...)
	c, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exhaustingCalls use up their gas.
func exhaustingCalls(t *testing.T) []call {
	t.Helper()
	var calls []call
	for name, code := range hostile(t) {
		for _, gas := range []int64{100, 10_000, 300_000} {
			calls = append(calls, call{name: fmt.Sprintf("%s with %d gas", name, gas), input: tvm.Input{Code: code, GasLimit: gas}})
		}
	}
	return calls
}

// TestContractsOfTheChainEndAsInTheOfficialEmulator asks the real accounts of
// TONSCRIBE_TESTDATA.
func TestContractsOfTheChainEndAsInTheOfficialEmulator(t *testing.T) {
	dir := realdata.Path(t)
	files, err := filepath.Glob(filepath.Join(dir, "accounts_tx_triples", "*_account_new.boc"))
	if err != nil || len(files) == 0 {
		t.Fatalf("accounts of %s: %v", dir, err)
	}
	var calls []call
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		root, err := cell.FromBOC(raw)
		if err != nil {
			t.Fatal(err)
		}
		var state tlb.AccountState
		if err := tlb.Parse(&state, root); err != nil || !state.IsValid || state.Status != tlb.AccountStatusActive || state.StateInit.Code == nil {
			continue
		}
		for _, method := range []string{
			"seqno", "get_public_key", "get_subwallet_id", "get_plugin_list", "get_extensions",
			"get_jetton_data", "get_wallet_data", "get_nft_data", "get_collection_data", "get_sale_data", "get_pool_data", "get_reserves",
		} {
			calls = append(calls, call{name: filepath.Base(file) + " " + method, input: tvm.Input{
				Address: state.Address, Code: state.StateInit.Code, Data: state.StateInit.Data, Balance: state.Balance.Nano(), Method: method,
			}})
		}
	}
	compare(t, officialConfig(t), calls)
	t.Logf("%d calls", len(calls))
}
