package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"tonscribe/decode"
	"tonscribe/test/support/realdata"
)

// BenchmarkVerify reads what a shard block of 510 transactions costs.
func BenchmarkVerify(b *testing.B) {
	dir := realdata.Path(b)
	boc, err := os.ReadFile(filepath.Join(dir, "blocks/mainnet_single/block_0_8000000000000000_40484438.boc"))
	if err != nil {
		b.Fatal(err)
	}
	info, err := decode.Header(boc)
	if err != nil {
		b.Fatal(err)
	}
	v := &verifier{maxBytes: 4 << 20}
	b.SetBytes(int64(len(boc)))
	for b.Loop() {
		if _, refusal := v.verifyNamed(info.ID, Blob{BOC: boc}); refusal != nil {
			b.Fatal(refusal)
		}
	}
}
