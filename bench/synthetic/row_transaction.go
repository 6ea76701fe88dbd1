package synthetic

import (
	"encoding/hex"
	"slices"

	"tonscribe/schema/record"
)

// noVMHash is what validators write where the state of the VM had a hash once.
var noVMHash = make([]byte, 32)

// noActions is the hash of an empty action list.
var noActions, _ = hex.DecodeString("96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7")

// transaction consumes a message, at logical time lt, and queues what it sends.
func (r *Rows) transaction(p pending, b *Bundle, block *record.Block, lt uint64) (*record.Transaction, *record.Account) {
	number := uint64(r.made)
	tx := &record.Transaction{
		Account: p.message.Destination, Lt: lt, Now: b.Utime, McSeqno: b.Seqno,
		Block:      &record.BlockRef{Workchain: block.Id.Workchain, Shard: block.Id.Shard, Seqno: block.Id.Seqno},
		OrigStatus: record.AccountStatus_ACCOUNT_ACTIVE, EndStatus: record.AccountStatus_ACCOUNT_ACTIVE,
		CreditFirst: p.from >= 0 && !p.message.Bounce, InMsg: p.message,
	}
	r.chain(tx, p.account, number)
	r.phases(tx, p)
	account := r.states(tx, p.account, number)
	r.send(tx, p)
	r.actions(tx, number)
	r.txKeys.offerHash(tx.Hash)
	if p.from >= 0 {
		r.causedKeys.offerHash(tx.Hash)
	}
	r.made++
	return tx, account
}

// chain ties the transaction to the one before it of the account.
func (r *Rows) chain(tx *record.Transaction, id int, number uint64) {
	state := &r.accounts.state[id]
	tx.Hash, tx.StateHashAfter = seededHash(r.seed, kindTransaction, number), seededHash(r.seed, kindState, number)
	tx.StateHashBefore, tx.PrevTransHash = slices.Clone(noAccount), make([]byte, 32)
	if !state.exists() {
		tx.OrigStatus = record.AccountStatus_ACCOUNT_NONEXIST
		return
	}
	tx.StateHashBefore = r.stateHash(id)
	if state.lt != 0 {
		tx.PrevTransLt, tx.PrevTransHash = state.lt, seededHash(r.seed, kindTransaction, uint64(state.last))
	}
}

// noAccount is the state hash of an account that does not exist.
var noAccount, _ = hex.DecodeString("90aec8965afabb16ebc3cb9b408ebae71b618d78788bc80d09843593cac98da4")

func (r *Rows) phases(tx *record.Transaction, p pending) {
	storage, gas := r.random.Uint64N(5000), 500+r.random.Uint64N(12_000)
	tx.Aborted = r.random.IntN(20) == 0
	tx.TotalFees = storage + gas*gasPrice
	tx.Storage = &record.StoragePhase{FeesCollected: storage}
	if p.from >= 0 {
		tx.Credit = &record.CreditPhase{Credit: p.message.Value}
	}
	tx.Compute = &record.ComputePhase{
		Success: !tx.Aborted, GasFees: gas * gasPrice, GasUsed: gas, GasLimit: 1_000_000, VmSteps: uint32(gas / 40),
		VmInitStateHash: noVMHash, VmFinalStateHash: noVMHash,
	}
	if p.from < 0 {
		credit := uint64(10_000)
		tx.Compute.GasCredit = &credit
	}
	if tx.Aborted {
		tx.Compute.ExitCode = int32(35 + r.random.IntN(3))
	}
}

// send makes the messages of a transaction: what keeps its trace going, or, when
// it was aborted, the message back; and, from every second one, a log message.
func (r *Rows) send(tx *record.Transaction, p pending) {
	t := p.trace
	t.pending--
	n := r.children(t)
	t.remaining -= n
	t.pending += n
	lt := tx.Lt
	for i := range n {
		lt++
		var m *record.Message
		var b body
		to := p.from
		if i == 0 && tx.Aborted && p.message.Bounce {
			b = r.bodies.bounced()
			m = r.internal(tx.Account, to, lt, tx.Now)
			m.Bounce, m.Bounced = false, true
			tx.Bounce = &record.BouncePhase{Kind: record.BouncePhase_OK, MsgFees: m.FwdFee / 2, FwdFees: m.FwdFee}
		} else {
			to, b = r.accounts.any(r.random), r.bodies.next()
			m = r.internal(tx.Account, to, lt, tx.Now)
		}
		b.seal(m)
		tx.OutMsgs = append(tx.OutMsgs, m)
		r.queue = append(r.queue, pending{t, m, to, p.account})
		r.messageKeys.offerHash(m.Hash)
	}
	if r.random.IntN(2) == 0 {
		for range 1 + r.random.IntN(13)/10 {
			lt++
			b := r.bodies.next()
			m := &record.Message{Kind: record.Message_EXTERNAL_OUT, Source: tx.Account, CreatedLt: lt, CreatedAt: tx.Now}
			b.seal(m)
			tx.OutMsgs = append(tx.OutMsgs, m)
		}
	}
}

// children is how many messages to accounts a transaction sends: none, one, or
// now and then up to four, such that the trace gets its length.
func (r *Rows) children(t *trace) int {
	if t.remaining == 0 {
		return 0
	}
	n := 0
	if t.pending == 0 || r.random.IntN(3) > 0 {
		n = 1
		if r.random.IntN(5) == 0 {
			n += 1 + r.random.IntN(3)
		}
	}
	return min(n, t.remaining)
}

func (r *Rows) actions(tx *record.Transaction, number uint64) {
	if tx.Aborted {
		return
	}
	n := uint32(len(tx.OutMsgs))
	tx.Action = &record.ActionPhase{
		Success: true, Valid: true, TotActions: n, MsgsCreated: n, ActionListHash: noActions,
		TotMsgCells: uint64(n) * 2, TotMsgBits: uint64(n) * 1200,
	}
	if n == 0 {
		return
	}
	tx.Action.ActionListHash = seededHash(r.seed, kindActions, number)
	fees := uint64(n) * 400_000
	tx.Action.TotalFwdFees, tx.Action.TotalActionFees = &fees, &fees
}
