package repair

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/parts"
)

// finish drops what is damaged or lies aside, now that its rows are back, and
// looks whether anything is left to do.
func (r *run) finish(ctx context.Context, damages []parts.Damage) error {
	for _, d := range damages {
		if d.Part == "" || !d.Active && !d.Detached {
			continue
		}
		if err := r.drop(ctx, d); err != nil {
			return err
		}
		fmt.Fprintf(r.Out, "table %s: part %s is dropped\n", d.Table, d.Part)
	}
	touched := map[string]bool{}
	done := map[string]bool{}
	for _, d := range damages {
		touched[d.Table] = true
		for _, statement := range otherTables[d.Table].statements {
			if done[statement] {
				continue
			}
			done[statement] = true
			if err := r.Tables.Conn().Exec(clickhouse.Foreground(ctx), statement); err != nil {
				return fmt.Errorf("table %s: %w", d.Table, err)
			}
		}
		for _, name := range otherTables[d.Table].emptied {
			touched[name] = true
			if err := r.Tables.Empty(ctx, name); err != nil {
				return err
			}
		}
	}
	if done[touchDays[0]] {
		if err := r.computeDays(ctx); err != nil {
			return err
		}
	}
	if touched["schema_migrations"] {
		if err := r.MakeTables(ctx); err != nil {
			return err
		}
	}
	if err := r.Watch.Accept(ctx, slices.Sorted(maps.Keys(touched))); err != nil {
		return err
	}
	left := r.Watch.Damages()
	counted, err := r.Watch.Count(ctx, 0)
	if err != nil {
		return err
	}
	if left = append(left, counted...); len(left) > 0 {
		for _, d := range left {
			fmt.Fprintln(r.Out, d)
		}
		return fmt.Errorf("%w: %s; run it again, with --source", ErrDamaged, left[0])
	}
	fmt.Fprintln(r.Out, "nothing is damaged any more; `tonscribe verify` proves it")
	return nil
}

// computeDays makes the figures of touched days. That takes as long as the index has days,
// and views do it by themselves: what hinders it hinders no repair.
func (r *run) computeDays(ctx context.Context) error {
	for _, view := range dayViews {
		if err := r.Tables.Refresh(ctx, view); err != nil {
			fmt.Fprintf(r.Out, "ready figures will be computed within minutes, not now: %v\n", err)
			break
		}
	}
	return ctx.Err()
}

// drop takes a part away for good.
func (r *run) drop(ctx context.Context, d parts.Damage) error {
	table, part := d.Table, d.Part
	if d.Active {
		if err := r.Watch.Exec(ctx, fmt.Sprintf("ALTER TABLE `%s` DETACH PART '%s'", table, part)); err != nil {
			return err
		}
	}
	return r.Watch.Exec(ctx, fmt.Sprintf("ALTER TABLE `%s` DROP DETACHED PART '%s'", table, part))
}
