package reader

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/internal/clickhouse"
)

// grouped writes a number as texts do: 200,000.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

func TestTheArchitectureTellsTheBoundsOfARequest(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What one request may cost")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, want := range []string{
		fmt.Sprintf("at most %s rows", grouped(MaxScanRows)),
		fmt.Sprintf("%s for each row of the page and each value named", grouped(MaxItemRows)),
		fmt.Sprintf("%d for each row skipped", MaxSkippedRows),
		fmt.Sprintf("%d KiB for each row of the page and each value named", itemBytes>>10),
		fmt.Sprintf("%d bytes for each row skipped", skippedBytes),
		fmt.Sprintf("%d times `query.scan_bytes`", countFactor),
		fmt.Sprintf("at most %s records", grouped(maxDropped)),
		fmt.Sprintf("%s rows more are allowed in all and %d KiB for each statement", grouped(partRows), partBytes>>10),
		fmt.Sprintf("%d MiB of memory", maxStatementMemory>>20), fmt.Sprintf("%d MiB of records", maxReadBytes>>20),
	} {
		if !strings.Contains(section, want) {
			t.Errorf("docs/architecture.md does not say %q", want)
		}
	}
}

// An answer may have any number of accounts, and the server may be busy: then all are read in
// as few statements as can name them.
func TestAStatementNamesABoundedNumberOfKeys(t *testing.T) {
	keys := make([]int, 2*MaxNamed+1)
	for i := range keys {
		keys[i] = len(keys) - i
	}
	parts := Chunks(keys, 1, cmp.Compare[int])
	for _, part := range parts {
		if len(part) > MaxNamed {
			t.Errorf("%d keys in one statement", len(part))
		}
	}
	if slices.Sort(keys); !slices.Equal(slices.Concat(parts...), keys) || len(parts) != 3 {
		t.Errorf("%d parts, or not all keys in order", len(parts))
	}
}

// Records of strangers may be large, and a page has many.
func TestARequestIsGivenSoManyBytesTogether(t *testing.T) {
	var record proto.ColStr
	record.AppendBytes(make([]byte, 1<<20))
	block := proto.Results{{Name: "n", Data: new(proto.ColUInt64)}, {Name: "record", Data: &record}}
	r, given := &Request{}, 0
	for ; r.charge(block) == nil; given += len(record.Buf) {
	}
	if given != maxReadBytes || !errors.Is(r.charge(block), clickhouse.ErrTooHeavy) {
		t.Errorf("%d bytes are given, want %d", given, maxReadBytes)
	}
	if err := (*Request)(nil).charge(block); err != nil {
		t.Error("what the service reads by itself is bounded:", err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	if (Configuration{Connections: math.MaxInt, ClientConnections: 1, ScanBytes: 1 << 20}).Validate() == nil {
		t.Error("any number of connections is accepted")
	}
}
