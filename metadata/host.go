package metadata

import (
	"crypto/sha256"
	"encoding/binary"
)

// Links of one host are in one queue, so that it is known how much it is asked;
// few hosts share one. The gateway of ipfs has one of its own, and links that
// nobody is asked for another. Tables have the number as lane.
const (
	hostQueues   = 4096
	queueGateway = hostQueues
	QueueInLink  = hostQueues + 1
)

// QueueOf is the queue of a link.
func QueueOf(link string) uint16 {
	switch host := hostOf(link); {
	case host == inGateway:
		return queueGateway
	case host == inLink || nobodys(host):
		return QueueInLink
	default:
		sum := sha256.Sum256([]byte(host))
		return binary.BigEndian.Uint16(sum[:]) % hostQueues
	}
}

type hash = [sha256.Size]byte

// Never is the due time of what is not fetched again.
const Never = ^uint32(0)

// dueKey is one in the order in which links of a queue are due.
type dueKey struct {
	due  uint32
	hash hash
}

// dueRange are the keys of a queue after the second `after` and before a key,
// which are read from their end: the newest first.
type dueRange struct {
	after  uint32
	before dueKey
}

// host is how far a queue has been read.
type host struct {
	number uint16
	// ranges of what has become due and was not read yet, the newest last.
	// Together with what was read they reach from the beginning to read.
	ranges []dueRange
	read   uint32
	due    uint32 // when the next link is due, or earlier
}

// soon is the first second that was not read.
func (h *host) soon() uint32 { return max(now(), h.read) + 1 }
