package stored_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/bench/synthetic"
	"tonscribe/decode"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/test/support/costtest"
)

// The messages of these tests are built with tonutils-go.

type part func(*tcell.Builder)

func begin() *tcell.Builder { return tcell.BeginCell() }

// account is the account id that consists of one byte repeated.
func account(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func bits(v uint64, n uint) part { return func(b *tcell.Builder) { b.MustStoreUInt(v, n) } }

func ref(c *tcell.Cell) part { return func(b *tcell.Builder) { b.MustStoreRef(c) } }

func coins(v uint64) part { return func(b *tcell.Builder) { b.MustStoreCoins(v) } }

func put(parts ...part) part {
	return func(b *tcell.Builder) {
		for _, p := range parts {
			p(b)
		}
	}
}

func cellOf(parts ...part) *tcell.Cell {
	b := begin()
	put(parts...)(b)
	return b.EndCell()
}

func std(workchain int64, id byte) part {
	return func(b *tcell.Builder) {
		b.MustStoreUInt(0b100, 3).MustStoreInt(workchain, 8).MustStoreSlice(account(id), 256)
	}
}

func external(n uint) part {
	return func(b *tcell.Builder) {
		b.MustStoreUInt(0b01, 2).MustStoreUInt(uint64(n), 9).MustStoreSlice(bytes.Repeat([]byte{0x5c}, 64), n)
	}
}

func slice(data []byte, n uint) part { return func(b *tcell.Builder) { b.MustStoreSlice(data, n) } }

var (
	none      = bits(0b00, 2)
	noExtra   = bits(0, 1)
	ihrFee    = coins(3)
	created   = put(coins(1<<40), bits(101, 64), bits(1_700_000_000, 32)) // fwd_fee, created_lt, created_at
	someValue = coins(1_234_567_890)
)

func internal(flags uint64, source, destination, value part) part {
	return put(bits(flags, 4), source, destination, value, ihrFee, created)
}

// kinds are the infos of messages whose hash is made again.
var kinds = map[string]part{
	"internal":                  internal(0b0110, std(0, 0x11), std(0, 0x22), put(someValue, noExtra)),
	"bounced":                   internal(0b0101, std(0, 0x11), std(-1, 0x22), put(someValue, noExtra)),
	"internal without value":    internal(0b0000, std(-1, 0x11), std(127, 0x22), put(coins(0), noExtra)),
	"internal with all value":   internal(0b0110, std(-128, 0x11), std(0, 0x22), put(coins(1<<64-1), noExtra)),
	"internal from nobody":      internal(0b0110, none, std(0, 0x22), put(someValue, noExtra)),
	"external in":               put(bits(0b10, 2), none, std(0, 0x11), coins(0)),
	"external in with a fee":    put(bits(0b10, 2), none, std(-1, 0x11), coins(77)),
	"external in from 11 bits":  put(bits(0b10, 2), external(11), std(0, 0x11), coins(77)),
	"external out":              put(bits(0b11, 2), std(0, 0x11), none, bits(105, 64), bits(1_700_000_000, 32)),
	"external out to 256 bits":  put(bits(0b11, 2), std(0, 0x11), external(256), bits(105, 64), bits(1_700_000_000, 32)),
	"external out to 3 bits":    put(bits(0b11, 2), std(0, 0x11), external(3), bits(105, 64), bits(1_700_000_000, 32)),
	"external out to 0 bits":    put(bits(0b11, 2), std(0, 0x11), external(0), bits(105, 64), bits(1_700_000_000, 32)),
	"external out to 500 bits":  put(bits(0b11, 2), std(0, 0x11), external(500), bits(105, 64), bits(1_700_000_000, 32)),
	"external out, no time yet": put(bits(0b11, 2), std(0, 0x11), none, bits(0, 64), bits(0, 32)),
}

// strange are infos that the fields of a record do not tell.
var strange = map[string]part{
	"extra currencies": internal(0b0110, std(0, 0x11), std(0, 0x22), put(someValue, func(b *tcell.Builder) {
		dict := tcell.NewDict(32)
		value := begin()
		if err := value.StoreBigVarUInt(big.NewInt(5), 32); err != nil {
			panic(err)
		}
		if err := dict.SetIntKey(big.NewInt(239), value.EndCell()); err != nil {
			panic(err)
		}
		b.MustStoreDict(dict)
	})),
	"anycast":                 internal(0b0110, std(0, 0x11), put(bits(0b101, 3), bits(5, 5), bits(0b10110, 5), bits(0, 8), slice(account(0x33), 256)), put(someValue, noExtra)),
	"addr_var of 256 bits":    internal(0b0110, put(bits(0b110, 3), bits(256, 9), bits(1<<32-1, 32), slice(account(0x44), 256)), std(0, 0x22), put(someValue, noExtra)),
	"a far workchain":         internal(0b0110, put(bits(0b110, 3), bits(256, 9), bits(1<<20, 32), slice(account(0x44), 256)), std(0, 0x22), put(someValue, noExtra)),
	"addr_var of 20 bits":     internal(0b0110, put(bits(0b110, 3), bits(20, 9), bits(5, 32), bits(0xabcde, 20)), std(0, 0x22), put(someValue, noExtra)),
	"amount with a zero byte": internal(0b0110, std(0, 0x11), std(0, 0x22), put(bits(2, 4), bits(7, 16), noExtra)),
	"an external sender":      internal(0b0110, external(20), std(0, 0x22), put(someValue, noExtra)),
}

// alone is a cell without references, given with its descriptors.
func alone(cell ...byte) *tcell.Cell {
	c, err := tcell.FromBOC(append([]byte{0xb5, 0xee, 0x9c, 0x72, 1, 1, 1, 1, 0, byte(len(cell)), 0}, cell...))
	if err != nil {
		panic(err)
	}
	return c
}

func library(id byte) *tcell.Cell { return alone(append([]byte{0x08, 2 * 33, 2}, account(id)...)...) }

// pruned is a branch of level 1.
func pruned(id byte) *tcell.Cell {
	return alone(append(append([]byte{0x28, 2 * 36, 1, 1}, account(id)...), 0, 3)...)
}

// stateInit is split_depth:(Maybe (## 5)) special:(Maybe TickTock) code, data and
// library.
var stateInit = put(bits(0b1_01101_1_10, 9), bits(1, 1), ref(cellOf(bits(0xc0de, 16))), bits(1, 1), ref(cellOf(bits(0xda7a, 16))), bits(0, 1))

var inits = map[string]part{
	"none":            bits(0, 1),
	"inline":          put(bits(0b10, 2), stateInit),
	"inline, empty":   bits(0b10_00000, 7),
	"inline library":  put(bits(0b10, 2), bits(0b00_1, 3), ref(library(0x77)), bits(0b00, 2)),
	"in ref":          put(bits(0b11, 2), ref(cellOf(stateInit))),
	"in ref, library": put(bits(0b11, 2), ref(cellOf(bits(0b00_1, 3), ref(library(0x77)), bits(0b00, 2)))),
}

var content = put(bits(0x0f8a7ea5, 32), bits(9, 61), ref(cellOf(bits(1, 7))))

var payloads = map[string]part{
	"empty":               bits(0, 1),
	"inline":              put(bits(0, 1), bits(0x0f8a7ea5, 32), bits(9, 61)),
	"inline, refs":        put(bits(0, 1), content),
	"inline, 3 bits":      bits(0b0_101, 4),
	"inline, library":     put(bits(0, 1), bits(7, 32), ref(library(0x78))),
	"in ref, empty":       put(bits(1, 1), ref(cellOf())),
	"in ref":              put(bits(1, 1), ref(cellOf(content, ref(cellOf(slice(account(8), 255)))))),
	"in ref, full":        put(bits(1, 1), ref(cellOf(slice(bytes.Repeat([]byte{9}, 128), 1023)))),
	"in ref, library":     put(bits(1, 1), ref(library(0x79))),
	"in ref, far library": put(bits(1, 1), ref(cellOf(bits(1, 1), ref(cellOf(ref(library(0x79))))))),
}

// decoded is a transaction that produced the message, or consumed it when it is an
// external one.
func decoded(t *testing.T, message *tcell.Cell, version uint32) (*record.Transaction, *record.Message) {
	t.Helper()
	isIn := message.MustBeginParse().MustLoadUInt(2) == 0b10
	list := begin()
	if isIn {
		list.MustStoreBoolBit(true).MustStoreRef(message).MustStoreBoolBit(false)
	} else {
		dict := tcell.NewDict(15)
		if err := dict.SetIntKey(big.NewInt(0), cellOf(ref(message))); err != nil {
			t.Fatal(err)
		}
		list.MustStoreBoolBit(false).MustStoreDict(dict)
	}
	outs := uint64(1)
	if isIn {
		outs = 0
	}
	update := cellOf(bits(0x72, 8), slice(account(0xaa), 256), slice(account(0xbb), 256))
	description := cellOf(bits(0b0001, 4), coins(1234), bits(0b0_0, 2)) // trans_storage
	root := cellOf(bits(7, 4), slice(account(0x11), 256), bits(100, 64), slice(account(0xcc), 256), bits(99, 64), bits(1_700_000_000, 32),
		bits(outs, 15), bits(0b1110, 4), ref(list.EndCell()), coins(5000), noExtra, ref(update), ref(description))
	tx, err := new(decode.Decoder).Transaction(root.ToBOC(), version)
	if err != nil {
		t.Fatal(err)
	}
	m := tx.InMsg
	if !isIn {
		m = tx.OutMsgs[0]
	}
	if !bytes.Equal(m.Hash, message.Hash()) {
		t.Fatalf("message %x was decoded as %x", message.Hash(), m.Hash)
	}
	return tx, m
}

// fits reports whether the parts fit a cell.
func fits(parts ...part) (ok bool) {
	defer func() { ok = recover() == nil }()
	cellOf(parts...)
	return true
}

func TestTheHashOfEveryLayoutIsMadeAgain(t *testing.T) {
	n := 0
	for kind, info := range kinds {
		for initName, init := range inits {
			for bodyName, body := range payloads {
				if !fits(info, init, body) {
					continue
				}
				for _, version := range []uint32{11, 12} { // ihr_fee, extra_flags
					name := fmt.Sprintf("%s, version %d, init %s, body %s", kind, version, initName, bodyName)
					tx, m := decoded(t, cellOf(info, init, body), version)
					pack(t, tx)
					k := kept(t, tx)[0]
					if len(k.Hash) != 1 || len(k.BodyHash) != 0 || len(k.InitStateHash) != 0 || len(k.HashNorm) != 0 {
						t.Errorf("%s: hash %x, hash_norm %x, body hash %x and init hash %x were kept", name, k.Hash, k.HashNorm, k.BodyHash, k.InitStateHash)
					}
					if len(k.Body) != len(m.Body)-4 || len(m.InitState) > 0 && len(k.InitState) != len(m.InitState)-4 {
						t.Errorf("%s: a checksum was kept", name)
					}
					n++
				}
			}
		}
	}
	if n < 1500 {
		t.Errorf("only %d messages", n)
	}
}

func TestHashesThatTheFieldsDoNotTellAreKept(t *testing.T) {
	for kind, info := range strange {
		for initName, init := range inits {
			for bodyName, body := range payloads {
				if !fits(info, init, body) {
					continue
				}
				tx, m := decoded(t, cellOf(info, init, body), 12)
				pack(t, tx)
				if k := kept(t, tx)[0]; !bytes.Equal(k.Hash, m.Hash) || len(k.BodyHash) != 0 {
					t.Errorf("%s, init %s, body %s: hash %x became %x, the body hash is %x", kind, initName, bodyName, m.Hash, k.Hash, k.BodyHash)
				}
			}
		}
	}
}

func TestBodiesOfAnotherLevelKeepTheHash(t *testing.T) {
	for name, body := range map[string]part{
		"in ref":    put(bits(1, 1), ref(pruned(0x66))),
		"below ref": put(bits(1, 1), ref(cellOf(ref(pruned(0x66))))),
		"inline":    put(bits(0, 1), ref(pruned(0x66))),
	} {
		tx, m := decoded(t, cellOf(kinds["internal"], inits["none"], body), 12)
		pack(t, tx)
		if k := kept(t, tx)[0]; !bytes.Equal(k.Hash, m.Hash) {
			t.Errorf("%s: the hash became %x", name, k.Hash)
		}
	}
}

func TestWrongHashesAreKept(t *testing.T) {
	tx, m := decoded(t, cellOf(kinds["external in with a fee"], inits["in ref"], payloads["inline"]), 12)
	for _, hash := range []*[]byte{&m.Hash, &m.HashNorm, &m.BodyHash, &m.InitStateHash} {
		right := *hash
		*hash = bytes.Clone(right)
		(*hash)[31] ^= 1
		pack(t, tx)
		*hash = right
	}
	m.InitState = nil
	pack(t, tx)
	m.InitStateHash = nil
	pack(t, tx)
	m.HashNorm = nil
	pack(t, tx)
	for name, hash := range map[string]*[]byte{"hash": &m.Hash, "body hash": &m.BodyHash} {
		right := *hash
		for _, wrong := range [][]byte{nil, {0}, right[:31]} {
			*hash = wrong
			raw, err := tx.MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stored.Pack(nil, raw, tx); err == nil {
				t.Errorf("a %s of %d bytes was packed", name, len(wrong))
			}
		}
		*hash = right
	}
}

func TestOtherRecordsThanThatOfTheBytesAreRefused(t *testing.T) {
	list := synthetic.NewRows(synthetic.RowOptions{Transactions: 200, Seed: 1}).Next().Transactions
	for i, tx := range list {
		raw, err := tx.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stored.Pack(nil, raw, list[(i+1)%len(list)]); err == nil {
			t.Fatal("a transaction was packed with the record of another")
		}
		other := tx.CloneVT()
		other.OutMsgs = append(other.OutMsgs, tx.InMsg)
		if _, err := stored.Pack(nil, raw, other); err == nil {
			t.Fatal("a transaction was packed with a record of more messages")
		}
		other = tx.CloneVT()
		other.InMsg.Body = append(bytes.Clone(tx.InMsg.Body[:len(tx.InMsg.Body)-1]), 0)
		if _, err := stored.Pack(nil, raw, other); err == nil {
			t.Fatal("a transaction was packed with a record of another body")
		}
	}
}

// forms are stored forms of messages of all kinds.
func forms(t testing.TB) (list [][]byte) {
	chain := synthetic.NewRows(synthetic.RowOptions{Transactions: 40, Seed: 1})
	var txs []*record.Transaction
	for b := chain.Next(); b != nil; b = chain.Next() {
		txs = append(txs, b.Transactions...)
	}
	if t, ok := t.(*testing.T); ok {
		for _, kind := range []string{"external in from 11 bits", "external out to 3 bits", "bounced"} {
			for _, init := range []string{"inline", "in ref"} {
				tx, _ := decoded(t, cellOf(kinds[kind], inits[init], payloads["in ref"]), 12)
				txs = append(txs, tx)
			}
		}
	}
	for _, tx := range txs {
		raw, err := tx.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		packed, err := stored.Pack(nil, raw, tx)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, packed)
	}
	return list
}

