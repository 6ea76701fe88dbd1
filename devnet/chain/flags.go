package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// inMessages and outMessages are the augmentations of InMsgDescr and OutMsgDescr
// (block.tlb). The library adds a message's ihr_fee to its value, which is 0 since
// global version 11; in its place are extra_flags since version 12, which are no value.
type inMessages struct{ tlb.AugInMsgDescr }

type outMessages struct{ tlb.AugOutMsgDescr }

// LeafExtra implements cell.Augmentation.
func (a inMessages) LeafExtra(record *cell.Slice) (*cell.Cell, error) {
	extra, err := a.AugInMsgDescr.LeafExtra(record)
	if err != nil || record.MustPreloadUInt(3) != importFin {
		return extra, err
	}
	s := extra.MustBeginParse()
	return withoutFlags(record, extra, s, cell.BeginCell().MustStoreBigCoins(s.MustLoadBigCoins()))
}

// LeafExtra implements cell.Augmentation.
func (a outMessages) LeafExtra(record *cell.Slice) (*cell.Cell, error) {
	extra, err := a.AugOutMsgDescr.LeafExtra(record)
	if err != nil || record.MustPreloadUInt(3) != exportNew {
		return extra, err
	}
	return withoutFlags(record, extra, extra.MustBeginParse(), cell.BeginCell())
}

// withoutFlags takes the flags of a record's message out of the value that comes next
// in its extra, and puts the rest of the extra behind what stands before.
func withoutFlags(record *cell.Slice, extra *cell.Cell, rest *cell.Slice, before *cell.Builder) (*cell.Cell, error) {
	flags, err := extraFlags(record)
	if err != nil || flags.Sign() == 0 {
		return extra, err
	}
	value := rest.MustLoadBigCoins()
	return before.MustStoreBigCoins(value.Sub(value, flags)).MustStoreBuilder(rest.ToBuilder()).EndCell(), nil
}

// extraFlags are those of the message in the envelope of a record.
func extraFlags(record *cell.Slice) (*big.Int, error) {
	envelope, err := record.Copy().LoadRefCell()
	if err != nil {
		return nil, err
	}
	message, err := envelope.PeekRef(0)
	if err != nil {
		return nil, err
	}
	s := message.MustBeginParse()
	if err := s.SkipBits(4); err != nil { // int_msg_info$0 and three flags
		return nil, err
	}
	s.MustLoadAddr() // src
	s.MustLoadAddr() // dest
	s.MustLoadBigCoins()
	s.MustLoadMaybeRef() // other currencies
	return s.MustLoadBigCoins(), nil
}
