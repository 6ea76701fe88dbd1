package detect

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// mainnetConfigs are the parameters that key blocks of mainnet bring, in the
// order of their seqnos.
func mainnetConfigs(t *testing.T) (configs [][]byte) {
	t.Helper()
	data := realdata.Path(t)
	files, err := filepath.Glob(filepath.Join(data, "blocks", "mainnet_single", "block_-1_*.boc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		boc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		block, err := decode.Block(boc, 1)
		if err != nil {
			t.Fatal(err)
		}
		if block.Config != nil {
			configs = append(configs, block.Config)
		}
	}
	if len(configs) < 3 {
		t.Fatalf("%d key blocks in %d files", len(configs), len(files))
	}
	return configs
}

func hashOf(t *testing.T, boc []byte) string {
	t.Helper()
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(root.Hash())
}

func (d *desk) configHash() string { return hex.EncodeToString(d.config.Root().Hash()) }

func (s *script) nextWith(change func(b *bundle)) {
	s.Helper()
	s.seqno++
	b := &bundle{mcSeqno: s.seqno, prev: s.seqno - 1, seal: &record.Seal{Master: &record.BlockId{Seqno: s.seqno}, GenUtime: 1_750_000_000 + s.seqno}}
	change(b)
	s.do(b)
}

func TestMethodsRunWithTheParametersOfTheNewestKeyBlockAlsoAfterARestart(t *testing.T) {
	configs := mainnetConfigs(t)
	dir := t.TempDir()
	s := &script{desk: newDesk(t, dir), told: map[string]bool{}}
	versions := map[uint32]bool{}
	for i, config := range configs {
		s.nextWith(func(b *bundle) { b.config = config })
		s.next(nil)
		want := hashOf(t, config)
		if got := s.configHash(); got != want {
			t.Fatalf("after key block %d of %d the config is %s, want %s", i+1, len(configs), got, want)
		}
		versions[s.config.GlobalVersion()] = true
		s.leave()
		seqno := s.seqno
		s = &script{desk: newDesk(t, dir), told: map[string]bool{}, seqno: seqno}
		if got := s.configHash(); got != want {
			t.Fatalf("restarted after key block %d of %d, the config is %s, want %s", i+1, len(configs), got, want)
		}
	}
	if len(versions) < 2 {
		t.Errorf("versions of the virtual machine: %v, want several", versions)
	}
	// Each stays known for the bundles that it was for.
	for i, config := range configs {
		kept, err := s.store.Newest(keyConfig, uint32(2*i+2))
		if err != nil || !bytes.Equal(kept, config) {
			t.Errorf("the config at bundle %d has %d bytes, want %d: %v", 2*i+2, len(kept), len(config), err)
		}
	}
	if kept, err := s.store.Newest(keyConfig, 0); kept != nil || err != nil {
		t.Errorf("before the first key block the config has %d bytes, want none: %v", len(kept), err)
	}
}

func TestAConfigThatIsNoneLeavesTheOneBefore(t *testing.T) {
	s := newScript(t)
	config := mainnetConfigs(t)[0]
	s.nextWith(func(b *bundle) { b.config = config })
	s.nextWith(func(b *bundle) { b.config = []byte("not a bag of cells") })
	if got, want := s.configHash(), hashOf(t, config); got != want {
		t.Errorf("the config is %s, want %s", got, want)
	}
}

func TestTheDevnetsConfigComesWithItsKeyBlock(t *testing.T) {
	w := newTown(t, 3, 5)
	d := newDesk(t, t.TempDir())
	for _, s := range w.steps {
		d.do(s.bundle())
	}
	if got, want := d.configHash(), hex.EncodeToString(w.chain.Config().Hash()); got != want {
		t.Errorf("the config is %s, want %s", got, want)
	}
}
