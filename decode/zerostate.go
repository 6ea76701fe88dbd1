package decode

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// Zerostate is the state a workchain begins with.
type Zerostate struct {
	RootHash, FileHash [32]byte
	Workchain          int32
	GenUtime           uint32
	Accounts           []*StateAccount
	// Config is the BoC of the chain's parameters (Hashmap 32 ^Cell), nil outside
	// of the masterchain.
	Config []byte
}

// StateAccount is an account of a shard state.
type StateAccount struct {
	Account       []byte // as in a record
	LastTransLt   uint64
	LastTransHash []byte
	Hash          []byte // of the state
	State         *record.AccountState
	Code, Data    []byte // BoCs, nil without, and of what is too large
	DataDepth     int    // as in a Change
	CodeMethods   Methods
	LastPaid      uint32    // time of the last transaction, 0 of special accounts
	Libraries     *[32]byte // as in a Change
	Cells         []CellRecord
}

// State reads a whole shard state, such as a zerostate. Every cell is verified.
func (d *Decoder) State(boc []byte) (*Zerostate, error) {
	defer d.forget()
	root, err := d.open(boc, d.bag.Parse)
	if err != nil {
		return nil, fmt.Errorf("shard state: %w", err)
	}
	z := &Zerostate{RootHash: *root.Hash(), FileHash: sha256.Sum256(boc)}
	s := root.Slice()
	if tag := s.Uint(32); tag != 0x9023afe2 {
		return nil, fmt.Errorf("shard state: %w: tag %08x", ErrFormat, tag)
	}
	s.Skip(32)    // global_id
	s.Skip(2 + 6) // of shard_ident, whose prefix is 1<<63 in an old zerostate
	z.Workchain = int32(s.Uint(32))
	s.Skip(64 + 32 + 32) // shard_prefix, seq_no, vert_seq_no
	z.GenUtime = uint32(s.Uint(32))
	if s.Failed() {
		return nil, fmt.Errorf("shard state: %w", s.Err())
	}
	if z.Config, err = d.stateConfig(s); err != nil {
		return nil, fmt.Errorf("shard state: config: %w", err)
	}
	leaves, err := d.shardState(root, nil)
	if err != nil {
		return nil, fmt.Errorf("shard state: %w", err)
	}
	for _, l := range leaves {
		r, err := d.leafAccount(l, z.Workchain)
		if err != nil {
			return nil, fmt.Errorf("shard state: account %016x…: %w", l.key[0], err)
		}
		z.Accounts = append(z.Accounts, r)
	}
	return z, nil
}

// stateConfig reads the rest of shard_state#9023afe2 from gen_lt on, and in it
// masterchain_state_extra#cc26.
func (d *Decoder) stateConfig(s cell.Slice) ([]byte, error) {
	s.Skip(64 + 32 + 1) // gen_lt, min_ref_mc_seqno, before_split
	s.Ref()             // out_msg_queue_info
	s.Ref()             // accounts
	s.Ref()             // balances
	if !s.Bool() {
		return nil, s.Err()
	}
	extra := s.Next()
	if tag := extra.Uint(16); !extra.Failed() && tag != 0xcc26 {
		return nil, fmt.Errorf("%w: masterchain state extra tag %04x", ErrFormat, tag)
	}
	if extra.Bool() {
		extra.Ref() // shard_hashes
	}
	extra.Skip(256) // config_addr
	config := extra.Ref()
	if extra.Failed() {
		return nil, extra.Err()
	}
	return d.whole(config, MaxConfigBytes), nil
}

func (d *Decoder) leafAccount(l leaf, workchain int32) (*StateAccount, error) {
	account := binary.BigEndian.AppendUint32(make([]byte, 0, schema.AddressSize), uint32(workchain))
	for _, word := range l.key {
		account = binary.BigEndian.AppendUint64(account, word)
	}
	r, err := d.stateAccount(l.account, account)
	if err != nil {
		return nil, err
	}
	r.LastTransLt, r.LastTransHash = l.transLt, d.hash(&l.transHash)
	return r, nil
}

// StateAccount reads the state of an account, a BoC of Account, as a lite server
// gives it. What is not in that cell, its last transaction, stays unset. Every
// cell is verified.
func (d *Decoder) StateAccount(boc, account []byte) (*StateAccount, error) {
	defer d.forget()
	root, err := d.open(boc, d.bag.Parse)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	r, err := d.stateAccount(root, account)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return r, nil
}

func (d *Decoder) stateAccount(c cell.Cell, account []byte) (*StateAccount, error) {
	a, err := d.account(c)
	if err != nil {
		return nil, err
	}
	r := &StateAccount{
		Account: account, Hash: d.hash(c.HashAt(0)), State: a.state, LastPaid: a.lastPaid,
		Code: d.whole(a.code, MaxCodeBytes), Data: d.whole(a.data, MaxDataBytes),
	}
	if r.Code != nil {
		r.CodeMethods = methodsOf(a.code)
	}
	if a.data.Valid() {
		r.DataDepth = a.data.DepthAt(0)
	}
	r.Libraries = librariesOf(a, r.Account)
	d.recorder.Begin(&d.bag) // what accounts share is in each
	r.Cells = d.cells(c)
	return r, nil
}
