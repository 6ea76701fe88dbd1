package decode

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"
)

// The blocks of these tests are built with tonutils-go, so they need no test
// data and have what real blocks rarely have.

func begin() *tcell.Builder { return tcell.BeginCell() }

// account is the account id that consists of one byte repeated.
func account(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

// addr stores addr_std in workchain 0.
func addr(b *tcell.Builder, id byte) *tcell.Builder {
	return b.MustStoreUInt(0b100, 3).MustStoreUInt(0, 8).MustStoreSlice(account(id), 256)
}

func currency(b *tcell.Builder, amount string, extra map[uint32]int64) *tcell.Builder {
	n, _ := new(big.Int).SetString(amount, 10)
	b.MustStoreBigCoins(n)
	if len(extra) == 0 {
		return b.MustStoreBoolBit(false)
	}
	dict := tcell.NewDict(32)
	for id, v := range extra {
		value := begin()
		if err := value.StoreBigVarUInt(big.NewInt(v), 32); err != nil {
			panic(err)
		}
		if err := dict.SetIntKey(big.NewInt(int64(id)), value.EndCell()); err != nil {
			panic(err)
		}
	}
	return b.MustStoreDict(dict)
}

var bigBody = begin().MustStoreUInt(0x0f8a7ea5, 32).MustStoreUInt(9, 61).
	MustStoreRef(begin().MustStoreUInt(1, 7).EndCell()).MustStoreRef(begin().MustStoreSlice(account(8), 255).EndCell())

// stateInit stores a StateInit with everything in it.
func stateInit(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b1_01101_1_10, 9).
		MustStoreMaybeRef(begin().MustStoreUInt(0xc0de, 16).EndCell()).
		MustStoreMaybeRef(begin().MustStoreUInt(0xda7a, 16).EndCell()).MustStoreBoolBit(false)
}

// internal is an internal message; its destination is stored by to, what follows
// created_at by rest.
func internal(lt uint64, value string, to, rest func(*tcell.Builder) *tcell.Builder) *tcell.Cell {
	b := addr(begin().MustStoreUInt(0b0110, 4), 0x11)
	to(b)
	currency(b, value, map[uint32]int64{7: 1, 239: 1 << 40})
	b.MustStoreCoins(3).MustStoreCoins(400000).MustStoreUInt(lt, 64).MustStoreUInt(1700000000, 32)
	return rest(b).EndCell()
}

func plain(b *tcell.Builder) *tcell.Builder { return addr(b, 0x22) }

// anycast stores an addr_std whose first 5 bits are replaced.
func anycastAddr(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b101, 3).MustStoreUInt(5, 5).MustStoreUInt(0b10110, 5).MustStoreUInt(0, 8).MustStoreSlice(account(0x33), 256)
}

func varAddr(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b110, 3).MustStoreUInt(256, 9).MustStoreInt(-1, 32).MustStoreSlice(account(0x44), 256)
}

func shortVarAddr(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b110, 3).MustStoreUInt(20, 9).MustStoreInt(5, 32).MustStoreUInt(0xabcde, 20)
}

func bodyInline(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b00, 2).MustStoreBuilder(bigBody)
}

func bodyInRef(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b01, 2).MustStoreRef(bigBody.EndCell())
}

func initInline(b *tcell.Builder) *tcell.Builder {
	return stateInit(b.MustStoreUInt(0b10, 2)).MustStoreBoolBit(false).MustStoreUInt(0xabc, 12)
}

func initInRef(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b11, 2).MustStoreRef(stateInit(begin()).EndCell()).MustStoreBoolBit(true).MustStoreRef(bigBody.EndCell())
}

func externalIn() *tcell.Cell {
	b := begin().MustStoreUInt(0b10, 2).MustStoreUInt(0b01, 2).MustStoreUInt(11, 9).MustStoreUInt(0x555, 11)
	return initInline(addr(b, 0x11).MustStoreCoins(77)).EndCell()
}

func externalOut(lt uint64) *tcell.Cell {
	b := addr(begin().MustStoreUInt(0b11, 2), 0x11).MustStoreUInt(0b01, 2).MustStoreUInt(256, 9).MustStoreSlice(account(0x55), 256)
	return b.MustStoreUInt(lt, 64).MustStoreUInt(1700000000, 32).MustStoreUInt(0b00, 2).MustStoreUInt(5, 31).EndCell()
}

func storagePhase(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreCoins(1234).MustStoreBoolBit(true).MustStoreCoins(99).MustStoreUInt(0b11, 2)
}

func creditPhase(b *tcell.Builder) *tcell.Builder {
	return currency(b.MustStoreBoolBit(true).MustStoreCoins(5), "1000000000", map[uint32]int64{1: 2})
}

func computePhase(b *tcell.Builder) *tcell.Builder {
	details := begin().MustStoreVarUInt(60000, 7).MustStoreVarUInt(1000000, 7).MustStoreBoolBit(true).MustStoreVarUInt(10000, 3).
		MustStoreInt(-1, 8).MustStoreInt(-14, 32).MustStoreBoolBit(true).MustStoreInt(-77, 32).MustStoreUInt(321, 32).
		MustStoreSlice(account(1), 256).MustStoreSlice(account(2), 256)
	return b.MustStoreUInt(0b1101, 4).MustStoreCoins(600000).MustStoreRef(details.EndCell())
}

