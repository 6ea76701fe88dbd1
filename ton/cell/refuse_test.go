package cell

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"
)

// raw puts cells, given in hex with one-byte references, into a BoC. A cell is
// "d1 d2 data refs"; spaces are ignored.
func raw(crc bool, cells ...string) []byte {
	var data []byte
	for _, c := range cells {
		b, err := hex.DecodeString(strings.ReplaceAll(c, " ", ""))
		if err != nil {
			panic(err)
		}
		data = append(data, b...)
	}
	flags := byte(1)
	if crc {
		flags |= 0x40
	}
	boc := []byte{0xb5, 0xee, 0x9c, 0x72, flags, 2, byte(len(cells)), 1, 0}
	boc = binary.BigEndian.AppendUint16(boc, uint16(len(data)))
	boc = append(append(boc, 0), data...)
	if crc {
		boc = binary.LittleEndian.AppendUint32(boc, crc32.Checksum(boc, castagnoli))
	}
	return boc
}

const (
	zeros  = "0000000000000000000000000000000000000000000000000000000000000000"
	leafAB = "0002ab"
)

func TestBadBagsOfCellsAreRefused(t *testing.T) {
	hashAB := func() string {
		b, err := Parse(raw(false, leafAB))
		if err != nil {
			t.Fatal(err)
		}
		return hex.EncodeToString(b.Root(0).Hash()[:])
	}()
	cases := map[string]struct {
		cells []string
		want  error
	}{
		"reference to itself":           {[]string{"0100 00"}, ErrFormat},
		"reference backwards":           {[]string{"0100 01", "0100 00"}, ErrFormat},
		"reference past the end":        {[]string{"0100 01"}, ErrFormat},
		"five references":               {[]string{"0500 0101010101", "0000"}, ErrFormat},
		"absent cell":                   {[]string{"1700"}, ErrFormat},
		"cell nobody refers to":         {[]string{"0000", "0000"}, ErrFormat},
		"no completion bit":             {[]string{"0001 00"}, ErrFormat},
		"whole byte with a tag":         {[]string{"0001 80"}, ErrFormat},
		"cut off in the data":           {[]string{"0010 01"}, ErrFormat},
		"cut off in the descriptors":    {[]string{"0000 00"}, ErrFormat},
		"level without pruned branch":   {[]string{"2002 ab"}, ErrFormat},
		"level missing above":           {[]string{"0100 01", "2848 0101" + zeros + "0003"}, ErrFormat},
		"exotic without type":           {[]string{"0800"}, ErrExotic},
		"exotic of unknown type":        {[]string{"0802 05"}, ErrExotic},
		"pruned branch of level 0":      {[]string{"0804 0100"}, ErrExotic},
		"pruned branch of level 4":      {[]string{"8848 0108" + zeros + "0003"}, ErrExotic},
		"pruned branch too short":       {[]string{"2846 0101" + zeros + "00"}, ErrExotic},
		"pruned branch with child":      {[]string{"2948 0101" + zeros + "0003 01", leafAB}, ErrExotic},
		"pruned branch too deep":        {[]string{"2848 0101" + zeros + "ffff"}, ErrLimit},
		"library too long":              {[]string{"0844 02" + zeros + "00"}, ErrExotic},
		"library with child":            {[]string{"0942 02" + zeros + "01", leafAB}, ErrExotic},
		"merkle proof of another cell":  {[]string{"0946 03" + zeros + "0000 01", leafAB}, ErrExotic},
		"merkle proof of another depth": {[]string{"0946 03" + hashAB + "0001 01", leafAB}, ErrExotic},
		"merkle proof without child":    {[]string{"0846 03" + hashAB + "0000"}, ErrExotic},
		"merkle update of one child":    {[]string{"098a 04" + hashAB + hashAB + "00000000 01", leafAB}, ErrExotic},
		"merkle update of another cell": {[]string{"0a8a 04" + hashAB + zeros + "00000000 0101", leafAB}, ErrExotic},
		"wrong stored hash":             {[]string{"1002" + zeros + "0000 ab"}, ErrHash},
		"wrong stored depth":            {[]string{"1002" + hashAB + "0001 ab"}, ErrHash},
	}
	for name, c := range cases {
		for _, crc := range []bool{false, true} {
			if _, err := Parse(raw(crc, c.cells...)); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
	}
	good := map[string][]string{
		"merkle proof":  {"0946 03" + hashAB + "0000 01", leafAB},
		"merkle update": {"0a8a 04" + hashAB + hashAB + "00000000 0101", leafAB},
		"pruned branch": {"2848 0101" + zeros + "0003"},
		"two levels":    {"688c 0103" + zeros + zeros + "00030002"},
		"library":       {"0842 02" + zeros},
		"stored hash":   {"1002" + hashAB + "0000 ab"},
	}
	for name, cells := range good {
		if _, err := Parse(raw(true, cells...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadHeadersAreRefused(t *testing.T) {
	good := raw(true, "0100 01", leafAB)
	for i := range 11 {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << bit
			binary.LittleEndian.PutUint32(bad[len(bad)-4:], crc32.Checksum(bad[:len(bad)-4], castagnoli))
			if _, err := Parse(bad); err == nil {
				t.Errorf("bit %d of byte %d: no error", bit, i)
			}
		}
	}
	for n := range good {
		if _, err := Parse(good[:n]); err == nil {
			t.Errorf("cut at %d: no error", n)
		}
	}
	if _, err := Parse(append(bytes.Clone(good), 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("byte at the end: %v", err)
	}
	if _, err := Parse(make([]byte, MaxSize+1)); !errors.Is(err, ErrLimit) {
		t.Errorf("too large: %v", err)
	}
	wrong := tcell.BeginCell().MustStoreUInt(1, 8).MustStoreRef(tcell.BeginCell().EndCell()).EndCell().
		ToBOCWithOptions(tcell.BOCSerializeOptions{WithIndex: true})
	wrong[11]++ // the first entry of the index
	if _, err := Parse(wrong); !errors.Is(err, ErrFormat) {
		t.Errorf("wrong index: %v", err)
	}
}

func TestTooDeepTreesAreRefused(t *testing.T) {
	var cells []string
	for i := range 250 {
		cells = append(cells, "0100"+hex.EncodeToString([]byte{byte(i + 1)}))
	}
	if _, err := Parse(raw(true, append(cells, "2848 0101"+zeros+"0400")...)); !errors.Is(err, ErrFormat) {
		t.Errorf("levels missing: %v", err)
	}
	for i := range cells {
		cells[i] = "21" + cells[i][2:]
	}
	if _, err := Parse(raw(true, append(cells, "2848 0101"+zeros+"0400")...)); !errors.Is(err, ErrLimit) {
		t.Errorf("too deep: %v", err)
	}
	if _, err := Parse(raw(true, append(cells, "2848 0101"+zeros+"0300")...)); err != nil {
		t.Errorf("deep enough: %v", err)
	}
}
