package node

import (
	"context"

	"tonscribe/ton/code"
)

// Contract is what is known of a contract by its code: *ContractWallet,
// *RestrictedWallet or *PaymentChannel, nil for any other.
type Contract any

// ContractWallet is what data begins with that says whose a contract is.
type ContractWallet struct {
	Kind  string // wallet.v3, wallet.v4, wallet.highload.v1, wallet.highload.v2 or dns
	ID    int64
	Seqno int32 // 0 for the last two
}

// contractKind is a contract that is known by the hash of its code: a revision,
// and how its data is read.
type contractKind struct {
	revision int32
	read     func(r *reader) Contract
}

// seqnoAndID reads seqno 32, wallet_id 32.
func seqnoAndID(r *reader) (int32, int64) {
	seqno := int32(r.Uint(32))
	return seqno, int64(r.Uint(32))
}

func withSeqno(kind string) func(*reader) Contract {
	return func(r *reader) Contract {
		seqno, id := seqnoAndID(r)
		return &ContractWallet{kind, id, seqno}
	}
}

func withID(kind string) func(*reader) Contract {
	return func(r *reader) Contract { return &ContractWallet{Kind: kind, ID: int64(r.Uint(32))} }
}

// contractKinds are the contracts by the hash of their code.
var contractKinds = map[code.Hash]contractKind{
	code.Build("wallet_v3r1"):                                     {1, withSeqno("wallet.v3")},
	code.Build("wallet_v3r2"):                                     {2, withSeqno("wallet.v3")},
	code.Build("wallet_v4r2"):                                     {2, withSeqno("wallet.v4")},
	code.Build("wallet_highload_v1r1"):                            {1, withSeqno("wallet.highload.v1")},
	code.MustHash("NowDly5fTCRBK4GGUt4d4qJjDRwBFgmZnf90X7NoSa0="): {2, withSeqno("wallet.highload.v1")},
	code.Build("wallet_highload_v2r1"):                            {1, withID("wallet.highload.v2")},
	code.MustHash("CzqIeurNKn1Au1VQvJJTFWoCkGWu+21rWDc11Y2p1b4="): {2, withID("wallet.highload.v2")},
	code.MustHash("oNZ9LeiRn+e3yndlLM1P3FbGid56aRYeRfsNzF5HwVU="): {1, withID("dns")},
	code.MustHash("jTUEm5Rs8ztYUQu0VgyEGpRfd4HW3p/GnKP0MPbjInM="): {1, readRestricted},
}

// Contract reads what is known of an account's contract, and which revision of it
// the code is.
func (n *Node) Contract(ctx context.Context, s *Account) (Contract, int32, error) {
	if s.Code() == nil || s.Data() == nil {
		return nil, 0, nil
	}
	kind, ok := contractKinds[s.Code().HashKey()]
	if !ok {
		kind = contractKind{revisionOfBuild, readChannel}
	}
	r := parse(s.Data())
	contract := kind.read(r)
	if r.Err() != nil {
		return nil, 0, nil //nolint:nilerr // a known code with data of another layout, which anybody may deploy, is no known contract
	}
	if wallet, ok := contract.(*RestrictedWallet); ok {
		if there, err := n.unlocked(ctx, s, wallet); err != nil || !there {
			return nil, 0, err
		}
	}
	return contract, kind.revision, nil
}
