package lite

import (
	"testing"
)

func slotsOf(slots int, names ...string) (*slotQueue, []*server) {
	var servers []*server
	for _, name := range names {
		servers = append(servers, &server{endpoint: endpoint{host: name}})
	}
	return &slotQueue{each: slots}, servers
}

func anyServer(*server) bool { return true }

func TestAPlaceGoesToTheBestServerThatHasOne(t *testing.T) {
	l, servers := slotsOf(2, "best", "other")
	var got []string
	for range 5 {
		if s := l.try(servers); s != nil {
			got = append(got, s.host)
		} else {
			got = append(got, "none")
		}
	}
	want := []string{"best", "best", "other", "other", "none"}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("slots were taken at %v, want %v", got, want)
		}
	}
}

func TestAFreePlaceGoesToTheFirstWhoCanUseIt(t *testing.T) {
	l, servers := slotsOf(1, "a", "b")
	a, b := l.try(servers), l.try(servers)
	onlyB := l.join(func(s *server) bool { return s == b })
	first, second := l.join(anyServer), l.join(anyServer)
	l.release(a)
	l.release(b)
	l.release(a)
	for _, c := range []struct {
		name string
		w    *waiter
		want *server
	}{{"who came first but needs b", onlyB, b}, {"the second", first, a}, {"the third", second, a}} {
		select {
		case s := <-c.w.got:
			if s != c.want {
				t.Errorf("%s got a slot at %s, want %s", c.name, s.host, c.want.host)
			}
		default:
			t.Errorf("%s got no slot, want one at %s", c.name, c.want.host)
		}
	}
	if s := l.try(servers); s != nil {
		t.Errorf("a slot is free at %s, want none: each was handed on", s.host)
	}
}

func TestWhoLeavesGivesBackWhatItGot(t *testing.T) {
	l, servers := slotsOf(1, "a")
	a := l.try(servers)
	w := l.join(anyServer)
	l.release(a) // w has it, and does not know yet
	l.leave(w)
	if l.try(servers) != a {
		t.Errorf("%d requests are under way, want a free slot", a.running.Load())
	}
	gone := l.join(anyServer)
	l.leave(gone)
	l.release(a)
	if n := a.running.Load(); n != 0 {
		t.Errorf("%d requests are under way after all have ended, want 0", n)
	}
}
