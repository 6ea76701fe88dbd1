// Package configtest makes the parameters of a devnet, as contracts are given them.
package configtest

import (
	"maps"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/genesis"
	"tonscribe/ton/tvm"
)

// Of returns the config of a devnet after change, which may be nil, with some of its
// parameters replaced.
func Of(t testing.TB, change func(*genesis.Config), others map[uint32]*cell.Cell) *tvm.Config {
	t.Helper()
	c := genesis.Default()
	if change != nil {
		change(&c)
	}
	params, err := c.Params(genesis.Facts{BaseRootHash: make([]byte, 32), BaseFileHash: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(params, others)
	root, err := genesis.Dict(params)
	if err != nil {
		t.Fatal(err)
	}
	config, err := tvm.Prepare(root)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
