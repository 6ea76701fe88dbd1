// Package action recognises what traces were: a transfer, a swap, a stake. In come
// the tree of a trace (decode/trace) and what contracts were as of it (Facts); out
// come actions, each with its details, the accounts that it concerns and the
// transactions that it consists of. The same tree and facts always give the same
// actions. The package must never look anything up but through Facts, and every
// walk over what strangers wrote has a bound.
//
// # How a trace is recognised
//
// Every message becomes a Block: a call, a plain transfer, a log, each by itself an
// action or none. Rules are tried one after another (order.go), each on every block
// that is in no other one, from the root down. A rule whose Pattern matches may make
// one block of the blocks that were matched: it takes their place in the tree, and
// rules behind it see it in their stead. What is left in the end are the actions. A
// deployment is an action of its own whatever its message became part of. The parts
// of an action whose type is younger than v1 are actions too, below it, for clients
// that do not know the type.
//
// # How a protocol is added
//
// A protocol is one file and one line in registry.go. The file has opcodes, types
// and rules. A type is declared by its name and a struct whose fields are its
// details, in the order in which they are written; the types of the fields say how
// (detail.go), the tags under which name, whether an address is one of the action's
// accounts, and whether null is left out:
//
//	var nftDiscovery = NewType[itemFound]("nft_discovery", V2)
//
//	type itemFound struct {
//		Source        Address  `detail:"source,account"`
//		NFTItem       Address  `detail:"nft_item,account"`
//		NFTCollection Address  `detail:"nft_collection"`
//		NFTItemIndex  *big.Int `detail:"nft_item_index"`
//	}
//
// A rule has a pattern and a function that decides what the match is. Fields
// without a tag are for rules behind, which read them with Type.Of(block):
//
//	{
//		Name:    "data of an NFT item",
//		Order:   orderNFTDiscovery,
//		Pattern: Call(opGetStaticData).With(Call(opReportStaticData).As("report")),
//		Make: func(m *Match) *Made {
//			report := m.One("report")
//			r := report.Body()
//			r.Skip(64) // query_id
//			found := &itemFound{Source: m.Block.Source(), NFTItem: m.Block.Destination(),
//				NFTItemIndex: r.Big(256), NFTCollection: r.Address()}
//			if r.Failed() {
//				return nil
//			}
//			return nftDiscovery.Make(found).Fails(m.Block.Aborted() || report.Aborted())
//		},
//	},
//
// Patterns are read from the block at which they begin: what it is (Call, Log,
// Plain, Is, Any, OneOf), what more is asked of it (Where, Carrying), what it led to (With),
// what it lies below (Below); Maybe, Every and Again say how often. What they find
// is consumed, with the excesses and bounced messages that it led to; Kept parts are
// only looked at, Alone ones leave their excesses. Made.Consumes adds what a pattern
// cannot say, Made.ConsumesOnly puts blocks in its place that need not lie together,
// and Match.Trace has all blocks for a rule that must look around.
//
// An action's accounts are those of its transactions and of the details that are
// marked so. Made.Concerns adds others, Made.Strangers takes out what is only named.
//
// Success means that the effect took place: Fails is given whatever decides it,
// such as Match.Aborted of the messages that carry it. Without Fails an action
// failed where the transaction of the block at which the pattern begins was
// aborted.
//
// Bodies are read with Block.Body, a Reader behind the opcode, which is checked
// once (Failed) after all reads. A rule must not trust that a body fits its opcode,
// and gives nil where it does not. What accounts are comes from Match.Contract, nil
// safe through the getters of records: m.Contract(a).GetJettonWallet().GetMaster().
package action
