package lite

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/xssnick/tonutils-go/ton"
)

// GlobalConfig is what a TON global config says.
type GlobalConfig struct {
	source    string // where it was read, for messages
	servers   []endpoint
	Zerostate *ton.BlockIDExt // nil when it names none
	Init      *ton.BlockIDExt // nil when it names none
}

// Servers is how many lite servers it names.
func (g *GlobalConfig) Servers() int { return len(g.servers) }

// endpoint is where a lite server listens, and the key it proves itself with.
type endpoint struct {
	host string // host:port
	key  ed25519.PublicKey
}

// globalFile is the part of a global config that lite clients need.
type globalFile struct {
	Liteservers []struct {
		IP   int64 `json:"ip"` // IPv4, in most files as a signed 32-bit number
		Port uint16
		ID   struct {
			Key []byte `json:"key"`
		} `json:"id"`
	} `json:"liteservers"`
	Validator struct {
		ZeroState *configBlock `json:"zero_state"`
		InitBlock *configBlock `json:"init_block"`
	} `json:"validator"`
}

type configBlock struct {
	Workchain int32  `json:"workchain"`
	Shard     int64  `json:"shard"`
	Seqno     uint32 `json:"seqno"`
	RootHash  []byte `json:"root_hash"`
	FileHash  []byte `json:"file_hash"`
}

func readNetwork(c Configuration) (*GlobalConfig, error) {
	text, where := c.Inline, "inline"
	if len(text) == 0 {
		var err error
		if text, err = os.ReadFile(c.Config); err != nil {
			return nil, fmt.Errorf("TON global config: %w", err)
		}
		where = c.Config
	}
	g, err := ReadGlobalConfig(text)
	if err != nil {
		return nil, fmt.Errorf("TON global config %s: %w", where, err)
	}
	if g.Zerostate != nil && !c.isOf(g.Zerostate.RootHash) {
		return nil, fmt.Errorf("TON global config %s is of another chain than the one that is meant: its zerostate is %X, not %s: name its network with --network, or set ingest.zerostate to what it is there",
			where, g.Zerostate.RootHash, c.Zerostate)
	}
	g.source = where
	return g, nil
}

// isOf reports whether a zerostate is that of the chain that is meant.
func (c Configuration) isOf(rootHash []byte) bool {
	return c.Zerostate == "" || strings.EqualFold(c.Zerostate, hex.EncodeToString(rootHash))
}

// ReadGlobalConfig reads the text of a TON global config.
func ReadGlobalConfig(text []byte) (*GlobalConfig, error) {
	var config globalFile
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	if len(config.Liteservers) == 0 {
		return nil, fmt.Errorf("it names no liteservers")
	}
	g := &GlobalConfig{}
	seen := map[string]bool{}
	for i, s := range config.Liteservers {
		if len(s.ID.Key) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("liteserver %d: its key has %d bytes, not %d", i+1, len(s.ID.Key), ed25519.PublicKeySize)
		}
		ip := uint32(s.IP)
		host := netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), s.Port).String()
		if seen[host] {
			continue
		}
		seen[host] = true
		g.servers = append(g.servers, endpoint{host: host, key: s.ID.Key})
	}
	var err error
	if g.Zerostate, err = config.Validator.ZeroState.id("zero_state"); err != nil {
		return nil, err
	}
	g.Init, err = config.Validator.InitBlock.id("init_block")
	return g, err
}

func (b *configBlock) id(name string) (*ton.BlockIDExt, error) {
	if b == nil {
		return nil, nil
	}
	if len(b.RootHash) != 32 || len(b.FileHash) != 32 {
		return nil, fmt.Errorf("%s: its hashes have %d and %d bytes, not 32", name, len(b.RootHash), len(b.FileHash))
	}
	if b.Workchain != masterWorkchain || b.Shard != masterShard {
		return nil, fmt.Errorf("%s: not a block of the masterchain", name)
	}
	return &ton.BlockIDExt{Workchain: b.Workchain, Shard: b.Shard, SeqNo: b.Seqno, RootHash: b.RootHash, FileHash: b.FileHash}, nil
}
