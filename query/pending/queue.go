package pending

import "sync"

// queue has the messages that wait: those of clients in turn, and of each in the order in
// which it sent them. It is safe for use by many goroutines.
type queue struct {
	ready chan struct{} // as often as there are messages

	mu    sync.Mutex
	of    map[string][]message
	turns []string // clients of whom messages wait, whose turn it is first
}

func newQueue(limit int) *queue {
	return &queue{ready: make(chan struct{}, limit), of: map[string][]message{}}
}

// push reports whether there is room for one more.
func (q *queue) push(m message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
		return false
	}
	if len(q.of[m.client]) == 0 {
		q.turns = append(q.turns, m.client)
	}
	q.of[m.client] = append(q.of[m.client], m)
	return true
}

// pop takes the next one, for whoever got one out of ready.
func (q *queue) pop() message {
	q.mu.Lock()
	defer q.mu.Unlock()
	client := q.turns[0]
	q.turns = q.turns[1:]
	waiting := q.of[client]
	m := waiting[0]
	waiting[0] = message{}
	if q.of[client] = waiting[1:]; len(waiting) > 1 {
		q.turns = append(q.turns, client)
	} else {
		delete(q.of, client)
	}
	return m
}
