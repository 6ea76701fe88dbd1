package devnet

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
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
type mempool struct {
	size int
	ttl  time.Duration

	mu       sync.Mutex
	queue    []waiting
	known    map[cell.Hash]struct{}
	accounts map[accountKey]int
}

type accountKey struct {
	workchain int32
	id        [32]byte
}

type waiting struct {
	message *cell.Cell
	account accountKey
	expires time.Time
}

func newMempool(size int, ttl time.Duration) *mempool {
	return &mempool{size: size, ttl: ttl, known: map[cell.Hash]struct{}{}, accounts: map[accountKey]int{}}
}

// destination reads where an external message goes, and refuses anything else.
func destination(message *cell.Cell) (accountKey, error) {
	if message == nil {
		return accountKey{}, ErrNotExternal
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

// add queues a message, unless the same one waits already.
func (m *mempool) add(message *cell.Cell, account accountKey, now time.Time) (added bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hash := message.HashKey()
	if _, again := m.known[hash]; again {
		return false, nil
	}
	if len(m.queue) >= m.size || m.accounts[account] >= maxWaiting {
		return false, ErrMempoolFull
	}
	m.known[hash] = struct{}{}
	m.accounts[account]++
	m.queue = append(m.queue, waiting{message, account, now.Add(m.ttl)})
	return true, nil
}

// holds says whether a message waits.
func (m *mempool) holds(message *cell.Cell) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.known[message.HashKey()]
	return ok
}

// take removes up to n messages for a block. Those whose time is over are
// dropped and counted.
func (m *mempool) take(n int, now time.Time) (messages []*cell.Cell, expired int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	used := 0
	for ; used < len(m.queue) && len(messages) < n; used++ {
		w := m.queue[used]
		delete(m.known, w.message.HashKey())
		if m.accounts[w.account]--; m.accounts[w.account] == 0 {
			delete(m.accounts, w.account)
		}
		if now.After(w.expires) {
			expired++
			continue
		}
		messages = append(messages, w.message)
	}
	m.queue = append([]waiting(nil), m.queue[used:]...)
	return messages, expired
}

func (m *mempool) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue)
}
