package action

import (
	"encoding/base64"
	"math/big"

	"tonscribe/ton/cell"
)

// Opcodes of multisig v2 and its orders.
const (
	opMultisigNewOrder  = 0xf718510f
	opMultisigOrderInit = 0x9c73fba2
	opMultisigApprove   = 0xa762230f
	opMultisigAccepted  = 0x82609bf6
	opMultisigRejected  = 0xafaf283e
	opMultisigExecute   = 0x75097f5d
)

var (
	multisigCreate  = NewType[orderCreation]("multisig_create_order", V2, "multisig")
	multisigApprove = NewType[orderApproval]("multisig_approve", V2, "multisig")
	multisigExecute = NewType[orderExecution]("multisig_execute", V2, "multisig")
)

type orderCreation struct {
	QueryID           uint64   `detail:"query_id"`
	OrderSeqno        *big.Int `detail:"order_seqno"`
	IsCreatedBySigner bool     `detail:"is_created_by_signer"`
	IsSignedByCreator bool     `detail:"is_signed_by_creator"`
	CreatorIndex      int64    `detail:"creator_index"`
	ExpirationDate    int64    `detail:"expiration_date"`
	OrderBoC          BoC      `detail:"order_boc"`
	Source            Address  `detail:"source,account"`
	Destination       Address  `detail:"destination,account"`       // the multisig
	DestinationOrder  Address  `detail:"destination_order,account"` // the order's contract
}

type orderApproval struct {
	SignerIndex int64   `detail:"signer_index"` // -1 where a comment approves
	ExitCode    int64   `detail:"exit_code"`
	Source      Address `detail:"source,account"`
	Destination Address `detail:"destination,account"` // the order's contract
}

type orderExecution struct {
	QueryID        uint64   `detail:"query_id"`
	OrderSeqno     *big.Int `detail:"order_seqno"`
	ExpirationDate int64    `detail:"expiration_date"`
	ApprovalsNum   int64    `detail:"approvals_num"`
	SignersHash    string   `detail:"signers_hash"` // base64
	OrderBoC       BoC      `detail:"order_boc"`
	Source         Address  `detail:"source,account"`      // the order's contract
	Destination    Address  `detail:"destination,account"` // the multisig
}

// multisigs are orders of multisig v2. They concern all signers of the order.
var multisigs = &Protocol{
	Name:  "multisig",
	Types: []typed{multisigCreate, multisigApprove, multisigExecute},
	Rules: []Rule{
		{
			Name:  "order of a multisig",
			Order: orderMultisigCreate,
			Pattern: Call(opMultisigNewOrder).With(
				// The order answers its creator's approval; one that is there already takes it for an
				// approval, too. The answer is no part of the creation.
				Call(opMultisigOrderInit).As("init").Where(makesOrder).With(Call(opMultisigAccepted, opMultisigRejected).As("answer").Maybe().Kept()),
			),
			Make: makeMultisigCreate,
		},
		{
			Name:  "approval of an order of a multisig",
			Order: orderMultisigApprove,
			Pattern: OneOf(Call(opMultisigApprove), Plain().Where(func(b *Block) bool { return says(b, "approve") })).Where(goesToOrder).With(
				OneOf(Call(opMultisigAccepted).As("accepted"), Call(opMultisigRejected).As("rejected")),
			),
			Make: makeMultisigApprove,
		},
		{
			Name:    "execution of an order of a multisig",
			Order:   orderMultisigExecute,
			Pattern: Call(opMultisigExecute).Where(func(b *Block) bool { return b.Contract(b.Source()).GetMultisigOrder() != nil }),
			Make:    makeMultisigExecute,
		},
	},
}

func goesToOrder(b *Block) bool { return b.Contract(b.Destination()).GetMultisigOrder() != nil }

// makesOrder reports whether a message makes an order: it goes to one, or comes from a
// multisig where the order is not known yet.
func makesOrder(b *Block) bool { return goesToOrder(b) || b.Contract(b.Source()).GetMultisig() != nil }

// signersOf are those who may sign an order; where it is not known, the signers of the
// multisig that made it.
func signersOf(m *Match, order Address, multisig ...Address) (list []Address) {
	signers := m.Contract(order).GetMultisigOrder().GetSigners()
	if signers == nil && len(multisig) > 0 {
		signers = m.Contract(multisig[0]).GetMultisig().GetSigners()
	}
	for _, s := range signers {
		list = append(list, s)
	}
	return list
}

// asSent is a cell as a bag without CRC, the form in which the reference shows what a
// message carries in a cell of its own; nil where there is none.
func asSent(c cell.Cell) BoC {
	boc := bocOf(c)
	if len(boc) < 4+1+4 {
		return nil
	}
	boc[4] &^= 0x40 // has_crc32c (TL-B serialized_boc)
	return boc[:len(boc)-4]
}

func makeMultisigCreate(m *Match) *Made {
	b, init := m.Block, m.One("init")
	r := b.Body()
	order := &orderCreation{Source: b.Source(), Destination: b.Destination(), DestinationOrder: init.Destination()}
	order.QueryID = r.Uint(64)
	order.OrderSeqno = r.Big(256)
	order.IsCreatedBySigner = r.Bool()
	order.CreatorIndex = int64(r.Uint(8))
	order.ExpirationDate = int64(r.Uint(48))
	i := init.Body()
	i.Skip(64 + 8) // query_id, threshold
	i.Ref()        // signers
	i.Skip(48)     // expiration_date
	order.OrderBoC = asSent(i.Ref())
	order.IsSignedByCreator = i.Bool() // the creator signs by its index
	if r.Failed() || i.Failed() {
		return nil
	}
	return multisigCreate.Make(order).Concerns(signersOf(m, init.Destination(), b.Destination())...).
		Fails(b.Aborted() || init.Aborted() || m.One("answer").IsCall(opMultisigRejected))
}

func makeMultisigApprove(m *Match) *Made {
	b := m.Block
	approval := &orderApproval{SignerIndex: -1, Source: b.Source(), Destination: b.Destination()}
	if b.IsCall(opMultisigApprove) {
		r := b.Body()
		r.Skip(64) // query_id
		approval.SignerIndex = int64(r.Uint(8))
		if r.Failed() {
			return nil
		}
	}
	rejected := m.One("rejected")
	if rejected != nil {
		r := rejected.Body()
		r.Skip(64) // query_id
		approval.ExitCode = int64(r.Uint(32))
		if r.Failed() {
			return nil
		}
	}
	return multisigApprove.Make(approval).Concerns(signersOf(m, b.Destination())...).Fails(rejected != nil)
}

func makeMultisigExecute(m *Match) *Made {
	b := m.Block
	r := b.Body()
	e := &orderExecution{Source: b.Source(), Destination: b.Destination()}
	e.QueryID = r.Uint(64)
	e.OrderSeqno = r.Big(256)
	e.ExpirationDate = int64(r.Uint(48))
	e.ApprovalsNum = int64(r.Uint(8))
	e.SignersHash = base64.StdEncoding.EncodeToString(r.Hash())
	e.OrderBoC = asSent(r.Ref())
	if r.Failed() {
		return nil
	}
	return multisigExecute.Make(e).Concerns(signersOf(m, b.Source())...).Fails(b.Aborted() || b.Skipped())
}
