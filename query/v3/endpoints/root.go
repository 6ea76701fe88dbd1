// Package endpoints has the endpoints of /api/v3.
//
// In: a request (query/v3), whose parameters are read. Out: the body of its answer, or
// an error with its status. A family of endpoints is a file: their parameters, their
// answers, the list that they read (query/list) or what they ask lite servers for
// (query/node), and the rows that are made of it (query/render). A new endpoint is a
// file and a line in All. The package reads through query/store, query/rows and
// query/node only, and knows nothing of how a request came and how its answer goes out.
package endpoints

import v3 "tonscribe/query/v3"

// All are the endpoints that there are. A new one is a line here.
var All = []*v3.Endpoint{
	accountStates,
	actions,
	addressBook,
	addressInformation,
	adjacentTransactions,
	balanceChanges,
	blocks,
	decodeBodies,
	decodePosted,
	dnsRecords,
	estimateFee,
	events,
	jettonBurns,
	jettonMasters,
	jettonTransfers,
	jettonWallets,
	masterchainBlockShards,
	masterchainBlockShardState,
	masterchainInfo,
	message,
	messages,
	metadata,
	multisigOrders,
	multisigWallets,
	nftCollections,
	nftItems,
	nftSales,
	nftTransfers,
	pendingActions,
	pendingTraces,
	pendingTransactions,
	runGetMethod,
	statsAccountsByBalance,
	statsFees,
	statsJettons,
	statsTransactions,
	topAccountsByBalance,
	traces,
	transactions,
	transactionsByMasterchainBlock,
	transactionsByMessage,
	vesting,
	walletInformation,
	walletStates,
}
