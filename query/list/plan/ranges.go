package plan

import (
	"context"
	"slices"
	"sort"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/reader"
)

const (
	// MaxRanges is the most ranges that are read each for itself; each inner select
	// costs about half a millisecond of planning.
	MaxRanges = 8
	// maxRangeRows is how many rows each of many ranges may have, on average, so that
	// one statement reads them together.
	maxRangeRows = 2048
)

// rows reads up to limit rows of a list from the group of a row on, in its order
// but for those of one group.
func (p *Plan) rows(ctx context.Context, s Source, from Row, limit int) ([]Row, error) {
	var all []Row
	var err error
	if p.ByOwner {
		all, err = p.ownersRows(ctx, s, from, limit)
	} else {
		all, err = p.rangesRows(ctx, s, p.Ranges, from, limit)
	}
	if err != nil {
		return nil, err
	}
	if len(p.Ranges) > 1 || len(s.Memory) > 0 {
		slices.SortStableFunc(all, p.Compare)
	}
	// What some range, or memory, has behind the limit may come before the rest.
	return all[:min(limit, len(all))], nil
}

// ownersRows reads ranges in the order of their owners: of the one that the page
// before ended with, what is left.
func (p *Plan) ownersRows(ctx context.Context, s Source, from Row, limit int) (all []Row, err error) {
	ranges := p.Ranges
	if from != nil {
		ranges = slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return r.Owner.Compare(from.Account(p.Order[0].At)) < 0 })
	}
	for i := range ranges {
		var rest Row
		if r := &ranges[i]; from != nil && r.Owner == from.Account(p.Order[0].At) {
			rest = from
		}
		if len(ranges) > MaxRanges && rest == nil {
			list, err := p.rangesRows(ctx, s, ranges[i:], nil, limit)
			return append(all, list...), err
		}
		list, err := p.Read(ctx, s, p.Statement(&ranges[i], rest, limit), rest, ranges[i])
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(all) >= limit && (i+1 == len(ranges) || ranges[i+1].Owner != ranges[i].Owner) {
			break
		}
	}
	return all, nil
}

// rangesRows reads up to limit rows of each range, 0 for all, in no order: those
// that are alike in one statement where they are short.
func (p *Plan) rangesRows(ctx context.Context, s Source, ranges []Range, from Row, limit int) (all []Row, err error) {
	for len(ranges) > 0 {
		var alike, others []Range
		for _, r := range ranges {
			if r.alike(&ranges[0]) {
				alike = append(alike, r)
			} else {
				others = append(others, r)
			}
		}
		list, err := p.alikeRows(ctx, s, alike, from, limit)
		if err != nil {
			return nil, err
		}
		all, ranges = append(all, list...), others
	}
	return all, nil
}

// alikeRows reads many ranges in one statement, which goes through them whole, where
// they are short. Where ClickHouse says that they are not, halves are read side by
// side, down to a few that are read each for itself, up to its limit.
func (p *Plan) alikeRows(ctx context.Context, s Source, ranges []Range, from Row, limit int) ([]Row, error) {
	if len(ranges) <= MaxRanges {
		parts := s.Tables.Splits(reader.SplitRows * len(ranges))
		return reader.Gather(ctx, slices.Collect(slices.Chunk(ranges, (len(ranges)+parts-1)/parts)), func(ctx context.Context, some []Range) ([]Row, error) {
			return p.Read(ctx, s, p.union(some, from, limit), from, some...)
		})
	}
	list, err := p.Read(ctx, s, p.together(ranges, from, limit), from, ranges...)
	if !clickhouse.IsTooManyRows(err) {
		return list, err
	}
	halves := slices.Collect(slices.Chunk(ranges, (len(ranges)+1)/2))
	return reader.Gather(ctx, halves, func(ctx context.Context, half []Range) ([]Row, error) { return p.alikeRows(ctx, s, half, from, limit) })
}

// wholeRows reads all ranges once, and gives parts of them afterwards.
func (p *Plan) wholeRows(s Source) func(context.Context, Row, int) ([]Row, error) {
	var all []Row
	read := false
	return func(ctx context.Context, from Row, limit int) (_ []Row, err error) {
		if !read {
			if all, err = p.rangesRows(ctx, s, p.Ranges, nil, 0); err != nil {
				return nil, err
			}
			slices.SortFunc(all, p.Compare)
			read = true
		}
		rest := all
		if from != nil {
			rest = all[sort.Search(len(all), func(i int) bool { return p.Compare(all[i], from) >= 0 }):]
		}
		return slices.Clone(rest[:min(limit, len(rest))]), nil
	}
}
