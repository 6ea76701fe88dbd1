// Package streams is the client side of `tonscribe bench streams`: many streams of the
// API in one process, which notes when each event came, and what the index says that each
// stream must have had. In: a plan of streams, and pages of the v3 layer. Out: what every
// stream received. It reads of events only where they stand in the chain, so that it takes
// little of the processor that the server is measured on.
package streams

import (
	"cmp"

	"tonscribe/query/live/events"
)

// Plan is what a process of clients is to do.
type Plan struct {
	Server string // HOST:PORT
	Key    string
	// Accounts are those that streams name by their numbers.
	Accounts []string
	Streams  []Stream
}

// Stream is one that a client opens.
type Stream struct {
	Socket   bool // a WebSocket; else a stream of events
	Stalls   bool // it stops reading when it is told to
	Accounts []int32
}

// Types are what all streams are of: what can be found again in the index, event by event.
var Types = []string{transactionsType, actionsType, stateType}

const (
	transactionsType = "transactions"
	actionsType      = "actions"
	stateType        = "account_state_change"
)

// Event is one that was received, or is to be.
type Event struct {
	Position events.Position
	Type     uint8 // index of Types
	At       int64 // Unix time in nanoseconds
}

func (e Event) compare(o Event) int {
	return cmp.Or(e.Position.Compare(o.Position), cmp.Compare(e.Type, o.Type))
}

// Received is what one stream got.
type Received struct {
	// Begun is the position behind which it began.
	Begun  events.Position
	Events []Event
	// Told is how often it was ended as too slow with a position, Cut how often without.
	Told, Cut int
	// Moved is how often the position that it was told is not that of its last event.
	Moved int
	Err   string
	// Why is how it was ended without a position.
	Why string
}

// order is what a process is told.
type order struct{ Stall, End bool }

// opened is what it answers when all streams are open.
type opened struct{ Err string }
