package detect

import (
	"encoding/binary"

	"github.com/rs/zerolog"

	"tonscribe/internal/stage"
)

// The store's keys begin with one of these, or one of the frame's. Accounts are 36
// bytes, hashes 32.
const (
	keyEntry    = 'a' // account → entry
	keyArrived  = 'b' // masterchain seqno → AccountBatch: what lite servers gave for the bundle
	keyCode     = 'c' // code hash → BoC
	keyFormer   = 'f' // account, lt → what the account claimed up to that lt, for which transfers wait; nothing while it is unread
	keyHeld     = 'h' // account → nothing: transfers wait for it, of which nothing else is known
	keyLibrary  = 'l' // library hash → BoC
	keyMessage  = 'm' // message hash → account, lt of the transfer that it carries
	keyAsked    = 'q' // library hash, parent → nothing: the parent's children are to be checked again when it has come
	keyParent   = 'p' // account → state of a contract that others are checked against
	keyRetry    = 'r' // parent → the child after which its children are to be checked
	keyTransfer = 't' // account, lt → transfer or burn that is not finished
	keyUnread   = 'u' // hash of a code or library, account, and lt of what it was before → Account that is looked into when that has come
	keyLacks    = 'v' // account → the hash under which it is unread
	keyWaiting  = 'w' // parent, child, and lt of what it claimed before → nothing: a claim that waits
	keyCame     = 'x' // hash of a code or library that has come, for which accounts are unread
	keyZone     = 'z' // collection that the root of the names has named → its zone
	keyConfig   = 'C' // masterchain seqno → parameters of the chain from that bundle on, BoC
)

const storeVersion = 2

func (c Configuration) store(log zerolog.Logger) stage.StoreOptions {
	o := c.Store(storeVersion, "contracts then takes the store from its topic where it has one, "+
		"else reads the log again from its oldest bundle, and what is older comes from lite servers", log)
	o.Few = []byte{keyHeld, keyLacks, keyParent}
	return o
}

// number is a part of a key or a value: four bytes in the order of numbers.
func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
