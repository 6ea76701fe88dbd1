package oracle

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tonscribe/decode"
	"tonscribe/devnet/chain"
	"tonscribe/schema/record"
	nodetest "tonscribe/test/support/node"
)

// expectation is an execution with the state that we tell of the account after
// it.
type expectation struct {
	execution
	StateHash, Balance string
}

// What an account has between two transactions of one block is in no block: we
// compute the balance back from the last one, and the emulator has it.
func TestOfficialEmulatorLeavesTheBalancesThatAreComputed(t *testing.T) {
	l := live(t, 40, 60)
	var input bytes.Buffer
	fmt.Fprintln(&input, base(l.chain.Config()))
	lines := json.NewEncoder(&input)
	beginning, err := chain.New(l.options)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	count, several, between := 0, 0, 0
	for _, bundle := range l.bundles {
		for _, block := range order(bundle) {
			decoded, err := decode.Block(block.Data, bundle.Master.ID.SeqNo)
			if err != nil {
				t.Fatal(err)
			}
			ours := map[string]*record.Transaction{}
			for _, change := range decoded.Changes {
				if n := len(change.Transactions); n > 1 {
					several, between = several+1, between+n-1
				}
				for _, transaction := range change.Transactions {
					ours[string(transaction.Hash)] = transaction
				}
			}
			for _, transaction := range block.Transactions {
				account := name(transaction.Workchain, transaction.Account)
				if !said[account] {
					said[account] = true
					encodeState(t, lines, beginning, transaction)
				}
				count++
				our := ours[string(transaction.Hash[:])]
				if err := lines.Encode(expectation{execute(t, account, transaction, block.GenUtime, decoded.Block.RandSeed),
					hex.EncodeToString(our.StateHashAfter), fmt.Sprint(our.StateAfter.Balance)}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	out := strings.TrimSpace(string(nodetest.Run(t, input.Bytes(), "emulate_chain.js")))
	if want := fmt.Sprintf("executed %d", count); out != want {
		t.Errorf("%d transactions, the official emulator differs:\n%.6000s", count, out)
	}
	if between == 0 {
		t.Error("no account has two transactions in a block")
	}
	t.Logf("%d transactions of %d accounts; %d accounts of blocks with several, %d states between those", count, len(said), several, between)
}
