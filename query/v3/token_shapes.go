package v3

import "tonscribe/query/openapi"

// content is token content (TEP-64) as a map of texts.
type content map[string]string

// jettonMasterShape is a jetton master (contract 3.15).
type jettonMasterShape struct {
	Address              openapi.Address  `json:"address"`
	TotalSupply          openapi.Decimal  `json:"total_supply"`
	Mintable             bool             `json:"mintable"`
	AdminAddress         *openapi.Address `json:"admin_address"`
	JettonContent        *content         `json:"jetton_content" doc:"what the chain says of the jetton (TEP-64)"`
	JettonWalletCodeHash openapi.Hash     `json:"jetton_wallet_code_hash"`
	CodeHash             openapi.Hash     `json:"code_hash"`
	DataHash             openapi.Hash     `json:"data_hash"`
	LastTransactionLt    openapi.Decimal  `json:"last_transaction_lt"`
}

// jettonWalletShape is a jetton wallet (contract 3.16).
type jettonWalletShape struct {
	Address           openapi.Address `json:"address"`
	Balance           openapi.Decimal `json:"balance" doc:"in the jetton's smallest units"`
	Owner             openapi.Address `json:"owner"`
	Jetton            openapi.Address `json:"jetton" doc:"the jetton master"`
	LastTransactionLt openapi.Decimal `json:"last_transaction_lt"`
	CodeHash          *openapi.Hash   `json:"code_hash"`
	DataHash          *openapi.Hash   `json:"data_hash"`
}

// orNobody is an address, or addr_none.
type orNobody string

// delivered are the members that include_delivery adds.
type delivered struct {
	Delivery                string        `json:"delivery,omitempty" enum:"in_progress,delivered,refused,returned,not_sent" doc:"how the receiving side ended, with include_delivery"`
	DeliveryTransactionHash *openapi.Hash `json:"delivery_transaction_hash,omitempty" null:"true" doc:"the transaction of the receiving side, with include_delivery; null while there is none"`
}

// transferTransaction is the transaction of a transfer.
type transferTransaction struct {
	TransactionHash    openapi.Hash     `json:"transaction_hash"`
	TransactionLt      openapi.Decimal  `json:"transaction_lt"`
	TransactionNow     openapi.UnixTime `json:"transaction_now"`
	TransactionAborted bool             `json:"transaction_aborted"`
}

// jettonTransferShape is a jetton transfer (contract 3.17).
type jettonTransferShape struct {
	QueryID      openapi.Decimal  `json:"query_id"`
	Source       orNobody         `json:"source" doc:"the sending owner"`
	Destination  orNobody         `json:"destination" doc:"the receiving owner"`
	Amount       openapi.Decimal  `json:"amount"`
	SourceWallet openapi.Address  `json:"source_wallet"`
	JettonMaster *openapi.Address `json:"jetton_master"`
	transferTransaction
	ResponseDestination   *orNobody        `json:"response_destination"`
	CustomPayload         *openapi.BOC     `json:"custom_payload"`
	DecodedCustomPayload  openapi.Anything `json:"decoded_custom_payload"`
	ForwardTonAmount      *openapi.Decimal `json:"forward_ton_amount"`
	ForwardPayload        *openapi.BOC     `json:"forward_payload" doc:"null where it is not in a cell of its own"`
	DecodedForwardPayload openapi.Anything `json:"decoded_forward_payload"`
	TraceID               *openapi.Hash    `json:"trace_id"`
	delivered
}

// jettonBurnShape is a burn (contract 3.18).
type jettonBurnShape struct {
	QueryID      openapi.Decimal  `json:"query_id"`
	Owner        orNobody         `json:"owner"`
	JettonWallet openapi.Address  `json:"jetton_wallet"`
	JettonMaster *openapi.Address `json:"jetton_master"`
	transferTransaction
	Amount               openapi.Decimal  `json:"amount"`
	ResponseDestination  *orNobody        `json:"response_destination"`
	CustomPayload        *openapi.BOC     `json:"custom_payload"`
	DecodedCustomPayload openapi.Anything `json:"decoded_custom_payload"`
	TraceID              *openapi.Hash    `json:"trace_id"`
	delivered
}

