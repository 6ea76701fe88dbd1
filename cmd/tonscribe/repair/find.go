package repair

import (
	"context"
	"fmt"
	"time"

	"tonscribe/internal/parts"
)

// find looks at everything that can be wrong.
func (r *run) find(ctx context.Context) ([]parts.Damage, error) {
	if err := r.Watch.Poll(ctx); err != nil {
		return nil, err
	}
	if !r.SkipChecksums {
		began, read, size := time.Now(), 0, uint64(0)
		err := r.Watch.VerifyAll(ctx, func(v parts.Verified) {
			read, size = read+1, v.Bytes
			r.Progress("checksums: " + ahead(float64(v.Bytes)/(1<<20), float64(v.Total)/(1<<20), "MiB", time.Since(began)))
		})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(r.Out, "checksums: %d parts of %.1f MiB were read\n", read, float64(size)/(1<<20))
	}
	counted, err := r.Watch.Count(ctx, 0)
	if err != nil {
		// Counting reads the tables; of damaged ones it may not be able to.
		if len(r.Watch.Damages()) == 0 {
			return nil, err
		}
		counted = nil
	}
	damages := r.Watch.Damages()
	known := parts.Sum(damages)
	for _, d := range counted {
		if from, ok := known[d.Table]; !ok || d.From < from {
			damages = append(damages, d)
		}
	}
	return damages, nil
}

// ahead is how far something is, how fast, and how long it will take.
func ahead(done, total float64, unit string, took time.Duration) string {
	text := fmt.Sprintf("%.0f of %.0f %s", done, total, unit)
	if rate := done / max(took.Seconds(), 1e-3); rate > 0 && took > time.Second {
		text += fmt.Sprintf(", %.0f a second, %s left", rate, time.Duration((total-done)/rate*float64(time.Second)).Round(time.Second))
	}
	return text
}
