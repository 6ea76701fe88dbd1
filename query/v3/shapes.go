package v3

import (
	"reflect"

	"tonscribe/query/openapi"
)

// The shapes of answers, for their description: endpoints name one as their
// Result, and tests hold their answers against it. A pointer may be null,
// omitempty says that the key may be missing. Answers are not written from them,
// so that a thousand transactions need no detour.

// resultOf is the type of an answer.
func resultOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// failure is the shape of an error.
type failure struct {
	OK    bool   `json:"ok" const:"false"`
	Error string `json:"error" doc:"what is wrong"`
	Code  int32  `json:"code" doc:"the HTTP status"`
}

// Parts that many answers have.
type (
	currencies  = map[string]openapi.Decimal
	addressRows = map[openapi.Address]addressBookRow
	metadataMap = map[openapi.Address]addressMetadata

	// book is embedded in answers that have an address book.
	book struct {
		AddressBook addressRows `json:"address_book" doc:"a row for every address of the answer"`
	}
	// bookAndMetadata is embedded in answers that have metadata too.
	bookAndMetadata struct {
		book
		Metadata metadataMap `json:"metadata" doc:"what is known of the tokens among the addresses of the answer"`
	}
	// more is embedded in answers that are a page of a list.
	more struct {
		NextCursor string `json:"next_cursor,omitempty" doc:"cursor of the next page; missing on the last one"`
	}
)

// addressBookRow is a row of address_book (contract 3.1).
type addressBookRow struct {
	UserFriendly *string   `json:"user_friendly" doc:"user-friendly form"`
	Domain       *string   `json:"domain" doc:"name that the account owns and that names it"`
	Interfaces   *[]string `json:"interfaces" doc:"what the contract is by its code"`
}

// addressMetadata is an entry of metadata (contract 3.2).
type addressMetadata struct {
	IsIndexed bool        `json:"is_indexed" doc:"false while a document off the chain is waited for"`
	TokenInfo []tokenInfo `json:"token_info"`
}

type tokenInfo struct {
	Valid       *bool                       `json:"valid,omitempty" doc:"false when the document could not be read"`
	Type        string                      `json:"type,omitempty" enum:"jetton_masters,jetton_wallets,nft_collections,nft_items"`
	Name        string                      `json:"name,omitempty"`
	Symbol      string                      `json:"symbol,omitempty"`
	Description string                      `json:"description,omitempty"`
	Image       string                      `json:"image,omitempty"`
	NFTIndex    openapi.Decimal             `json:"nft_index,omitempty"`
	IsNSFW      *bool                       `json:"is_nsfw,omitempty"`
	IsScam      *bool                       `json:"is_scam,omitempty"`
	Extra       map[string]openapi.Anything `json:"extra,omitempty"`
}

// blockID names a block.
type blockID struct {
	Workchain int32         `json:"workchain"`
	Shard     openapi.Shard `json:"shard"`
	Seqno     uint32        `json:"seqno"`
}

// block is a block (contract 3.6).
type block struct {
	blockID
	RootHash               openapi.Hash    `json:"root_hash"`
	FileHash               openapi.Hash    `json:"file_hash"`
	GlobalID               int32           `json:"global_id" doc:"network: -239 is the main one, -3 the test one"`
	Version                int64           `json:"version"`
	AfterMerge             bool            `json:"after_merge"`
	BeforeSplit            bool            `json:"before_split"`
	AfterSplit             bool            `json:"after_split"`
	WantMerge              bool            `json:"want_merge"`
	WantSplit              bool            `json:"want_split"`
	KeyBlock               bool            `json:"key_block"`
	VertSeqnoIncr          bool            `json:"vert_seqno_incr"`
	Flags                  int64           `json:"flags"`
	GenUtime               openapi.Decimal `json:"gen_utime"`
	StartLt                openapi.Decimal `json:"start_lt"`
	EndLt                  openapi.Decimal `json:"end_lt"`
	ValidatorListHashShort int32           `json:"validator_list_hash_short"`
	GenCatchainSeqno       int64           `json:"gen_catchain_seqno"`
	MinRefMcSeqno          int64           `json:"min_ref_mc_seqno"`
	PrevKeyBlockSeqno      int64           `json:"prev_key_block_seqno"`
	VertSeqno              int64           `json:"vert_seqno"`
	MasterRefSeqno         int64           `json:"master_ref_seqno" doc:"0 for masterchain blocks"`
	RandSeed               openapi.Hash    `json:"rand_seed"`
	CreatedBy              openapi.Hash    `json:"created_by"`
	TxCount                int64           `json:"tx_count"`
	MasterchainBlockRef    blockID         `json:"masterchain_block_ref" doc:"the masterchain block that commits it"`
	PrevBlocks             []blockID       `json:"prev_blocks" doc:"the block before, two after a merge"`
}

