package liteserver

import (
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"

	"github.com/xssnick/tonutils-go/ton"
)

// GlobalConfig is the TON global config (JSON) by which clients find this server
// and know what to trust: the zerostate, and masterchain block 1 as init block.
// It is there after Start and the first bundle.
func (c *Component) GlobalConfig() ([]byte, error) {
	if c.listener == nil {
		return nil, errors.New("lite server: not started")
	}
	zero, err := c.dependencies.History.Zerostate(masterchain)
	if err != nil {
		return nil, err
	}
	first, err := c.dependencies.History.BySeqno(masterchain, 1<<63, 1)
	if err != nil {
		return nil, err
	}
	ip := c.Addr().IP.To4()
	if ip == nil || ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1).To4()
	}
	config := NetworkConfig(zero.ID, first.ID)
	config["dht"] = map[string]any{
		"@type": "dht.config.global", "k": 6, "a": 3, "static_nodes": map[string]any{"@type": "dht.nodes", "nodes": []any{}},
	}
	config["liteservers"] = []any{map[string]any{
		"ip":   int32(binary.BigEndian.Uint32(ip)), // signed, the first byte on top
		"port": c.Addr().Port,
		"id":   map[string]any{"@type": "pub.ed25519", "key": []byte(c.configuration.Key.Public().(ed25519.PublicKey))},
	}}
	return json.MarshalIndent(config, "", "  ")
}

// NetworkConfig is a TON global config without servers: it names the zerostate
// and the init block of a chain.
func NetworkConfig(zero, first *ton.BlockIDExt) map[string]any {
	type blockID struct {
		Workchain int32  `json:"workchain"`
		Shard     int64  `json:"shard"`
		Seqno     uint32 `json:"seqno"`
		RootHash  []byte `json:"root_hash"`
		FileHash  []byte `json:"file_hash"`
	}
	return map[string]any{
		"@type": "config.global", "liteservers": []any{},
		"validator": map[string]any{
			"@type":      "validator.config.global",
			"zero_state": blockID{zero.Workchain, zero.Shard, zero.SeqNo, zero.RootHash, zero.FileHash},
			"init_block": blockID{first.Workchain, first.Shard, first.SeqNo, first.RootHash, first.FileHash},
			"hardforks":  []any{},
		},
	}
}
