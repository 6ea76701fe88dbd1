package verify

import (
	"math"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Columns of blocks and of what points at them.
var (
	blockMCSeqno   = column{name: "mc_seqno", value: func(i *item) uint64 { return uint64(i.block.McSeqno) }}
	blockWorkchain = column{name: "workchain", form: formSigned, value: func(i *item) uint64 { return uint64(int64(i.block.Id.Workchain)) }}
	blockShard     = column{name: "shard", form: formBits, value: func(i *item) uint64 { return i.block.Id.Shard }}
	blockSeqno     = column{name: "seqno", value: func(i *item) uint64 { return uint64(i.block.Id.Seqno) }}
	genUtime       = column{name: "gen_utime", value: func(i *item) uint64 { return uint64(i.block.GenUtime) }}
	startLT        = column{name: "start_lt", value: func(i *item) uint64 { return i.block.StartLt }}
	blockHash      = column{name: "hash_prefix", form: formBits, value: func(i *item) uint64 { return schema.Prefix(i.hash) }}
)

// Columns of transactions and of what points at them.
var (
	workchain     = column{name: "workchain", form: formSigned, value: func(i *item) uint64 { return uint64(int64(i.workchain)) }}
	accountPrefix = column{name: "account_prefix", form: formBits, value: func(i *item) uint64 { return i.prefix }}
	lt            = column{name: "lt", value: func(i *item) uint64 { return i.transaction.Lt }}
	mcSeqno       = column{name: "mc_seqno", value: func(i *item) uint64 { return uint64(i.transaction.McSeqno) }}
	now           = column{name: "now", value: func(i *item) uint64 { return uint64(i.transaction.Now) }}
	shard         = column{name: "shard", form: formBits, value: func(i *item) uint64 { return i.transaction.Block.GetShard() }}
	seqnoOfBlock  = column{name: "block_seqno", value: func(i *item) uint64 { return uint64(i.transaction.Block.GetSeqno()) }}
	hashPrefix    = column{name: "hash_prefix", form: formBits, value: func(i *item) uint64 { return schema.Prefix(i.transaction.Hash) }}
)

// Columns of the ends of messages.
var (
	messageHash = column{name: "hash_prefix", form: formBits, value: func(i *item) uint64 { return schema.Prefix(i.hash) }}
	messageTag  = column{name: "hash_prefix", form: formBits, value: func(i *item) uint64 { return uint64(schema.ShortPrefix(i.hash)) }}
	bodyPrefix  = column{name: "body_prefix", form: formBits, value: func(i *item) uint64 { return schema.Prefix(i.message.BodyHash) }}
	createdLT   = column{name: "created_lt", value: func(i *item) uint64 { return i.message.CreatedLt }}
	createdAt   = column{name: "created_at", value: func(i *item) uint64 { return uint64(i.message.CreatedAt) }}
	direction   = column{name: "direction", value: func(i *item) uint64 { return i.direction }}
	kind        = column{name: "kind", value: func(i *item) uint64 { return uint64(i.message.Kind) }}
	norm        = column{name: "norm", value: func(i *item) uint64 { return i.norm }}
	opcode      = column{name: "opcode", form: formSigned, value: func(i *item) uint64 { return opcodeOf(i.message) }}

	timeAndTag   = column{name: "key", form: formBits, value: func(i *item) uint64 { return uint64(i.message.CreatedAt)<<32 | uint64(schema.ShortPrefix(i.hash)) }}
	consumerHash = column{name: "far_hash", form: formHash, bytes: func(i *item) []byte { return i.transactionHash(0) }}
	producerHash = column{name: "far_hash", form: formHash, bytes: func(i *item) []byte {
		if len(i.message.Destination) != schema.AddressSize {
			return nil
		}
		return i.transactionHash(1)
	}}

	sourceWorkchain      = column{name: "source_workchain", form: formSigned, value: func(i *item) uint64 { return workchainOf(i.message.Source) }}
	sourcePrefix         = column{name: "source_prefix", form: formBits, value: func(i *item) uint64 { return prefixOf(i.message.Source) }}
	destinationWorkchain = column{name: "destination_workchain", form: formSigned, value: func(i *item) uint64 { return workchainOf(i.message.Destination) }}
	destinationPrefix    = column{name: "destination_prefix", form: formBits, value: func(i *item) uint64 { return prefixOf(i.message.Destination) }}
)

// noWorkchain stands for no account.
const noWorkchain = math.MinInt32

func workchainOf(address []byte) uint64 {
	w := int64(noWorkchain)
	if len(address) == schema.AddressSize {
		w = int64(schema.Workchain(address))
	}
	return uint64(w)
}

func prefixOf(address []byte) uint64 {
	if len(address) != schema.AddressSize {
		return 0
	}
	return schema.Prefix(schema.AccountID(address))
}

// opcodeOf is -1 without a message, or when its body is shorter than 32 bits.
func opcodeOf(m *record.Message) uint64 {
	if m == nil || m.Opcode == nil {
		return math.MaxUint64
	}
	return uint64(*m.Opcode)
}

// transactionHash is that of the transaction when it is on the side, else nil.
func (i *item) transactionHash(direction uint64) []byte {
	if i.direction != direction {
		return nil
	}
	return i.transaction.Hash
}

// blocks and transactions are the tables with the records.
var (
	blocks = &table{name: "blocks", key: 4, columns: []column{
		blockMCSeqno, blockWorkchain, blockShard, blockSeqno, genUtime, startLT,
		{name: "end_lt", value: func(i *item) uint64 { return i.block.EndLt }},
		{name: "root_hash", form: formHash, bytes: func(i *item) []byte { return i.block.Id.RootHash }},
		{name: "file_hash", form: formHash, bytes: func(i *item) []byte { return i.block.Id.FileHash }},
		{name: "tx_count", value: func(i *item) uint64 { return uint64(i.block.TxCount) }},
		{name: "key_block", value: func(i *item) uint64 { return flag(i.block.KeyBlock) }},
		{name: "global_id", form: formSigned, value: func(i *item) uint64 { return uint64(int64(i.block.GlobalId)) }},
	}}
	transactions = &table{name: "transactions", key: 4, columns: []column{
		workchain, accountPrefix, lt,
		{name: "account", form: formHash, bytes: func(i *item) []byte { return schema.AccountID(i.transaction.Account) }},
		{name: "hash", form: formHash, bytes: func(i *item) []byte { return i.transaction.Hash }},
		now, mcSeqno, shard, seqnoOfBlock,
		{name: "type", form: formEnum, value: func(i *item) uint64 { return uint64(i.transaction.Type) }},
		{name: "orig_status", form: formEnum, value: func(i *item) uint64 { return uint64(i.transaction.OrigStatus) }},
		{name: "end_status", form: formEnum, value: func(i *item) uint64 { return uint64(i.transaction.EndStatus) }},
		{name: "aborted", value: func(i *item) uint64 { return flag(i.transaction.Aborted) }},
		{name: "compute_skipped", value: func(i *item) uint64 { return flag(i.transaction.Compute.GetSkipReason() != 0) }},
		{name: "exit_code", form: formSigned, value: func(i *item) uint64 { return uint64(int64(i.transaction.Compute.GetExitCode())) }},
		{name: "gas_used", value: func(i *item) uint64 { return i.transaction.Compute.GetGasUsed() }},
		{name: "result_code", form: formSigned, value: func(i *item) uint64 { return uint64(int64(i.transaction.Action.GetResultCode())) }},
		{name: "total_fees", value: func(i *item) uint64 { return i.transaction.TotalFees }},
		{name: "storage_fees", value: func(i *item) uint64 { return i.transaction.Storage.GetFeesCollected() }},
		{name: "in_msg_kind", form: formEnum, value: kindOfInMsg},
		{name: "in_msg_value", value: func(i *item) uint64 { return i.transaction.InMsg.GetValue() }},
		{name: "in_msg_opcode", form: formSigned, value: func(i *item) uint64 { return opcodeOf(i.transaction.InMsg) }},
		{name: "out_msg_count", value: func(i *item) uint64 { return uint64(len(i.transaction.OutMsgs)) }},
	}}
)

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func kindOfInMsg(i *item) uint64 {
	if i.transaction.InMsg == nil {
		return math.MaxUint64
	}
	return uint64(i.transaction.InMsg.Kind)
}

// The tables that point at blocks and transactions, one for each path, by what
// makes their rows. Columns of the key come first, in the order of the key.
const (
	blockIndexes       = 4
	transactionIndexes = 4
	messageIndexes     = 7
)

var indexTables = [blockIndexes + transactionIndexes + messageIndexes]table{
	blocksBy("id", zero("key"), nil),
	blocksBy("hash", as("key", blockHash), bothHashes),
	blocksBy("utime", as("key", genUtime), nil),
	blocksBy("lt", as("key", startLT), nil),

	transactionsBy("hash", as("key", hashPrefix), zero("shard"), zero("block_seqno"), noFigures),
	transactionsBy("mc_seqno", as("key", mcSeqno), shard, seqnoOfBlock, noFigures),
	transactionsBy("lt", zero("key"), shard, seqnoOfBlock, noFigures),
	transactionsBy("utime", as("key", now), zero("shard"), zero("block_seqno"), figuresOfDays),

	messagesBy("hash", as("key", messageHash), zero("created_lt"), zero("hash_prefix"), zero("created_at"), andNormalized),
	messagesBy("body", as("key", bodyPrefix), createdLT, messageTag, createdAt, nil),
	messagesOf("source", withSource, sourceWorkchain, sourcePrefix, destinationWorkchain, destinationPrefix, consumerHash),
	messagesOf("destination", nil, destinationWorkchain, destinationPrefix, sourceWorkchain, sourcePrefix, producerHash),
	messagesBy("opcode", as("key", opcode), createdLT, messageTag, createdAt, withOpcode),
	messagesBy("lt", zero("key"), createdLT, messageTag, createdAt, nil),
	messagesBy("utime", timeAndTag, createdLT, zero("hash_prefix"), zero("created_at"), nil),
}

func blocksBy(path string, key column, rows func(*item, func(*item))) table {
	return table{name: "blocks_index", of: "path = '" + path + "'", key: 5, rows: rows,
		columns: []column{key, blockWorkchain, blockShard, blockSeqno, blockMCSeqno}}
}

func transactionsBy(path string, key, shard, seqno column, figures []column) table {
	return table{name: "transactions_index", of: "path = '" + path + "'", key: 4,
		columns: append([]column{key, lt, workchain, accountPrefix, mcSeqno, shard, seqno}, figures...)}
}

func messagesBy(path string, key, createdLT, tag, createdAt column, rows func(*item, func(*item))) table {
	return table{name: "messages_index", of: "path = '" + path + "'", key: 8, rows: rows,
		columns: []column{key, createdLT, tag, direction, lt, workchain, accountPrefix, norm, createdAt, kind, mcSeqno}}
}

func messagesOf(side string, rows func(*item, func(*item)), nearWorkchain, nearPrefix, farWorkchain, farPrefix, farHash column) table {
	return table{name: "messages_by_account", of: "side = '" + side + "'", key: 8, rows: rows, columns: []column{
		as("near_workchain", nearWorkchain), as("near_prefix", nearPrefix), createdLT, messageTag, direction, lt,
		as("far_workchain", farWorkchain), as("far_prefix", farPrefix), createdAt, workchain, accountPrefix, kind, mcSeqno, opcode, farHash}}
}

// What the days' figures are made of.
var (
	figuresOfDays = []column{
		{name: "aborted", value: func(i *item) uint64 { return flag(i.transaction.Aborted) }},
		{name: "total_fees", value: func(i *item) uint64 { return i.transaction.TotalFees }},
		{name: "storage_fees", value: func(i *item) uint64 { return i.transaction.Storage.GetFeesCollected() }},
		{name: "gas_fees", value: func(i *item) uint64 { return i.transaction.Compute.GetGasFees() }},
		{name: "action_fees", value: func(i *item) uint64 { return i.transaction.Action.GetTotalActionFees() }},
		{name: "forward_fees", value: func(i *item) uint64 { return i.transaction.Action.GetTotalFwdFees() }},
	}
	noFigures = []column{zero("aborted"), zero("total_fees"), zero("storage_fees"), zero("gas_fees"), zero("action_fees"), zero("forward_fees")}
)

// as is a column under another name.
func as(name string, c column) column {
	c.name = name
	return c
}

// zero is a column that rows of this path have no use for.
func zero(name string) column {
	return column{name: name, value: func(*item) uint64 { return 0 }}
}

// Places in indexTables.
const (
	firstTransactionIndex = blockIndexes
	firstMessageIndex     = blockIndexes + transactionIndexes
	byLT                  = firstMessageIndex + 5
)

// indexNames are the names of the tables.
func indexNames() (names []string) {
	for n := range indexTables {
		if !slices.Contains(names, indexTables[n].name) {
			names = append(names, indexTables[n].name)
		}
	}
	return names
}

func bothHashes(i *item, add func(*item)) {
	for _, h := range [][]byte{i.block.Id.RootHash, i.block.Id.FileHash} {
		i.hash = h
		add(i)
	}
}

func andNormalized(i *item, add func(*item)) {
	add(i)
	if len(i.message.HashNorm) > 0 {
		row := *i
		row.hash, row.norm = i.message.HashNorm, 1
		add(&row)
	}
}

func withSource(i *item, add func(*item)) {
	if len(i.message.Source) == schema.AddressSize {
		add(i)
	}
}

func withOpcode(i *item, add func(*item)) {
	if i.message.Opcode != nil {
		add(i)
	}
}

// blockItem is nil for a record that misses what tables need.
func blockItem(b *record.Block) *item {
	if b.Id == nil || len(b.Id.RootHash) != 32 || len(b.Id.FileHash) != 32 {
		return nil
	}
	return &item{block: b}
}

// set makes the item that of a transaction; false when its record misses what
// tables need.
func (i *item) set(t *record.Transaction) bool {
	if len(t.Account) != schema.AddressSize || len(t.Hash) != 32 || t.Block == nil {
		return false
	}
	*i = item{transaction: t, workchain: schema.Workchain(t.Account), prefix: schema.Prefix(schema.AccountID(t.Account))}
	for at := -1; at < len(t.OutMsgs); at++ {
		m := t.InMsg
		if at >= 0 {
			m = t.OutMsgs[at]
		}
		if m != nil && (len(m.Hash) != 32 || len(m.BodyHash) != 32 || len(m.HashNorm) != 0 && len(m.HashNorm) != 32) {
			return false
		}
	}
	return true
}

// ends makes the item that of every end of a message in turn.
func (i *item) ends(each func(*item)) {
	if m := i.transaction.InMsg; m != nil {
		i.message, i.hash, i.direction = m, m.Hash, 0
		each(i)
	}
	for _, m := range i.transaction.OutMsgs {
		i.message, i.hash, i.direction = m, m.Hash, 1
		each(i)
	}
}

// indexRows hands out every row that an item makes in the tables that point at
// it, with the table's place.
func (i *item) indexRows(each func(table int, row *item)) {
	if i.block != nil {
		for n := range blockIndexes {
			indexTables[n].each(i, func(row *item) { each(n, row) })
		}
		return
	}
	for n := firstTransactionIndex; n < firstMessageIndex; n++ {
		each(n, i)
	}
	i.ends(func(end *item) {
		for n := firstMessageIndex; n < len(indexTables); n++ {
			indexTables[n].each(end, func(row *item) { each(n, row) })
		}
	})
}
