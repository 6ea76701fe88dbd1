package decode

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/realdata"
)

// configHash is the hash of the parameters as tonutils-go reads them from the
// extra of a masterchain block, nil when it has none.
func configHash(t *testing.T, boc []byte) []byte {
	t.Helper()
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	var block tlb.Block
	if err := tlb.LoadFromCellAsProof(&block, root.MustBeginParse()); err != nil {
		t.Fatal(err)
	}
	if block.Extra.Custom == nil || !block.Extra.Custom.KeyBlock {
		return nil
	}
	return block.Extra.Custom.ConfigParams.Config.Params.AsCell().Hash()
}

func paramsHash(t *testing.T, boc []byte) []byte {
	t.Helper()
	if boc == nil {
		return nil
	}
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	return root.Hash()
}

func TestKeyBlocksAndNoOthersBringTheParametersOfTheChain(t *testing.T) {
	var d Decoder
	found, large := 0, 0
	for _, f := range blockFiles(t) {
		r, err := d.Block(f.boc, 7)
		if err != nil {
			t.Fatal(err)
		}
		if isKey := f.fields["key"] == "true"; isKey != (r.Config != nil) {
			t.Errorf("%s: key block %t, parameters of %d bytes", f.fields["file"], isKey, len(r.Config))
		}
		known, err := d.Known(r.Block.Id, f.boc, 7)
		if err != nil || !bytes.Equal(known.Config, r.Config) {
			t.Errorf("%s: %d bytes of parameters from verified bytes, %d else (%v)", f.fields["file"], len(known.Config), len(r.Config), err)
		}
		if r.Config == nil {
			continue
		}
		found++
		if len(r.Config) > MaxDataBytes {
			large++
		}
		if got, want := paramsHash(t, r.Config), configHash(t, f.boc); !bytes.Equal(got, want) {
			t.Errorf("%s: parameters have the hash %x, want %x", f.fields["file"], got, want)
		}
	}
	t.Logf("%d key blocks, %d with more than %d bytes of parameters", found, large, MaxDataBytes)
	if found == 0 || large == 0 {
		t.Errorf("%d key blocks, %d with more parameters than the data of an account may have; want some of both", found, large)
	}
}

func TestTheMasterchainsZerostateBringsTheParametersOfTheChain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "states"), "*.boc"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d states: %v", len(files), err)
	}
	var d Decoder
	for _, file := range files {
		boc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := d.State(boc)
		if err != nil {
			t.Fatal(err)
		}
		root, err := cell.FromBOC(boc)
		if err != nil {
			t.Fatal(err)
		}
		var state tlb.ShardStateUnsplit
		if err := tlb.LoadFromCell(&state, root.MustBeginParse()); err != nil {
			t.Fatal(err)
		}
		var want []byte
		if state.McStateExtra != nil {
			var extra tlb.McStateExtra
			if err := tlb.LoadFromCell(&extra, state.McStateExtra.MustBeginParse()); err != nil {
				t.Fatal(err)
			}
			want = extra.ConfigParams.Config.Params.AsCell().Hash()
		}
		if got := paramsHash(t, z.Config); !bytes.Equal(got, want) {
			t.Errorf("%s: parameters have the hash %x, want %x", filepath.Base(file), got, want)
		}
	}
}
