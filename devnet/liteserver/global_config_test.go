package liteserver

import (
	"encoding/json"
	"testing"

	"tonscribe/devnet/chain"
)

func TestTheGlobalConfigNamesServerZerostateAndFirstBlock(t *testing.T) {
	d := newDevnet(t, chain.Options{})
	data, err := d.GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Liteservers []struct {
			IP   int32 `json:"ip"`
			Port int   `json:"port"`
			ID   struct {
				Type string `json:"@type"`
				Key  []byte `json:"key"`
			} `json:"id"`
		} `json:"liteservers"`
		Validator struct {
			Zerostate struct {
				Workchain int32  `json:"workchain"`
				Shard     int64  `json:"shard"`
				Seqno     uint32 `json:"seqno"`
				FileHash  []byte `json:"file_hash"`
			} `json:"zero_state"`
			Init struct {
				Seqno    uint32 `json:"seqno"`
				RootHash []byte `json:"root_hash"`
			} `json:"init_block"`
		} `json:"validator"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	server, zero, first := config.Liteservers[0], config.Validator.Zerostate, config.Validator.Init
	if server.IP != 127<<24|1 || server.Port != d.Addr().Port || server.ID.Type != "pub.ed25519" || len(server.ID.Key) != 32 {
		t.Errorf("server: got %+v, want 127.0.0.1 and port %d", server, d.Addr().Port)
	}
	made, err := d.store.Zerostate(masterchain)
	if err != nil || zero.Workchain != -1 || zero.Shard != wholeShard || zero.Seqno != 0 || string(zero.FileHash) != string(made.ID.FileHash) {
		t.Errorf("zerostate: got %+v (%v), want %+v", zero, err, made.ID)
	}
	if id := d.first(t); first.Seqno != 1 || string(first.RootHash) != string(id.RootHash) {
		t.Errorf("init block: got %+v, want %+v", first, id)
	}
}
