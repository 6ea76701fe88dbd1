package synthetic

import (
	"crypto/sha256"

	"tonscribe/ton/cell"
)

// blockRef is what other blocks say about a block.
type blockRef struct {
	seqno    uint32
	endLT    uint64
	startLT  uint64
	rootHash [32]byte
	fileHash [32]byte
}

// placement says where in the chain a template becomes a block.
type placement struct {
	seqno    uint32
	globalID int32
	utime    uint32
	// window is the logical time at which the block's window begins: a multiple
	// of 1<<windowBits.
	window     uint64
	windowBits int
	mask       key    // XORed to the account ids of shard blocks
	salt       uint64 // XORed to bodies of external messages
	randSeed   [32]byte
	prev       blockRef
	masterRef  blockRef // shard blocks
	shard      blockRef // masterchain blocks: the shard block that they commit
}

// rekeying is a template on its way to be the block of a placement. A cell that
// says nothing about accounts, times and hashes of either stays as it is.
type rekeying struct {
	*template
	*placement
	shift  uint64 // of logical times
	ledger ledger
	states []state
	fresh  int // accounts that had no transaction before
	err    error
}

// put makes the template the block of p and appends its bag of cells to dst. The
// ledger is brought up to date; fresh counts the accounts that are new to it.
func (t *template) put(dst []byte, p *placement, accounts ledger) (boc []byte, ref blockRef, fresh int, err error) {
	defer t.bag.Truncate(t.cells)
	clear(t.copies)
	k := &rekeying{template: t, placement: p, shift: p.window - t.header.StartLt&^(1<<p.windowBits-1), ledger: accounts}
	root := t.bag.Root(0)
	extra := k.extra(root.Ref(3))
	block := k.edited(root, []edit{{32, 32, uint64(p.globalID)}}, k.info(root.Ref(0)), root.Ref(1), k.stateUpdate(), extra)
	if k.err != nil {
		return dst, ref, 0, k.err
	}
	start := len(dst)
	if dst, err = t.writer.AppendBoC(dst, block); err != nil {
		return dst, ref, 0, err
	}
	return dst, blockRef{
		seqno: p.seqno, startLT: t.header.StartLt + k.shift, endLT: t.header.EndLt + k.shift,
		rootHash: *block.Hash(), fileHash: sha256.Sum256(dst[start:]),
	}, k.fresh, nil
}

// added is the cell of u. After an error it is any cell.
func (k *rekeying) added(u *cell.Builder) cell.Cell { return k.checked(k.bag.Add(u)) }

func (k *rekeying) checked(c cell.Cell, err error) cell.Cell {
	if err != nil {
		c = k.bag.Root(0)
		if k.err == nil {
			k.err = err
		}
	}
	return c
}

// edit is a number of some bits that stands at a bit of a cell.
type edit struct {
	at, bits int
	value    uint64
}

// hashAt are the edits that put a hash at a bit of a cell.
func hashAt(at int, hash *[32]byte) (list []edit) {
	for i, word := range keyOf(hash[:]) {
		list = append(list, edit{at + 64*i, 64, word})
	}
	return list
}

// edited is a copy of a cell with some numbers, in the order of their bits, and
// all references anew.
func (k *rekeying) edited(c cell.Cell, edits []edit, refs ...cell.Cell) cell.Cell {
	var u cell.Builder
	s := c.RawSlice()
	for _, e := range edits {
		u.StoreBits(&s, e.at-(c.Bits()-s.BitsLeft()))
		s.Skip(e.bits)
		u.Store(e.value, uint(e.bits))
	}
	u.StoreBits(&s, s.BitsLeft())
	for _, r := range refs {
		u.StoreRef(r)
	}
	return k.added(&u)
}

// replaced is a cell with the copies that there are of cells below it.
func (k *rekeying) replaced(c cell.Cell) cell.Cell {
	if found := k.copies[c.Index()]; found.Valid() {
		return found
	}
	out := c
	if c.Kind() == cell.Ordinary { // what is below others is known by its hash
		var refs [4]cell.Cell
		for i := range c.Refs() {
			refs[i] = k.replaced(c.Ref(i))
		}
		for i := range c.Refs() {
			if refs[i] != c.Ref(i) {
				out = k.edited(c, nil, refs[:c.Refs()]...)
				break
			}
		}
	}
	k.copies[c.Index()] = out
	return out
}

