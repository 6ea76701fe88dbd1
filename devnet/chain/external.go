package chain

import (
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"

	machine "tonscribe/ton/tvm"
)

// external is an external message that waits for a block.
type external struct {
	cell      *cell.Cell
	prepared  *tvm.PreparedMessage
	workchain int32
	account   [32]byte
}

var errNotExternal = errors.New("not an external message to a standard address of the masterchain or basechain")

func parseExternal(c *cell.Cell) (*external, error) {
	if c == nil {
		return nil, errNotExternal
	}
	if err := machine.CheckMessage(c); err != nil {
		return nil, err
	}
	prepared, err := tvm.PrepareMessage(c)
	if err != nil {
		return nil, err
	}
	m := prepared.Message()
	if m.MsgType != tlb.MsgTypeExternalIn {
		return nil, errNotExternal
	}
	dst := m.AsExternalIn().DstAddr
	if dst == nil || dst.Type() != address.StdAddress || dst.Anycast() != nil ||
		dst.Workchain() != masterchain && dst.Workchain() != basechain {
		return nil, errNotExternal
	}
	return &external{c, prepared, dst.Workchain(), [32]byte(dst.Data())}, nil
}

// refusal says why an external message was not accepted.
func refusal(r *tvm.TransactionExecutionResult) string {
	if r.ExitCode != 0 {
		return fmt.Sprintf("external message was not accepted: exit code %d", r.ExitCode)
	}
	return "external message was not accepted: the account has no code that accepts it"
}
