package send

import "time"

// retries are the pauses of the schedule, each from the end of the attempt that failed.
var retries = [...]time.Duration{time.Second, 5 * time.Second, maxPause}

// maxPause is the longest of them.
const maxPause = 15 * time.Second

// Attempts is how many attempts the schedule has.
const Attempts = len(retries) + 1

// after returns when the attempt that follows a failed one is due, false after the last
// one.
func after(number int, ended time.Time) (due time.Time, more bool) {
	if number >= Attempts {
		return time.Time{}, false
	}
	return ended.Add(retries[number-1]), true
}