// message is a message (contract 3.8). What a kind of message does not have is
// null.
type messageShape struct {
	Hash                 openapi.Hash     `json:"hash"`
	Source               *openapi.Address `json:"source"`
	Destination          *openapi.Address `json:"destination"`
	Value                *openapi.Decimal `json:"value" doc:"nanotons"`
	ValueExtraCurrencies *currencies      `json:"value_extra_currencies"`
	FwdFee               *openapi.Decimal `json:"fwd_fee"`
	IhrFee               *openapi.Decimal `json:"ihr_fee"`
	ExtraFlags           *openapi.Decimal `json:"extra_flags"`
	CreatedLt            *openapi.Decimal `json:"created_lt"`
	CreatedAt            *openapi.Decimal `json:"created_at"`
	Opcode               *openapi.Opcode  `json:"opcode" doc:"the first 32 bits of the body"`
	DecodedOpcode        *string          `json:"decoded_opcode"`
	IhrDisabled          *bool            `json:"ihr_disabled"`
	Bounce               *bool            `json:"bounce"`
	Bounced              *bool            `json:"bounced"`
	ImportFee            *openapi.Decimal `json:"import_fee"`
	InMsgTxHash          openapi.Hash     `json:"in_msg_tx_hash,omitempty" doc:"the transaction that consumed it"`
	OutMsgTxHash         openapi.Hash     `json:"out_msg_tx_hash,omitempty" doc:"the transaction that produced it"`
	MessageContent       *messageContent  `json:"message_content"`
	InitState            *messageContent  `json:"init_state"`
	HashNorm             openapi.Hash     `json:"hash_norm,omitempty" doc:"normalized hash (TEP-467) where it is another one"`
}

type messageContent struct {
	Hash    *openapi.Hash    `json:"hash"`
	Body    *openapi.BOC     `json:"body"`
	Decoded openapi.Anything `json:"decoded" doc:"the body taken apart; null when it is not known"`
}

// accountState is the state before or after a transaction (contract 3.3).
type accountState struct {
	Hash            openapi.Hash     `json:"hash"`
	Balance         *openapi.Decimal `json:"balance"`
	ExtraCurrencies *currencies      `json:"extra_currencies"`
	AccountStatus   *string          `json:"account_status" enum:"uninit,frozen,active,nonexist"`
	FrozenHash      *openapi.Hash    `json:"frozen_hash"`
	DataHash        *openapi.Hash    `json:"data_hash"`
	CodeHash        *openapi.Hash    `json:"code_hash"`
	DataBoc         openapi.BOC      `json:"data_boc,omitempty"`
	CodeBoc         openapi.BOC      `json:"code_boc,omitempty"`
}

// transactionShape is a transaction (contract 3.9).
type transactionShape struct {
	Account                  openapi.Address  `json:"account"`
	Hash                     openapi.Hash     `json:"hash"`
	Lt                       openapi.Decimal  `json:"lt"`
	Now                      openapi.UnixTime `json:"now"`
	McBlockSeqno             uint32           `json:"mc_block_seqno" doc:"the masterchain block that commits it"`
	TraceID                  openapi.Hash     `json:"trace_id,omitempty"`
	TraceExternalHash        openapi.Hash     `json:"trace_external_hash,omitempty"`
	PrevTransHash            openapi.Hash     `json:"prev_trans_hash"`
	PrevTransLt              openapi.Decimal  `json:"prev_trans_lt"`
	OrigStatus               string           `json:"orig_status" enum:"uninit,frozen,active,nonexist"`
	EndStatus                string           `json:"end_status" enum:"uninit,frozen,active,nonexist"`
	TotalFees                openapi.Decimal  `json:"total_fees"`
	TotalFeesExtraCurrencies currencies       `json:"total_fees_extra_currencies"`
	Description              description      `json:"description"`
	BlockRef                 blockID          `json:"block_ref"`
	InMsg                    *messageShape    `json:"in_msg"`
	OutMsgs                  []messageShape   `json:"out_msgs"`
	AccountStateBefore       accountState     `json:"account_state_before"`
	AccountStateAfter        accountState     `json:"account_state_after"`
	Emulated                 bool             `json:"emulated"`
	Finality                 string           `json:"finality" enum:"pending,confirmed,finalized"`
}

