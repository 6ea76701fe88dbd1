package action

import (
	"slices"

	"tonscribe/schema/record"
)

// What a trace was is one record of the log, which takes records up to a size
// (schema.Traces), while actions have what messages carry once more.
const (
	// maxActionBytes is how much the actions of a trace have whatever is in them. Where
	// they have more, those that are larger than their share are shortened.
	maxActionBytes = 8 << 20
	// maxDetail is the largest detail of those, maxNames how many accounts, and how many
	// transactions, they have.
	maxDetail = 256
	maxNames  = 64
	// maxShortened is how much they have then; those behind it are left out.
	maxShortened = 12 << 20
	// actionHead is what a list needs for each of them.
	actionHead = 8
)

// Records returns the actions of a trace as they travel between stages, as far as they fit
// into a record.
func Records(found []*Action) []*record.Action {
	actions := make([]*record.Action, len(found))
	size := 0
	for i, a := range found {
		actions[i] = a.Record()
		size += actions[i].SizeVT() + actionHead
	}
	if size <= maxActionBytes {
		return actions
	}
	size = 0
	for i, a := range actions {
		if a.SizeVT() > maxActionBytes/len(actions) {
			a.Accounts, a.Transactions = a.Accounts[:min(len(a.Accounts), maxNames)], a.Transactions[:min(len(a.Transactions), maxNames)]
			a.Details = shortOf(a.Details)
		}
		if size += a.SizeVT() + actionHead; size > maxShortened {
			return actions[:i]
		}
	}
	return actions
}

// shortOf are the details that are not long.
func shortOf(details []*record.ActionDetail) []*record.ActionDetail {
	return slices.DeleteFunc(details, func(d *record.ActionDetail) bool {
		if o := d.GetObject(); o != nil {
			o.Details = shortOf(o.Details)
			return false
		}
		return d.SizeVT() > maxDetail
	})
}
