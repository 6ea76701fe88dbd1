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
	config := globalConfig{
		Type: "config.global",
		DHT:  dhtConfig{Type: "dht.config.global", K: 6, A: 3, Nodes: dhtNodes{Type: "dht.nodes", Nodes: []struct{}{}}},
		Liteservers: []liteserver{{
			IP: int32(binary.BigEndian.Uint32(ip)), Port: c.Addr().Port,
			ID: publicKey{Type: "pub.ed25519", Key: c.configuration.Key.Public().(ed25519.PublicKey)},
		}},
		Validator: validatorConfig{Type: "validator.config.global", Zerostate: configBlock(zero.ID), Init: configBlock(first.ID), Hardforks: []blockID{}},
	}
	return json.MarshalIndent(config, "", "  ")
}

type globalConfig struct {
	Type        string          `json:"@type"`
	DHT         dhtConfig       `json:"dht"`
	Liteservers []liteserver    `json:"liteservers"`
	Validator   validatorConfig `json:"validator"`
}

type dhtConfig struct {
	Type  string   `json:"@type"`
	K     int      `json:"k"`
	A     int      `json:"a"`
	Nodes dhtNodes `json:"static_nodes"`
}

type dhtNodes struct {
	Type  string     `json:"@type"`
	Nodes []struct{} `json:"nodes"`
}

// liteserver has its IPv4 address as a signed number, the first byte on top.
type liteserver struct {
	IP   int32     `json:"ip"`
	Port int       `json:"port"`
	ID   publicKey `json:"id"`
}

type publicKey struct {
	Type string `json:"@type"`
	Key  []byte `json:"key"`
}

type validatorConfig struct {
	Type      string    `json:"@type"`
	Zerostate blockID   `json:"zero_state"`
	Init      blockID   `json:"init_block"`
	Hardforks []blockID `json:"hardforks"`
}

type blockID struct {
	Workchain int32  `json:"workchain"`
	Shard     int64  `json:"shard"`
	Seqno     uint32 `json:"seqno"`
	RootHash  []byte `json:"root_hash"`
	FileHash  []byte `json:"file_hash"`
}

func configBlock(id *ton.BlockIDExt) blockID {
	return blockID{Workchain: id.Workchain, Shard: id.Shard, Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
}