// info makes BlockInfo (block.tlb).
func (k *rekeying) info(c cell.Cell) cell.Cell {
	refs, minRef := []cell.Cell{k.blockRef(&k.prev)}, k.prev.seqno
	if !k.master() {
		refs, minRef = []cell.Cell{k.blockRef(&k.masterRef), refs[0]}, k.masterRef.seqno
	}
	return k.edited(c, []edit{
		{66, 2, 0}, // before_split, after_split
		{80, 32, uint64(k.seqno)},
		{112, 32, 0}, // vert_seq_no
		{248, 32, uint64(k.utime)},
		{280, 64, k.header.StartLt + k.shift},
		{344, 64, k.header.EndLt + k.shift},
		{472, 32, uint64(minRef)},
		{504, 32, 0}, // prev_key_block_seqno
	}, refs...)
}

// blockRef makes ext_blk_ref$_ end_lt:uint64 seq_no:uint32 root_hash file_hash.
func (k *rekeying) blockRef(r *blockRef) cell.Cell {
	var u cell.Builder
	u.Store(r.endLT, 64)
	u.Store(uint64(r.seqno), 32)
	u.StoreBytes(r.rootHash[:], 256)
	u.StoreBytes(r.fileHash[:], 256)
	return k.added(&u)
}

// extra makes BlockExtra: in_msg_descr, out_msg_descr, account_blocks and, of the
// masterchain, custom. The descriptions have the cells of messages and transactions.
func (k *rekeying) extra(c cell.Cell) cell.Cell {
	accounts := k.accountBlocks(c.Ref(2))
	refs := []cell.Cell{k.replaced(c.Ref(0)), k.replaced(c.Ref(1)), accounts}
	if k.master() {
		refs = append(refs, k.masterExtra(c.Ref(3)))
	}
	return k.edited(c, hashAt(32, &k.randSeed), refs...)
}

// masterExtra makes McBlockExtra, whose ShardHashes have one shard: bt_leaf$0 and
// shard_descr#a or #b.
func (k *rekeying) masterExtra(c cell.Cell) cell.Cell {
	shard := c.Ref(0).Ref(0)
	edits := []edit{
		{5, 32, uint64(k.shard.seqno)},
		{37, 32, uint64(k.seqno)}, // reg_mc_seqno
		{69, 64, k.shard.startLT},
		{133, 64, k.shard.endLT},
	}
	edits = append(append(edits, hashAt(197, &k.shard.rootHash)...), hashAt(453, &k.shard.fileHash)...)
	edits = append(edits, []edit{
		{709, 5, 0}, // before_split … nx_cc_updated
		{749, 64, wholeShard},
		{813, 32, uint64(k.prev.seqno)}, // min_ref_mc_seqno
		{845, 32, uint64(k.utime)},
	}...)
	var refs []cell.Cell
	for i := range shard.Refs() {
		refs = append(refs, shard.Ref(i))
	}
	k.copies[shard.Index()] = k.edited(shard, edits, refs...)
	return k.replaced(c)
}

// account copies an account id and re-keys it.
func (k *rekeying) account(s *cell.Slice, u *cell.Builder) (id key) {
	id = readKey(s)
	k.rekeyed(id).store(u)
	return id
}

// rekeyed is the id of an account in the new block; the masterchain's stay.
func (k *rekeying) rekeyed(id key) key {
	if k.master() {
		return id
	}
	return id.xor(k.mask)
}

// accountBlocks makes ShardAccountBlocks: HashmapAugE 256 AccountBlock.
func (k *rekeying) accountBlocks(c cell.Cell) cell.Cell {
	var u cell.Builder
	s := c.Slice()
	u.StoreBits(&s, 1)
	if s.RefsLeft() > 0 {
		u.StoreRef(k.accountNode(s.Ref(), 0))
	}
	u.StoreRest(&s)
	return k.added(&u)
}