func skippedPhase(reason, bits uint) func(*tcell.Builder) *tcell.Builder {
	return func(b *tcell.Builder) *tcell.Builder {
		return b.MustStoreBoolBit(false).MustStoreUInt(uint64(reason), bits)
	}
}

func actionPhase() *tcell.Cell {
	return begin().MustStoreUInt(0b101_10, 5).MustStoreBoolBit(true).MustStoreCoins(70).MustStoreBoolBit(true).MustStoreCoins(20).
		MustStoreInt(-37, 32).MustStoreBoolBit(true).MustStoreInt(-2, 32).
		MustStoreUInt(4, 16).MustStoreUInt(1, 16).MustStoreUInt(2, 16).MustStoreUInt(3, 16).MustStoreSlice(account(3), 256).
		MustStoreVarUInt(12, 7).MustStoreVarUInt(3456, 7).EndCell()
}

func splitInfo(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(3, 6).MustStoreUInt(4, 6).MustStoreSlice(account(5), 256).MustStoreSlice(account(6), 256)
}

func bit(v bool) func(*tcell.Builder) *tcell.Builder {
	return func(b *tcell.Builder) *tcell.Builder { return b.MustStoreBoolBit(v) }
}

func tag(v uint64, bits uint) func(*tcell.Builder) *tcell.Builder {
	return func(b *tcell.Builder) *tcell.Builder { return b.MustStoreUInt(v, bits) }
}

func maybeAction(b *tcell.Builder) *tcell.Builder { return b.MustStoreMaybeRef(actionPhase()) }

func bounceOK(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreBoolBit(true).MustStoreVarUInt(1, 7).MustStoreVarUInt(300, 7).MustStoreCoins(8).MustStoreCoins(9)
}

func bounceNoFunds(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreUInt(0b01, 2).MustStoreVarUInt(1, 7).MustStoreVarUInt(300, 7).MustStoreCoins(8)
}

func join(parts ...func(*tcell.Builder) *tcell.Builder) *tcell.Cell {
	b := begin()
	for _, p := range parts {
		b = p(b)
	}
	return b.EndCell()
}

func prepared(b *tcell.Builder) *tcell.Builder {
	return b.MustStoreRef(transactionCell(0x66, 10, nil, nil, join(tag(1, 4), storagePhase)))
}

// descriptions are all kinds of TransactionDescr with all kinds of phases.
func descriptions() []*tcell.Cell {
	yes, no := bit(true), bit(false)
	return []*tcell.Cell{
		join(tag(0, 4), yes, yes, storagePhase, yes, creditPhase, computePhase, maybeAction, yes, yes, bounceOK, yes),
		join(tag(0, 4), no, no, no, skippedPhase(0b110, 3), no, yes, yes, bounceNoFunds, no),
		join(tag(0, 4), no, no, no, skippedPhase(0, 2), no, no, yes, tag(0, 2), no),
		join(tag(0, 4), no, no, no, skippedPhase(1, 2), no, no, no, no),
		join(tag(0, 4), no, no, no, skippedPhase(2, 2), no, no, no, no),
		join(tag(1, 4), storagePhase),
		join(tag(0b0011, 4), storagePhase, computePhase, maybeAction, no, no),
		join(tag(0b0100, 4), splitInfo, yes, storagePhase, computePhase, no, yes, yes),
		join(tag(0b0101, 4), splitInfo, prepared, yes),
		join(tag(0b0110, 4), splitInfo, storagePhase, yes),
		join(tag(0b0111, 4), splitInfo, prepared, yes, storagePhase, yes, creditPhase, computePhase, maybeAction, no, yes),
	}
}

func transactionCell(id byte, lt uint64, in *tcell.Cell, outs []*tcell.Cell, description *tcell.Cell) *tcell.Cell {
	dict := tcell.NewDict(15)
	for i, m := range outs {
		if err := dict.SetIntKey(big.NewInt(int64(i)), begin().MustStoreRef(m).EndCell()); err != nil {
			panic(err)
		}
	}
	messages := begin().MustStoreMaybeRef(in).MustStoreDict(dict).EndCell()
	update := begin().MustStoreUInt(0x72, 8).MustStoreSlice(account(0xaa), 256).MustStoreSlice(account(0xbb), 256).EndCell()
	b := begin().MustStoreUInt(7, 4).MustStoreSlice(account(id), 256).MustStoreUInt(lt, 64).MustStoreSlice(account(0xcc), 256).
		MustStoreUInt(lt-1, 64).MustStoreUInt(1700000000, 32).MustStoreUInt(uint64(len(outs)), 15).MustStoreUInt(0b1110, 4)
	var extra map[uint32]int64
	if lt == 100 { // several transactions with extra currencies do not fit an account block
		extra = map[uint32]int64{3: 300}
	}
	return currency(b.MustStoreRef(messages), "5000", extra).MustStoreRef(update).MustStoreRef(description).EndCell()
}