// nftCollectionShape is a collection (contract 3.19).
type nftCollectionShape struct {
	Address           openapi.Address  `json:"address"`
	OwnerAddress      *openapi.Address `json:"owner_address"`
	LastTransactionLt openapi.Decimal  `json:"last_transaction_lt"`
	NextItemIndex     openapi.Decimal  `json:"next_item_index" doc:"-1 where indexes are not consecutive"`
	CollectionContent *content         `json:"collection_content"`
	DataHash          openapi.Hash     `json:"data_hash"`
	CodeHash          openapi.Hash     `json:"code_hash"`
}

// nftItemShape is an item (contract 3.20).
type nftItemShape struct {
	Address                openapi.Address     `json:"address"`
	Init                   bool                `json:"init"`
	Index                  openapi.Decimal     `json:"index"`
	CollectionAddress      *openapi.Address    `json:"collection_address"`
	OwnerAddress           *openapi.Address    `json:"owner_address" doc:"a sale contract while the item is on sale"`
	Content                *content            `json:"content"`
	LastTransactionLt      openapi.Decimal     `json:"last_transaction_lt"`
	CodeHash               openapi.Hash        `json:"code_hash"`
	DataHash               openapi.Hash        `json:"data_hash"`
	Collection             *nftCollectionShape `json:"collection"`
	OnSale                 bool                `json:"on_sale"`
	SaleContractAddress    openapi.Address     `json:"sale_contract_address,omitempty"`
	AuctionContractAddress openapi.Address     `json:"auction_contract_address,omitempty"`
	RealOwner              openapi.Address     `json:"real_owner,omitempty" doc:"who sells"`
}

// nftTransferShape is a transfer of an item (contract 3.21).
type nftTransferShape struct {
	QueryID       openapi.Decimal `json:"query_id"`
	NFTAddress    openapi.Address `json:"nft_address"`
	NFTCollection orNobody        `json:"nft_collection"`
	transferTransaction
	OldOwner              orNobody         `json:"old_owner"`
	NewOwner              orNobody         `json:"new_owner"`
	ResponseDestination   *orNobody        `json:"response_destination"`
	CustomPayload         *openapi.BOC     `json:"custom_payload"`
	DecodedCustomPayload  openapi.Anything `json:"decoded_custom_payload"`
	ForwardAmount         *openapi.Decimal `json:"forward_amount"`
	ForwardPayload        *openapi.BOC     `json:"forward_payload"`
	DecodedForwardPayload openapi.Anything `json:"decoded_forward_payload"`
	TraceID               *openapi.Hash    `json:"trace_id"`
	Delivery              string           `json:"delivery,omitempty" enum:"in_progress,delivered,refused,returned,not_sent" doc:"how it ended, with include_delivery"`
}

// nftSaleShape is a sale, an auction or an item of Telegram (contract 3.22).
type nftSaleShape struct {
	Type               string           `json:"type" enum:"getgems_sale,getgems_auction,telemint"`
	Address            openapi.Address  `json:"address"`
	NFTAddress         openapi.Address  `json:"nft_address,omitempty"`
	NFTOwnerAddress    openapi.Address  `json:"nft_owner_address,omitempty" doc:"who sells"`
	MarketplaceAddress openapi.Address  `json:"marketplace_address,omitempty"`
	CreatedAt          openapi.UnixTime `json:"created_at,omitempty"`
	LastTransactionLt  openapi.Decimal  `json:"last_transaction_lt,omitempty"`
	CodeHash           openapi.Hash     `json:"code_hash,omitempty"`
	DataHash           openapi.Hash     `json:"data_hash,omitempty"`
	Details            saleDetails      `json:"details" doc:"what the kind of sale has"`
	NFTItem            *nftItemShape    `json:"nft_item,omitempty"`
}

type saleDetails map[string]openapi.Anything

// dnsRecord is a DNS item's records (contract 3.23).
type dnsRecord struct {
	NFTItemAddress  openapi.Address  `json:"nft_item_address"`
	NFTItemOwner    *openapi.Address `json:"nft_item_owner"`
	Domain          string           `json:"domain"`
	DNSNextResolver *openapi.Address `json:"dns_next_resolver"`
	DNSWallet       *openapi.Address `json:"dns_wallet"`
	DNSSiteAdnl     *openapi.Hash    `json:"dns_site_adnl"`
	DNSStorageBagID *openapi.Hash    `json:"dns_storage_bag_id"`
}