func TestDamagedFormsNeverPanic(t *testing.T) {
	for _, form := range forms(t) {
		for n := range form {
			_ = stored.Unpack(new(record.Transaction), form[:n])
			for _, flip := range []byte{1, 0x80, 0xff} {
				damaged := bytes.Clone(form)
				damaged[n] ^= flip
				_ = stored.Unpack(new(record.Transaction), damaged)
			}
		}
	}
}

func TestMessagesThatTheirFormDoesNotTellAreErrors(t *testing.T) {
	whole, _ := decoded(t, cellOf(kinds["external in with a fee"], inits["in ref"], payloads["inline"]), 12)
	raw, err := whole.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := stored.Pack(nil, raw, whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(m *record.Message){
		"no hash":                     func(m *record.Message) { m.Hash = nil },
		"half a hash":                 func(m *record.Message) { m.Hash = make([]byte, 16) },
		"unknown layout":              func(m *record.Message) { m.Hash = []byte{8} },
		"no body":                     func(m *record.Message) { m.Body = nil },
		"body is no bag":              func(m *record.Message) { m.Body[0] ^= 1 },
		"layout beside a body's hash": func(m *record.Message) { m.BodyHash = make([]byte, 32) },
		"no StateInit":                func(m *record.Message) { m.InitState = nil },
		"StateInit is no bag":         func(m *record.Message) { m.InitState[0] ^= 1 },
		"unknown kind":                func(m *record.Message) { m.Kind = 3 },
		"half an address":             func(m *record.Message) { m.Destination = m.Destination[:20] },
		"far workchain":               func(m *record.Message) { m.Destination[0] = 1 },
		"external address without its bits": func(m *record.Message) {
			m.SourceExternal = &record.ExternalAddress{Bits: 9, Data: []byte{1}}
		},
		"external address of 512 bits": func(m *record.Message) {
			m.SourceExternal = &record.ExternalAddress{Bits: 512, Data: make([]byte, 64)}
		},
		"extra currencies": func(m *record.Message) { m.ValueExtra = []*record.ExtraCurrency{{Id: 1}} },
		"too much in a cell": func(m *record.Message) {
			m.SourceExternal = &record.ExternalAddress{Bits: 500, Data: make([]byte, 63)}
			m.DestinationExternal, m.Destination = m.SourceExternal, nil
		},
	} {
		form := new(record.Transaction)
		if err := form.UnmarshalVT(packed); err != nil {
			t.Fatal(err)
		}
		damage(form.InMsg)
		damaged, err := form.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if err := stored.Unpack(new(record.Transaction), damaged); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// The form that holds the hash is good too.
	if err := stored.Unpack(new(record.Transaction), raw); err != nil {
		t.Error(err)
	}
}

func TestCutOffTransactionsAreNotPacked(t *testing.T) {
	tx := synthetic.NewRows(synthetic.RowOptions{Transactions: 20, Seed: 1}).Next().Transactions[0]
	raw, err := tx.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	messages := bytes.LastIndex(raw, tx.InMsg.Body)
	if len(tx.OutMsgs) > 0 {
		messages = bytes.LastIndex(raw, tx.OutMsgs[len(tx.OutMsgs)-1].Body)
	}
	for n := range messages {
		if _, err := stored.Pack(nil, raw[:n], tx); err == nil {
			t.Fatalf("%d of %d bytes were packed", n, len(raw))
		}
	}
	if _, err := stored.Pack(nil, raw, &record.Transaction{}); err == nil {
		t.Fatal("a transaction without account and hash was packed")
	}
}

// FuzzUnpack reads what may be a stored form. What can be read comes back as it
// was.
func FuzzUnpack(f *testing.F) {
	for _, form := range forms(f) {
		f.Add(form)
	}
	f.Fuzz(func(t *testing.T, form []byte) {
		tx := new(record.Transaction)
		var err error
		costtest.Check(t, func() { err = stored.Unpack(tx, form) })
		if err != nil {
			return
		}
		raw, err := tx.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		packed, err := stored.Pack(nil, raw, tx)
		if err != nil {
			return
		}
		back := new(record.Transaction)
		if err := stored.Unpack(back, packed); err != nil {
			t.Fatal(err)
		}
		if !back.EqualVT(tx) {
			t.Fatalf("came back as\n%v\nand was\n%v", back, tx)
		}
	})
}