// builtBlock is what a test may change before it builds a block.
type builtBlock struct {
	version   uint32 // gen_software
	shard     uint64 // without the tag
	shardBits uint64
	flags     uint64                             // not_master … vert_seqno_incr, 8 bits
	txs       map[byte]map[uint64]*tcell.Cell    // by account, by lt
	inBlock   func(id byte) []byte               // account id in the account block, nil: the key
	prev      *tcell.Cell                        // BlkPrevInfo
	custom    *tcell.Cell                        // McBlockExtra
	accounts  func(root *tcell.Cell) *tcell.Cell // changes ShardAccountBlocks
}

func blockRef(seqno uint64) *tcell.Builder {
	return begin().MustStoreUInt(1, 64).MustStoreUInt(seqno, 32).MustStoreSlice(account(0xd1), 256).MustStoreSlice(account(0xd2), 256)
}

// sample is a block with every kind of message and description.
func sample() *builtBlock {
	shared := internal(101, "18446744073709551615", plain, bodyInline)
	list := map[byte]map[uint64]*tcell.Cell{
		0x11: {100: transactionCell(0x11, 100, externalIn(), []*tcell.Cell{
			shared, internal(102, "0", anycastAddr, bodyInRef), internal(103, "5", varAddr, initInline),
			internal(104, "6", plain, initInRef), externalOut(105), internal(106, "7", shortVarAddr, bodyInRef),
		}, descriptions()[0])},
		0x22: {107: transactionCell(0x22, 107, shared, nil, descriptions()[0])},
		0x77: {},
	}
	for i, d := range descriptions() {
		lt := 200 + 10*uint64(i)
		list[0x77][lt] = transactionCell(0x77, lt, nil, nil, d)
	}
	return &builtBlock{version: 11, flags: 0x80, txs: list, prev: blockRef(41).EndCell()}
}

func (b *builtBlock) boc(t testing.TB) []byte {
	t.Helper()
	info := begin().MustStoreUInt(0x9bc7a987, 32).MustStoreUInt(0, 32).MustStoreUInt(b.flags, 8).MustStoreUInt(1, 8).
		MustStoreUInt(42, 32).MustStoreUInt(1, 32)
	workchain := int64(0)
	if b.custom != nil {
		workchain = -1
	}
	info.MustStoreUInt(b.shardBits, 8).MustStoreInt(workchain, 32).MustStoreUInt(b.shard, 64)
	info.MustStoreUInt(1700000000, 32).MustStoreUInt(90, 64).MustStoreUInt(990, 64).MustStoreUInt(0xfedcba98, 32).
		MustStoreUInt(4, 32).MustStoreUInt(5, 32).MustStoreUInt(6, 32).
		MustStoreUInt(0xc4, 8).MustStoreUInt(uint64(b.version), 32).MustStoreUInt(494, 64)
	if b.flags&0x80 != 0 {
		info.MustStoreRef(blockRef(40).EndCell())
	}
	info.MustStoreRef(b.prev)
	accounts := b.accountBlocks(t)
	if b.accounts != nil {
		accounts = b.accounts(accounts)
	}
	empty := begin().EndCell()
	extra := begin().MustStoreUInt(0x4a33f6fd, 32).MustStoreRef(empty).MustStoreRef(empty).MustStoreRef(accounts).
		MustStoreSlice(account(0xe1), 256).MustStoreSlice(account(0xe2), 256).MustStoreMaybeRef(b.custom)
	root := begin().MustStoreUInt(0x11ef55aa, 32).MustStoreInt(-239, 32).MustStoreRef(info.EndCell()).
		MustStoreRef(empty).MustStoreRef(empty).MustStoreRef(extra.EndCell())
	return root.EndCell().ToBOCWithOptions(tcell.BOCSerializeOptions{WithIndex: true, WithCRC32C: true, WithCacheBits: true, WithIntHashes: true})
}

func (b *builtBlock) accountBlocks(t testing.TB) *tcell.Cell {
	blocks, err := tlb.NewShardAccountBlocksAugDict()
	if err != nil {
		t.Fatal(err)
	}
	for id, txs := range b.txs {
		list, err := tlb.NewAccountTransactionsAugDict()
		if err != nil {
			t.Fatal(err)
		}
		for lt, tx := range txs {
			if err := list.Set(begin().MustStoreUInt(lt, 64).EndCell(), begin().MustStoreRef(tx).EndCell()); err != nil {
				t.Fatal(err)
			}
		}
		inline, err := list.InlineCell()
		if err != nil {
			t.Fatal(err)
		}
		named := account(id)
		if b.inBlock != nil {
			named = b.inBlock(id)
		}
		leaf := begin().MustStoreUInt(5, 4).MustStoreSlice(named, 256).MustStoreBuilder(inline.ToBuilder()).MustStoreRef(begin().EndCell())
		if err := blocks.Set(begin().MustStoreSlice(account(id), 256).EndCell(), leaf.EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	c, err := blocks.ToCell()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
