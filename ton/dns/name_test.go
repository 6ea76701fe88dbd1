package dns

import (
	"strings"
	"testing"
)

func TestNamesAreWrittenFromTheLastLabel(t *testing.T) {
	long := strings.Repeat("a", MaxName)
	for name, want := range map[string]string{
		"": "\x00", ".": "\x00", "ton": "ton\x00", "mysite.test.ton": "ton\x00test\x00mysite\x00", "test.ton.": "ton\x00test\x00", long: long + "\x00",
	} {
		encoded, err := Encode(name)
		if err != nil || string(encoded) != want || len(encoded) > MaxEncoded {
			t.Errorf("%q: %q and %v, want %q", name, encoded, err, want)
		}
		if back := Decode(encoded); back != strings.TrimSuffix(name, ".") {
			t.Errorf("%q comes back as %q", name, back)
		}
	}
	for name, want := range map[string]string{
		long + "a": "name is longer than 126 bytes", "a..b": "failed to parse name", ".a": "failed to parse name", "a\x00b": "failed to parse name", "..": "failed to parse name",
	} {
		if encoded, err := Encode(name); err == nil || err.Error() != want {
			t.Errorf("%q: %q and %v, want %s", name, encoded, err, want)
		}
	}
}