// multisigShape is a multisig wallet (contract 3.24).
type multisigShape struct {
	Address           openapi.Address   `json:"address"`
	NextOrderSeqno    *openapi.Decimal  `json:"next_order_seqno" doc:"-1 where orders have any number"`
	Threshold         *uint32           `json:"threshold"`
	Signers           []openapi.Address `json:"signers"`
	Proposers         []openapi.Address `json:"proposers"`
	LastTransactionLt openapi.Decimal   `json:"last_transaction_lt"`
	CodeHash          *openapi.Hash     `json:"code_hash"`
	DataHash          *openapi.Hash     `json:"data_hash"`
	Orders            *[]orderShape     `json:"orders" doc:"null when there are none"`
}

// orderShape is an order (contract 3.25).
type orderShape struct {
	Address           openapi.Address   `json:"address"`
	MultisigAddress   openapi.Address   `json:"multisig_address"`
	OrderSeqno        *openapi.Decimal  `json:"order_seqno"`
	Threshold         *uint32           `json:"threshold"`
	SentForExecution  *bool             `json:"sent_for_execution"`
	ApprovalsMask     *openapi.Decimal  `json:"approvals_mask"`
	ApprovalsNum      *uint32           `json:"approvals_num"`
	ExpirationDate    *int64            `json:"expiration_date" doc:"seconds since 1970"`
	OrderBoc          *openapi.BOC      `json:"order_boc"`
	Signers           []openapi.Address `json:"signers"`
	LastTransactionLt openapi.Decimal   `json:"last_transaction_lt"`
	CodeHash          *openapi.Hash     `json:"code_hash"`
	DataHash          *openapi.Hash     `json:"data_hash"`
	Actions           *[]orderAction    `json:"actions" doc:"null unless they are asked for"`
}

type orderAction struct {
	Destination    *openapi.Address `json:"destination"`
	Value          *openapi.Decimal `json:"value"`
	BodyRaw        *openapi.BOC     `json:"body_raw"`
	Parsed         bool             `json:"parsed" doc:"false when the action cannot be read"`
	Error          *string          `json:"error"`
	ParsedBody     openapi.Anything `json:"parsed_body"`
	ParsedBodyType string           `json:"parsed_body_type"`
	SendMode       uint32           `json:"send_mode"`
}

// vestingShape is a vesting contract (contract 3.26).
type vestingShape struct {
	Address       *openapi.Address  `json:"address"`
	StartTime     *int64            `json:"start_time"`
	TotalDuration *int64            `json:"total_duration" doc:"seconds"`
	UnlockPeriod  *int64            `json:"unlock_period" doc:"seconds"`
	CliffDuration *int64            `json:"cliff_duration" doc:"seconds"`
	SenderAddress *openapi.Address  `json:"sender_address"`
	OwnerAddress  *openapi.Address  `json:"owner_address"`
	TotalAmount   *openapi.Decimal  `json:"total_amount"`
	Whitelist     []openapi.Address `json:"whitelist"`
}

// The envelopes.
type (
	jettonMastersAnswer struct {
		JettonMasters []jettonMasterShape `json:"jetton_masters"`
		bookAndMetadata
		more
	}
	jettonWalletsAnswer struct {
		JettonWallets []jettonWalletShape `json:"jetton_wallets"`
		bookAndMetadata
		more
	}
	jettonTransfersAnswer struct {
		JettonTransfers []jettonTransferShape `json:"jetton_transfers"`
		bookAndMetadata
		more
	}
	jettonBurnsAnswer struct {
		JettonBurns []jettonBurnShape `json:"jetton_burns"`
		bookAndMetadata
		more
	}
	nftCollectionsAnswer struct {
		NFTCollections []nftCollectionShape `json:"nft_collections"`
		bookAndMetadata
		more
	}
	nftItemsAnswer struct {
		NFTItems []nftItemShape `json:"nft_items"`
		bookAndMetadata
		more
	}
	nftTransfersAnswer struct {
		NFTTransfers []nftTransferShape `json:"nft_transfers"`
		bookAndMetadata
		more
	}
	nftSalesAnswer struct {
		NFTSales []nftSaleShape `json:"nft_sales"`
		bookAndMetadata
	}
	dnsAnswer struct {
		Records []dnsRecord `json:"records"`
		book
		more
	}
	multisigWalletsAnswer struct {
		Multisigs []multisigShape `json:"multisigs"`
		book
		more
	}
	multisigOrdersAnswer struct {
		Orders []orderShape `json:"orders"`
		book
		more
	}
	vestingAnswer struct {
		VestingContracts []vestingShape `json:"vesting_contracts"`
		book
		more
	}
)
