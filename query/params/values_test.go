package params

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/costtest"
)

// A query string may have a megabyte.
func TestManyNamesAndValuesCostNoMoreThanTheirBytes(t *testing.T) {
	var names, hashes strings.Builder
	for i := 0; names.Len() < 1<<20; i++ {
		fmt.Fprintf(&names, "%05x&", i)
	}
	hashes.WriteString("hash=")
	for i := 0; hashes.Len() < 1<<20; i++ {
		fmt.Fprintf(&hashes, "%064x,", i)
	}
	for what, query := range map[string]string{"names that nobody knows": names.String(), "hashes behind commas": hashes.String()} {
		costtest.Within(t, 300*time.Millisecond, 256<<20, func() {
			v, err := Parse(everyKind, query)
			if what == "names that nobody knows" && (err != nil || len(v.Unknown) == 0) || what != "names that nobody knows" && err == nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
}
