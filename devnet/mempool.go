package devnet

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
	"tonscribe/ton/tvm"
)

// What Send may answer besides the refusal of the account.
var (
	ErrMempoolFull = errors.New("too many messages wait for a block")
	ErrNotExternal = errors.New("not an external message to a contract")
	ErrTooLarge    = errors.New("message is too large")
)

const (
	// maxMessageBytes is a node's limit for external messages.
	maxMessageBytes = 65535
	// maxWaiting is how many messages of one account may wait, as in a node.
	maxWaiting = 256
)

// mempool holds external messages until a block takes them, the oldest first.
// They are in the history as well, under their numbers.
type mempool struct {
	size int
	ttl  time.Duration

	mu       sync.Mutex
	number   uint64 // of the next message
	queue    []waiting
	known    map[cell.Hash]struct{}
	accounts map[accountKey]int
}

type accountKey struct {
	workchain int32
	id        [32]byte
}

type waiting struct {
	history.Waiting
	account accountKey
}

func newMempool(size int, ttl time.Duration) *mempool {
	return &mempool{size: size, ttl: ttl, known: map[cell.Hash]struct{}{}, accounts: map[accountKey]int{}}
}

// destination reads where an external message goes, and refuses anything else.
func destination(message *cell.Cell) (accountKey, error) {
	if message == nil {
		return accountKey{}, ErrNotExternal
	}
	if err := tvm.CheckMessage(message); err != nil {
		return accountKey{}, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	var parsed tlb.Message
	if err := tlb.Parse(&parsed, message); err != nil {
		return accountKey{}, fmt.Errorf("%w: %w", ErrNotExternal, err)
	}
	if parsed.MsgType != tlb.MsgTypeExternalIn {
		return accountKey{}, ErrNotExternal
	}
	to := parsed.AsExternalIn().DstAddr
	if to == nil || to.Type() != address.StdAddress {
		return accountKey{}, ErrNotExternal
	}
	if n := len(message.ToBOC()); n > maxMessageBytes {
		return accountKey{}, fmt.Errorf("%w: %d bytes, %d are allowed", ErrTooLarge, n, maxMessageBytes)
	}
	return accountKey{to.Workchain(), [32]byte(to.Data())}, nil
}

// admit gives a message its number, if there is room for it.
func (m *mempool) admit(message *cell.Cell, account accountKey, now time.Time) (waiting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.hasRoom(account) {
		return waiting{}, ErrMempoolFull
	}
	m.number++
	return waiting{history.Waiting{Number: m.number, Message: message, Expires: now.Add(m.ttl)}, account}, nil
}

func (m *mempool) hasRoom(account accountKey) bool {
	return len(m.queue) < m.size && m.accounts[account] < maxWaiting
}

// add queues a message, unless the same one waits already.
func (m *mempool) add(w waiting) (added bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, again := m.known[w.Message.HashKey()]; again {
		return false, nil
	}
	if !m.hasRoom(w.account) {
		return false, ErrMempoolFull
	}
	m.push(w)
	return true, nil
}

func (m *mempool) push(w waiting) {
	m.known[w.Message.HashKey()] = struct{}{}
	m.accounts[w.account]++
	m.queue = append(m.queue, w)
}

// restore queues what waited when the devnet ended, whether there is room or
// not: somebody was told that it would be tried. What is too large to be tried is
// left out and returned.
func (m *mempool) restore(list []history.Waiting) (tooLarge []history.Waiting, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range list {
		account, err := destination(w.Message)
		if errors.Is(err, ErrTooLarge) {
			tooLarge = append(tooLarge, w)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("waiting message %d: %w", w.Number, err)
		}
		m.push(waiting{w, account})
		m.number = max(m.number, w.Number)
	}
	return tooLarge, nil
}

// holds reports whether a message waits.
func (m *mempool) holds(message *cell.Cell) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.known[message.HashKey()]
	return ok
}

// take removes up to n messages for a block. Those whose time is over are
// dropped and counted. numbers are those of all of them.
func (m *mempool) take(n int, now time.Time) (messages []*cell.Cell, numbers []uint64, expired int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := 0
	for ; used < len(m.queue) && len(messages) < n; used++ {
		w := m.queue[used]
		delete(m.known, w.Message.HashKey())
		numbers = append(numbers, w.Number)
		if m.accounts[w.account]--; m.accounts[w.account] == 0 {
			delete(m.accounts, w.account)
		}
		if now.After(w.Expires) {
			expired++
			continue
		}
		messages = append(messages, w.Message)
	}
	m.queue = append([]waiting(nil), m.queue[used:]...)
	return messages, numbers, expired
}

func (m *mempool) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}