// accountNode makes a node of that dictionary, which keeps its shape under XOR: a
// branch changes sides where the bit that decides is flipped.
func (k *rekeying) accountNode(c cell.Cell, depth int) cell.Cell {
	var u cell.Builder
	s, mask := c.Slice(), k.rekeyed(key{})
	label, n := s.Label(256 - depth)
	key(label).xor(mask.from(depth)).storeLabel(&u, n, 256-depth)
	if depth += n; depth == 256 {
		k.accountBlock(&s, &u)
	} else {
		left, right := k.accountNode(s.Ref(), depth+1), k.accountNode(s.Ref(), depth+1)
		if mask.bit(depth) {
			left, right = right, left
		}
		u.StoreRef(left)
		u.StoreRef(right)
	}
	u.StoreRest(&s)
	return k.added(&u)
}

// accountBlock copies a leaf up to its state_update: the fees, then acc_trans#5
// account_addr:bits256 transactions:(HashmapAug 64 ^Transaction CurrencyCollection).
func (k *rekeying) accountBlock(s *cell.Slice, u *cell.Builder) {
	copyCurrencies(s, u)
	u.StoreBits(s, 4)
	id := k.account(s, u)
	a, l := k.accounts[id], k.ledger[id]
	if l == nil {
		l = &last{}
		k.ledger[id] = l
		k.fresh++
	}
	hashes := k.stateHashes(id, a, l)
	k.transactions(s, u, 64, func(transaction cell.Cell) cell.Cell {
		out := k.transaction(transaction, l, k.hashUpdate(&hashes[0], &hashes[1]))
		hashes = hashes[1:]
		return out
	})
	k.states[len(k.states)-1].last = l
}

// transactions copies a node of the dictionary of an account's transactions, by
// lt, of whose keys so many bits are left. The label of its root has all bits
// that a shift changes.
func (k *rekeying) transactions(s *cell.Slice, u *cell.Builder, left int, each func(cell.Cell) cell.Cell) {
	label, n := s.Label(left)
	if left == 64 {
		label[0] += k.shift
	}
	key(label).storeLabel(u, n, left)
	if left -= n; left == 0 {
		copyCurrencies(s, u)
		u.StoreRef(each(s.Ref()))
		return
	}
	for range 2 {
		var child cell.Builder
		node := s.Next()
		k.transactions(&node, &child, left-1, each)
		u.StoreRef(k.added(&child))
	}
	copyCurrencies(s, u)
}

// transaction makes an account's next transaction.
func (k *rekeying) transaction(c cell.Cell, l *last, update cell.Cell) cell.Cell {
	var u cell.Builder
	s := c.Slice()
	u.StoreBits(&s, 4)
	k.account(&s, &u)
	lt := k.lt(&s, &u)
	s.Skip(256 + 64)
	u.StoreBytes(l.hash[:], 256)
	u.Store(l.lt, 64)
	k.time(&s, &u)
	u.StoreBits(&s, 15+2+2) // outmsg_cnt, orig_status, end_status
	u.StoreRef(k.messages(s.Ref()))
	copyCurrencies(&s, &u) // total_fees
	s.Ref()
	u.StoreRef(update)
	u.StoreRest(&s)
	out := k.added(&u)
	k.copies[c.Index()] = out
	l.lt, l.hash = lt, *out.Hash()
	return out
}

// messages makes in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any)).
func (k *rekeying) messages(c cell.Cell) cell.Cell {
	s := c.Slice()
	in, out := s.Bool(), s.Bool()
	if in {
		k.message(s.Ref())
	}
	if out {
		k.outMessages(s.Ref())
	}
	return k.replaced(c)
}

// outMessages passes a node of HashmapE 15 ^(Message Any).
func (k *rekeying) outMessages(c cell.Cell) {
	if c.Refs() == 1 {
		k.message(c.Ref(0))
		return
	}
	k.outMessages(c.Ref(0))
	k.outMessages(c.Ref(1))
}

// message makes a message (block.tlb), once for who produced it and who consumed it.
func (k *rekeying) message(c cell.Cell) {
	if k.copies[c.Index()].Valid() {
		return
	}
	var u cell.Builder
	s := c.Slice()
	tag, _ := s.Peek(2)
	if tag < 0b10 { // int_msg_info$0 ihr_disabled bounce bounced src dest value …
		u.StoreBits(&s, 4)
	} else {
		u.StoreBits(&s, 2)
	}
	k.address(&s, &u)
	k.address(&s, &u)
	if tag == 0b10 { // ext_in_msg_info$10 src dest import_fee
		copyCoins(&s, &u)
		k.externalBody(&s, &u)
	} else { // ext_out_msg_info$11 src dest created_lt created_at
		if tag < 0b10 {
			copyCurrencies(&s, &u)
			copyCoins(&s, &u) // ihr_fee
			copyCoins(&s, &u) // fwd_fee
		}
		k.lt(&s, &u)
		k.time(&s, &u)
	}
	u.StoreRest(&s)
	k.copies[c.Index()] = k.added(&u)
}

