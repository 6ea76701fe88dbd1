package api

import "testing"

func TestTextEscapesAsTheContract(t *testing.T) {
	got := string(AppendText(nil, "a<b>&\"\\\n\x01\u2028\u2029é\xff"))
	want := `"a\u003cb\u003e\u0026\"\\\n\u0001\u2028\u2029é\ufffd"`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestShardIsHexWithoutPadding(t *testing.T) {
	for shard, want := range map[uint64]string{1 << 63: `"8000000000000000"`, 0x0800000000000000: `"800000000000000"`, 0: `"0"`} {
		if got := string(AppendShard(nil, shard)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
