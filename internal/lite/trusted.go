package lite

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/report"
)

// trustedFile is the newest proven key block, on disk.
type trustedFile struct {
	Network  string `json:"network"` // root hash of the masterchain's zerostate
	Seqno    uint32 `json:"seqno"`
	RootHash string `json:"root_hash"`
	FileHash string `json:"file_hash"`
}

func (g *GlobalConfig) name() string {
	if g.Zerostate == nil {
		return ""
	}
	return hex.EncodeToString(g.Zerostate.RootHash)
}

// readTrusted gives the block that trust starts from: the saved one, or the init
// block of the global config. A file of another network is left aside.
func readTrusted(c Configuration, n *GlobalConfig, r report.Reporter) (*ton.BlockIDExt, error) {
	if c.TrustedFile == "" || c.Proofs == Off {
		return n.Init, nil
	}
	text, err := os.ReadFile(c.TrustedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return n.Init, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lite: trusted block: %w", err)
	}
	var saved trustedFile
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("lite: trusted block in %s: %w (delete the file to start from validator.init_block)", c.TrustedFile, err)
	}
	root, errRoot := hex.DecodeString(saved.RootHash)
	file, errFile := hex.DecodeString(saved.FileHash)
	if err := errors.Join(errRoot, errFile); err != nil || len(root) != 32 || len(file) != 32 {
		return nil, fmt.Errorf("lite: trusted block in %s: its hashes are no hashes (delete the file to start from validator.init_block)", c.TrustedFile)
	}
	if saved.Network != n.name() {
		r.Log.Warn().Str("file", c.TrustedFile).Msg("trusted block is of another network: starting from validator.init_block")
		return n.Init, nil
	}
	if n.Init != nil && n.Init.SeqNo >= saved.Seqno {
		return n.Init, nil
	}
	return &ton.BlockIDExt{Workchain: masterWorkchain, Shard: masterShard, SeqNo: saved.Seqno, RootHash: root, FileHash: file}, nil
}

// saveTrusted keeps a key block. Without it the next start proves more.
func (p *Pool) saveTrusted(key *ton.BlockIDExt) {
	path := p.configuration.TrustedFile
	if path == "" {
		return
	}
	text, err := json.Marshal(trustedFile{p.network.name(), key.SeqNo, hex.EncodeToString(key.RootHash), hex.EncodeToString(key.FileHash)})
	if err == nil {
		err = ReplaceFile(path, append(text, '\n'))
	}
	if err != nil {
		p.report.Log.Warn().Err(err).Str("file", path).Msg("trusted block cannot be saved")
	}
}

// ReplaceFile writes a file as a whole: whoever reads it finds the old text or the
// new one. Its folder is made.
func ReplaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}