// description is a transaction's (contract 3.10); phases that did not run are
// missing.
type description struct {
	Type        string        `json:"type" enum:"ord,storage,tick_tock,split_prepare,split_install,merge_prepare,merge_install"`
	Aborted     *bool         `json:"aborted,omitempty"`
	Destroyed   *bool         `json:"destroyed,omitempty"`
	CreditFirst *bool         `json:"credit_first,omitempty"`
	IsTock      *bool         `json:"is_tock,omitempty"`
	Installed   *bool         `json:"installed,omitempty"`
	StoragePh   *storagePhase `json:"storage_ph,omitempty"`
	CreditPh    *creditPhase  `json:"credit_ph,omitempty"`
	ComputePh   *computePhase `json:"compute_ph,omitempty"`
	Action      *actionPhase  `json:"action,omitempty"`
	Bounce      *bouncePhase  `json:"bounce,omitempty"`
	SplitInfo   *splitInfo    `json:"split_info,omitempty"`
}

type storagePhase struct {
	StorageFeesCollected openapi.Decimal `json:"storage_fees_collected"`
	StorageFeesDue       openapi.Decimal `json:"storage_fees_due,omitempty"`
	StatusChange         string          `json:"status_change" enum:"unchanged,frozen,deleted"`
}

type creditPhase struct {
	DueFeesCollected      openapi.Decimal `json:"due_fees_collected,omitempty"`
	Credit                openapi.Decimal `json:"credit"`
	CreditExtraCurrencies currencies      `json:"credit_extra_currencies,omitempty"`
}

type computePhase struct {
	Skipped          bool            `json:"skipped"`
	Reason           string          `json:"reason,omitempty" enum:"no_state,bad_state,no_gas,suspended"`
	Success          *bool           `json:"success,omitempty"`
	MsgStateUsed     *bool           `json:"msg_state_used,omitempty"`
	AccountActivated *bool           `json:"account_activated,omitempty"`
	GasFees          openapi.Decimal `json:"gas_fees,omitempty"`
	GasUsed          openapi.Decimal `json:"gas_used,omitempty"`
	GasLimit         openapi.Decimal `json:"gas_limit,omitempty"`
	GasCredit        openapi.Decimal `json:"gas_credit,omitempty"`
	Mode             *int32          `json:"mode,omitempty"`
	ExitCode         *int32          `json:"exit_code,omitempty"`
	ExitArg          *int32          `json:"exit_arg,omitempty"`
	VMSteps          *uint32         `json:"vm_steps,omitempty"`
	VMInitStateHash  openapi.Hash    `json:"vm_init_state_hash,omitempty"`
	VMFinalStateHash openapi.Hash    `json:"vm_final_state_hash,omitempty"`
}

type messageSize struct {
	Cells openapi.Decimal `json:"cells"`
	Bits  openapi.Decimal `json:"bits"`
}

type actionPhase struct {
	Success         bool            `json:"success"`
	Valid           bool            `json:"valid"`
	NoFunds         bool            `json:"no_funds"`
	StatusChange    string          `json:"status_change" enum:"unchanged,frozen,deleted"`
	TotalFwdFees    openapi.Decimal `json:"total_fwd_fees,omitempty"`
	TotalActionFees openapi.Decimal `json:"total_action_fees,omitempty"`
	ResultCode      int32           `json:"result_code"`
	ResultArg       *int32          `json:"result_arg,omitempty"`
	TotActions      int32           `json:"tot_actions"`
	SpecActions     int32           `json:"spec_actions"`
	SkippedActions  int32           `json:"skipped_actions"`
	MsgsCreated     int32           `json:"msgs_created"`
	ActionListHash  openapi.Hash    `json:"action_list_hash"`
	TotMsgSize      messageSize     `json:"tot_msg_size"`
}

type bouncePhase struct {
	Type       string          `json:"type" enum:"negfunds,nofunds,ok"`
	MsgSize    *messageSize    `json:"msg_size,omitempty"`
	ReqFwdFees openapi.Decimal `json:"req_fwd_fees,omitempty"`
	MsgFees    openapi.Decimal `json:"msg_fees,omitempty"`
	FwdFees    openapi.Decimal `json:"fwd_fees,omitempty"`
}

type splitInfo struct {
	CurShardPfxLen int32        `json:"cur_shard_pfx_len"`
	AccSplitDepth  int32        `json:"acc_split_depth"`
	ThisAddr       openapi.Hash `json:"this_addr"`
	SiblingAddr    openapi.Hash `json:"sibling_addr"`
}

// The envelopes (contract 3.27).
type (
	transactionsAnswer struct {
		Transactions []transactionShape `json:"transactions"`
		book
		more
	}
	messagesAnswer struct {
		Messages []messageShape `json:"messages"`
		bookAndMetadata
		more
	}
	blocksAnswer struct {
		Blocks []block `json:"blocks"`
		more
	}
	shardStateAnswer struct {
		Blocks       []block            `json:"blocks"`
		Transactions []transactionShape `json:"transactions"`
		book
	}
	masterchainInfoAnswer struct {
		Last  block `json:"last"`
		First block `json:"first"`
	}
	addressBookAnswer map[string]addressBookRow
)
