package table

import "tonscribe/schema/record"

// Seal is the seal of a bundle in a topic's partition.
type Seal struct {
	*record.Record // with a seal
	Topic          string
	Partition      int
	Partitions     int // of the topic
}

// Seals has the bundles that are complete in the tables of a topic's partition.
var Seals = declare(Table{Name: "seals", Internal: true, Doc: "a bundle that is complete in the tables of a topic's partition", Key: []string{"topic", "partition", "mc_seqno"}}, nil, []column[Seal]{
	col("topic", Word, "name of the topic", func(s Seal) string { return s.Topic }),
	col("partition", UInt16, "partition of the topic", func(s Seal) uint16 { return uint16(s.Partition) }),
	col("mc_seqno", UInt32, "masterchain block of the bundle", func(s Seal) uint32 { return s.McSeqno }),
	col("prev_mc_seqno", UInt32, "the bundle before it", func(s Seal) uint32 { return s.PrevMcSeqno }),
	col("rows", UInt64, "number of rows that its seal promised, and that came", func(s Seal) uint64 { return s.GetSeal().Rows }),
})

// Progress has how far the tables of a topic's partition are complete. The
// watermark is the smallest of them over all topics and partitions.
var Progress = declare(Table{Name: "progress", Doc: "how far the tables of a topic's partition are complete", Key: []string{"topic", "partition"}, Newest: "mc_seqno"}, nil, []column[Seal]{
	col("topic", Word, "name of the topic", func(s Seal) string { return s.Topic }),
	col("partition", UInt16, "partition of the topic", func(s Seal) uint16 { return uint16(s.Partition) }),
	col("partitions", UInt16, "how many there are", func(s Seal) uint16 { return uint16(s.Partitions) }),
	col("mc_seqno", UInt32, "masterchain block of the newest bundle that is complete", func(s Seal) uint32 { return s.McSeqno }),
	col("gen_utime", UInt32, "when that block was generated", func(s Seal) uint32 { return s.GetSeal().GenUtime }),
})

// ByName returns the table of a name, nil when there is none.
func ByName(name string) *Table { return byName[name] }

var byName = func() map[string]*Table {
	all := map[string]*Table{}
	for _, t := range All {
		all[t.Name] = t
	}
	return all
}()

// All are the tables that are filled from records, in the order of the data's way.
var All = []*Table{
	&Blocks.Table, &BlocksIndex.Table, &Transactions.Table, &TransactionsIndex.Table, &MessagesIndex.Table, &MessagesByAccount.Table,
	&Accounts.Table, &AccountsByBalance.Table, &Codes.Table,
	&Contracts.Table, &PastContracts.Table, &JettonMasters.Table, &JettonWallets.Table, &NFTCollections.Table, &NFTItems.Table, &ContractLinks.Table, &MetadataLinks.Table,
	&JettonTransfers.Table, &JettonBurns.Table, &NFTTransfers.Table, &TransfersByParty.Table,
	&TransactionTraces.Table, &Traces.Table, &TracesByList.Table, &Actions.Table, &ActionsByList.Table,
	&Seals.Table, &Progress.Table,
}
