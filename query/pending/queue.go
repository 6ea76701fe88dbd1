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

// push puts a message in, and returns the one that there is no room for, nil for none: that
// of a client of whom more wait goes first, the newest of most.
func (q *queue) push(m message) (without *message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
		if without = q.drop(len(q.of[m.client]) + 1); without == nil {
			return &m
		}
	}
	if len(q.of[m.client]) == 0 {
		q.turns = append(q.turns, m.client)
	}
	q.of[m.client] = append(q.of[m.client], m)
	return without
}

// drop takes the newest message of the client out of whom most wait, if these are more than
// a number, 1 at least.
func (q *queue) drop(more int) *message {
	most := -1
	for i, client := range q.turns {
		if n := len(q.of[client]); n > more {
			most, more = i, n
		}
	}
	if most < 0 {
		return nil
	}
	waiting, last := q.of[q.turns[most]], more-1
	m := waiting[last]
	waiting[last] = message{}
	q.of[q.turns[most]] = waiting[:last]
	return &m
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
