package metadata_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// site is a web server that remembers what it was asked for.
type site struct {
	URL     string
	mutex   sync.Mutex
	asked   []string
	now     int // requests at this moment
	most    int // of them
	handler func(w http.ResponseWriter, r *http.Request, n int)
}

// newSite serves at an address of the loopback. The handler is told how often
// the path was asked for, from 1 on; nil answers a document that names the path.
func newSite(t testing.TB, host string, handler func(w http.ResponseWriter, r *http.Request, n int)) *site {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{handler: handler}
	server := httptest.NewUnstartedServer(s)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.now++
	s.most = max(s.most, s.now)
	n := s.countLocked(r.URL.Path)
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		s.now--
		s.mutex.Unlock()
	}()
	if s.handler != nil {
		s.handler(w, r, n)
		return
	}
	fmt.Fprint(w, named(r.URL.Path))
}

func named(path string) string { return `{"name":"` + path + `"}` }

func (s *site) countLocked(path string) (n int) {
	for _, p := range s.asked {
		if p == path {
			n++
		}
	}
	return n
}

func (s *site) count(path string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.countLocked(path)
}

// paths is all that was asked for, in order.
func (s *site) paths() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.asked)
}
