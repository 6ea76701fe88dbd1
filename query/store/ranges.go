package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ClickHouse/ch-go"
)

// maxRangeRows is how many rows each of many ranges of a key may have, on average,
// so that one statement reads them together.
const maxRangeRows = 2048

// readRanges reads what many ranges of a key have, a range for each of some values:
// all in one statement, which goes through them whole, where they are short. Where
// ClickHouse says that they are not, halves are read side by side, down to a few
// that are read each for itself, up to its limit.
func readRanges[V, R any](ctx context.Context, values []V, together func(context.Context, []V) ([]R, error), apart func(context.Context, []V) ([]R, error)) ([]R, error) {
	if len(values) <= maxPieces {
		return apart(ctx, values)
	}
	list, err := together(ctx, values)
	if !isTooManyRows(err) {
		return list, err
	}
	halves := slices.Collect(slices.Chunk(values, (len(values)+1)/2))
	return gather(ctx, halves, func(ctx context.Context, half []V) ([]R, error) { return readRanges(ctx, half, together, apart) })
}

// shortRanges ends a statement that is refused before it reads anything unless so
// many ranges are short.
func shortRanges(ranges int) string {
	return fmt.Sprintf(" SETTINGS max_rows_to_read = %d", ranges*maxRangeRows)
}

func isTooManyRows(err error) bool {
	var exception *ch.Exception
	return errors.As(err, &exception) && exception.Code == codeTooManyRows
}
