package lite

import (
	"errors"
	"strings"
	"testing"
)

func TestWhenNobodyCanBeAskedTheErrorSaysSoWithoutAReasonThatIsNotThere(t *testing.T) {
	err := (&race{pool: &Pool{}}).gaveUp(t.Context())
	if !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "%!") {
		t.Errorf("got %v, want %v", err, ErrUnavailable)
	}
}
