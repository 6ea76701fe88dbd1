package tvm_test

import (
	"sync"
	"testing"

	"tonscribe/devnet/contracts"
	"tonscribe/ton/tvm"
)

func TestManyAskTheSameContractAtOnce(t *testing.T) {
	minter := contracts.JettonMinter{Admin: somebody(1), Content: contracts.OffchainContent("https://example.com/j.json")}.StateInit()
	in := hostileInput(t, minter.Code, 0)
	in.Data, in.Method, in.Stack = minter.Data, "get_wallet_address", []any{somebody(7)}
	want, err := tvm.Run(t.Context(), in)
	if err != nil || !want.OK() {
		t.Fatalf("exit code %d, %v", want.ExitCode, err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				got, err := tvm.Run(t.Context(), in)
				if err != nil || got.StackCell().HashKey() != want.StackCell().HashKey() {
					t.Errorf("stack %v (%v), want %v", got.Stack, err, want.Stack)
				}
			}
		})
	}
	group.Wait()
}
