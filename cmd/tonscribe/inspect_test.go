package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestABagOfCellsIsReadInWhateverFormToolsPrintIt(t *testing.T) {
	boc := append([]byte{0xb5, 0xee, 0x9c, 0x72, ' ', '\n', 0xfb, 0xff}, bytes.Repeat([]byte{0xf8, 0x3e}, 60)...)
	inHex, inBase64, ofURLs := hex.EncodeToString(boc), base64.StdEncoding.EncodeToString(boc), base64.URLEncoding.EncodeToString(boc)
	if !strings.HasSuffix(inBase64, "=") || inBase64 == ofURLs {
		t.Fatalf("%s has no padding, or no digit that URLs spell otherwise", inBase64)
	}
	lines := func(text string) string { return text[:64] + "\r\n" + text[64:] + "\n" }
	for form, text := range map[string]string{
		"bytes": string(boc), "hex": inHex, "upper-case hex": strings.ToUpper(inHex), "hex after 0x": "0x" + inHex, "lines of hex": lines(inHex),
		"base64": inBase64, "lines of base64": lines(inBase64), "base64 of URLs": ofURLs, "base64 without padding": strings.TrimRight(inBase64, "="),
		"base64 of URLs without padding": strings.TrimRight(ofURLs, "=") + "\n", "a string of JSON": `"` + inBase64 + `"`,
	} {
		if got, err := readBoC("-", strings.NewReader(text)); err != nil || !bytes.Equal(got, boc) {
			t.Errorf("%s: %x, %v in place of %x", form, got, err, boc)
		}
	}
}

// neverEnding is a file that never ends.
type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }

func TestAFileThatIsTooLargeIsNotReadToItsEnd(t *testing.T) {
	const limit = 2 << 20
	if got, err := readAtMost(limit, "FILE", bytes.NewReader(make([]byte, limit))); err != nil || len(got) != limit {
		t.Errorf("of %d bytes %d are read, %v", limit, len(got), err)
	}
	if got, err := readAtMost(limit, "FILE", neverEnding{}); err == nil || err.Error() != "FILE has more than 2 MiB" {
		t.Errorf("of a file without end %d bytes are read, %v", len(got), err)
	}
}
