package cell

import (
	"bytes"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

func TestAPartyIsReadOutOfEveryFormOfAnAddress(t *testing.T) {
	id := bytes.Repeat([]byte{0xA1}, 32)
	account := append([]byte{0xff, 0xff, 0xff, 0xff}, id...)
	cast := append([]byte{0xff, 0xff, 0xff, 0xff, 0x51}, id[1:]...) // 0101 in place of 1010
	begin := cell.BeginCell
	for what, c := range map[string]struct {
		address *cell.Builder
		want    []byte
	}{
		"addr_none":                   {begin().MustStoreUInt(0, 2), nil},
		"addr_extern":                 {begin().MustStoreUInt(1, 2).MustStoreUInt(12, 9).MustStoreUInt(5, 12), nil},
		"an empty addr_extern":        {begin().MustStoreUInt(1, 2).MustStoreUInt(0, 9), nil},
		"addr_std":                    {begin().MustStoreUInt(0b100, 3).MustStoreInt(-1, 8).MustStoreSlice(id, 256), account},
		"addr_std with anycast":       {begin().MustStoreUInt(0b101, 3).MustStoreUInt(4, 5).MustStoreUInt(0b0101, 4).MustStoreInt(-1, 8).MustStoreSlice(id, 256), cast},
		"addr_var of 256 bits":        {begin().MustStoreUInt(0b110, 3).MustStoreUInt(256, 9).MustStoreInt(-1, 32).MustStoreSlice(id, 256), account},
		"addr_var of 8 bits":          {begin().MustStoreUInt(0b110, 3).MustStoreUInt(8, 9).MustStoreInt(-1, 32).MustStoreUInt(5, 8), nil},
		"addr_var of a far workchain": {begin().MustStoreUInt(0b110, 3).MustStoreUInt(256, 9).MustStoreInt(1000, 32).MustStoreSlice(id, 256), nil},
		"addr_var with anycast":       {begin().MustStoreUInt(0b111, 3).MustStoreUInt(4, 5).MustStoreUInt(0b0101, 4).MustStoreUInt(256, 9).MustStoreInt(-1, 32).MustStoreSlice(id, 256), cast},
	} {
		whole := c.address.EndCell()
		r := NewReader(begin().MustStoreBuilder(whole.ToBuilder()).MustStoreUInt(7, 8).EndCell())
		if got, behind := r.Party(), r.Uint(8); !bytes.Equal(got, c.want) || behind != 7 || r.Err() != nil {
			t.Errorf("%s: %x, %d behind it, %v; want %x and 7", what, got, behind, r.Err(), c.want)
		}
		bits := whole.BitsSize() - 1
		cut := NewReader(begin().MustStoreSlice(whole.MustBeginParse().MustLoadSlice(bits), bits).EndCell())
		if got := cut.Party(); got != nil || cut.Err() == nil {
			t.Errorf("%s that is cut off: %x, %v; want an error", what, got, cut.Err())
		}
	}
}
