package params

import (
	"strings"
	"testing"
)

// Clients page on while servers are replaced by newer ones.
func TestCursorsOfEarlierVersionsAreTaken(t *testing.T) {
	v, err := Parse(everyKind, "account=-1:"+strings.Repeat("a1", 32)+"&destination=null&hash="+strings.Repeat("5", 64)+"&opcode=0x0f8a7ea5&symbol=a&word=b&flag=on&limit=7")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := v.Fingerprint(), uint32(0x2983d4db); got != want {
		t.Errorf("the fingerprint is %#x, want %#x", got, want)
	}
}
