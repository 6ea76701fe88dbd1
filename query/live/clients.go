package live

import (
	"errors"
	"fmt"
	"sync"
)

// clients bounds what all streams take, and how many one client has.
type clients struct {
	configuration *Configuration

	mu        sync.Mutex
	streams   int
	of        map[string]int
	addresses int
}

// errFull says that no more streams fit.
var errFull = errors.New("the server has as many streams as it can have, try again later")

// enter counts a stream of a client that may have some.
func (l *clients) enter(client string, limit int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.of[client]; n >= limit {
		return limitError(n)
	}
	if l.streams >= l.configuration.Connections {
		return errFull
	}
	l.of[client]++
	l.streams++
	return nil
}

// limitError says how many streams a client has, which are as many as it may have.
type limitError int

// Error is error's.
func (e limitError) Error() string {
	return fmt.Sprintf("connection limit reached: %d active connections", int(e))
}

func (l *clients) leave(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams--
	if l.of[client]--; l.of[client] == 0 {
		delete(l.of, client)
	}
}

// reserve counts addresses of all streams, fewer below zero.
func (l *clients) reserve(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.addresses+n > l.configuration.AllAddresses {
		return errors.New("the server has as many addresses as it can have, try again later")
	}
	l.addresses += n
	return nil
}

func (l *clients) count() (streams, addresses int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams, l.addresses
}
