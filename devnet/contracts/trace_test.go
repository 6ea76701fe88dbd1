package contracts_test

import (
	"fmt"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// transaction is what one message did.
type transaction struct {
	account *address.Address
	message *tlb.Message
	*tvm.TransactionExecutionResult
	tx *tlb.Transaction
}

func (t transaction) aborted() bool {
	description, ok := t.tx.Description.(tlb.TransactionDescriptionOrdinary)
	return ok && description.Aborted
}

func (t transaction) op() uint32 {
	if t.message == nil {
		return 0
	}
	body, err := t.message.Msg.Payload().BeginParse()
	if err != nil || body.BitsLeft() < 32 {
		return 0
	}
	return uint32(body.MustLoadUInt(32))
}

// payload is the body behind the number.
func (t transaction) payload() *cell.Slice {
	body := t.message.Msg.Payload().MustBeginParse()
	body.MustLoadUInt(32)
	return body
}

func (t transaction) String() string {
	if t.tx == nil {
		return fmt.Sprintf("%s refused: exit %d", t.account.StringRaw()[:8], t.ExitCode)
	}
	action := int32(0)
	if description, ok := t.tx.Description.(tlb.TransactionDescriptionOrdinary); ok && description.ActionPhase != nil {
		action = description.ActionPhase.ResultCode
	}
	return fmt.Sprintf("%s op %08x exit %d action %d aborted %t", t.account.StringRaw()[:8], t.op(), t.ExitCode, action, t.aborted())
}

// expect checks the accounts and the numbers of the messages of a trace, in
// order, and that nothing was aborted.
func expect(t testing.TB, got []transaction, want ...hop) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = got[i].account.Equals(want[i].to) && got[i].op() == want[i].op && got[i].tx != nil
		same = same && (got[i].aborted() == want[i].fails || got[i].isUninit())
	}
	if !same {
		var what string
		for _, one := range want {
			what += fmt.Sprintf("\n  %s op %08x aborted %t", one.to.StringRaw()[:8], one.op, one.fails)
		}
		t.Fatalf("trace is %s\nwant %s", text(got), what)
	}
}

// isUninit reports whether there is no contract: such a transaction is aborted and
// still takes the value.
func (t transaction) isUninit() bool {
	return t.NextAccount.State().Status != tlb.AccountStatusActive
}

type hop struct {
	to    *address.Address
	op    uint32
	fails bool
}

func text(got []transaction) (all string) {
	for _, one := range got {
		all += "\n  " + one.String()
	}
	return all
}
