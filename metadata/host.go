package metadata

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// Lanes. Links of one host are in one lane, so that it is known how much it is
// asked; few hosts share one. The gateway of ipfs has one of its own, and links
// that nobody is asked for another.
const (
	hostLanes   = 4096
	laneGateway = hostLanes
	LaneInLink  = hostLanes + 1
)

// LaneOf is the lane of a link.
func LaneOf(link string) uint16 { return laneOf(hostOf(link)) }

// laneOf is the lane of a host.
func laneOf(host string) uint16 {
	switch {
	case host == inGateway:
		return laneGateway
	case host == inLink || nobodys(host):
		return LaneInLink
	}
	sum := sha256.Sum256([]byte(host))
	return binary.BigEndian.Uint16(sum[:]) % hostLanes
}

type hash = [sha256.Size]byte

// Never is the due time of what is not fetched again.
const Never = ^uint32(0)

// place is one in the order in which links of a lane are due.
type place struct {
	due  uint32
	hash hash
}

// stretch are the places of a lane after the second `after` and before a place,
// which are read from their end: the newest first.
type stretch struct {
	after  uint32
	before place
}

// lane is what is fetched from one host.
type lane struct {
	number uint16
	// stretches of what has become due and was not read yet, the newest last.
	// Together with what was read they reach from the beginning to read.
	stretches []stretch
	read      uint32
	// wake is when the next link becomes due, or earlier.
	wake uint32

	jobs     []fetch // read and not begun, the newest first
	active   int     // requests, and pauses after them
	failures int     // in a row, of a host that wants to be left alone
	queued   bool    // among those that wait for a worker
}

// ripen takes note of what has become due.
func (l *lane) ripen(now uint32) {
	if l.wake > now {
		return
	}
	l.stretches = append(l.stretches, stretch{after: l.read, before: place{due: now + 1}})
	l.read, l.wake = now, Never
}

// What is in hand of a lane.
const (
	mostAhead  = 32
	mostInLink = 500
)

// most is how many links of the lane are read at once.
func (l *lane) most() int {
	switch {
	case l.number == LaneInLink:
		return mostInLink
	case l.failures > 0:
		return 1 // a host that does not answer must not fill the hand
	}
	return mostAhead
}

// Pauses of a host that does not answer, or asks for one.
const (
	restDoublings = 9
	longestRest   = time.Minute
	longestAsked  = 10 * time.Minute
)

// rest is how long a request of a lane pauses after an answer.
func rest(number uint16, pause time.Duration, failures int, problem *Failure) time.Duration {
	if number == LaneInLink {
		return 0
	}
	if problem == nil || !problem.Busy {
		return pause
	}
	return max(min(pause<<min(failures+1, restDoublings), longestRest), min(problem.After, longestAsked))
}

// soon is the first second that was not read.
func (l *lane) soon() uint32 { return max(seconds(time.Now()), l.read) + 1 }