// address copies a MsgAddress and re-keys it if it is an account of the basechain.
func (k *rekeying) address(s *cell.Slice, u *cell.Builder) {
	tag := copyUint(s, u, 2)
	switch tag {
	case 0b00: // addr_none
		return
	case 0b01: // addr_extern
		u.StoreBits(s, int(copyUint(s, u, 9)))
		return
	}
	if copyUint(s, u, 1) == 1 { // anycast: depth and as many bits
		u.StoreBits(s, int(copyUint(s, u, 5)))
	}
	switch {
	case tag == 0b11: // addr_var
		u.StoreBits(s, 32+int(copyUint(s, u, 9)))
	case copyUint(s, u, 8) == 0:
		k.account(s, u)
	default:
		u.StoreBits(s, 256)
	}
}

func (k *rekeying) lt(s *cell.Slice, u *cell.Builder) uint64 {
	lt := s.Uint(64) + k.shift
	u.Store(lt, 64)
	return lt
}

func (k *rekeying) time(s *cell.Slice, u *cell.Builder) {
	u.Store(s.Uint(32)+uint64(k.utime-k.header.GenUtime), 32)
}

// externalBody copies what is behind the header of an external message and makes
// its body differ: it has no logical time that would tell copies apart.
func (k *rekeying) externalBody(s *cell.Slice, u *cell.Builder) {
	if copyUint(s, u, 1) == 1 { // init:(Maybe (Either StateInit ^StateInit))
		if copyUint(s, u, 1) == 1 {
			u.StoreRef(s.Ref())
		} else {
			copyStateInit(s, u)
		}
	}
	if copyUint(s, u, 1) == 1 { // body:(Either X ^X)
		u.StoreRef(k.salted(s.Ref()))
	} else if s.BitsLeft() >= saltAt+64 {
		k.storeSalted(s, u)
	}
}

// saltAt is the bit of an external message's body where 64 bits differ from copy
// to copy: behind whatever operation code there is, inside the signature of most
// wallets. A body that is too short gives way to the cell below it.
const saltAt = 64

func (k *rekeying) salted(c cell.Cell) cell.Cell {
	if c.Kind() != cell.Ordinary || c.Bits() < saltAt+64 && c.Refs() == 0 {
		return c
	}
	var u cell.Builder
	s := c.Slice()
	if c.Bits() < saltAt+64 {
		u.StoreRef(k.salted(s.Ref()))
	} else {
		k.storeSalted(&s, &u)
	}
	u.StoreRest(&s)
	return k.added(&u)
}

func (k *rekeying) storeSalted(s *cell.Slice, u *cell.Builder) {
	u.StoreBits(s, saltAt)
	u.Store(s.Uint(64)^k.salt, 64)
}

// copyUint copies n ≤ 64 bits and returns them.
func copyUint(s *cell.Slice, u *cell.Builder, n uint) uint64 {
	v := s.Uint(n)
	u.Store(v, n)
	return v
}

// copyCoins copies Grams: VarUInteger 16.
func copyCoins(s *cell.Slice, u *cell.Builder) { u.StoreBits(s, 8*int(copyUint(s, u, 4))) }

func copyCurrencies(s *cell.Slice, u *cell.Builder) {
	copyCoins(s, u)
	copyMaybe(s, u)
}

func copyMaybe(s *cell.Slice, u *cell.Builder) {
	if copyUint(s, u, 1) == 1 {
		u.StoreRef(s.Ref())
	}
}

// copyStateInit copies split_depth:(Maybe (## 5)) special:(Maybe TickTock)
// code:(Maybe ^Cell) data:(Maybe ^Cell) library:(HashmapE 256 SimpleLib).
func copyStateInit(s *cell.Slice, u *cell.Builder) {
	for _, bits := range []int{5, 2} {
		if copyUint(s, u, 1) == 1 {
			u.StoreBits(s, bits)
		}
	}
	for range 3 {
		copyMaybe(s, u)
	}
}
