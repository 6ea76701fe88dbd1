package sink

import (
	"testing"
)

// A joint ends when all partitions that insert are in it, or have nothing to tell.
func TestPartitionsOfARoundTellTogether(t *testing.T) {
	var r round
	for range 3 {
		r.enter()
	}
	full := func(j *joint) bool {
		select {
		case <-j.full:
			return true
		default:
			return false
		}
	}
	a, first := r.join(sealed{token: "a"})
	if !first || full(a) {
		t.Fatalf("the first of three partitions: first %v, full %v, want true and false", first, full(a))
	}
	b, first := r.join(sealed{token: "b"})
	if first || b != a || full(a) {
		t.Fatalf("the second one: first %v, the same %v, full %v, want false, true and false", first, b == a, full(a))
	}
	r.leave() // the third one has nothing to tell
	if !full(a) || len(a.all) != 2 {
		t.Fatalf("without the third: full %v with %d batches, want true and 2", full(a), len(a.all))
	}
	// One that comes while the joint is being inserted has the next one, with those to come.
	r.enter()
	c, first := r.join(sealed{token: "c"})
	if !first || c == a || full(c) {
		t.Fatalf("the next one: first %v, the same %v, full %v, want true, false and false", first, c == a, full(c))
	}
	r.end(c) // it has waited long enough
	if d, first := r.join(sealed{token: "d"}); !first || d == c {
		t.Fatalf("after its end: first %v, the same %v, want true and false", first, d == c)
	}
}

// What was told once is told under the same token again, in whatever order it came.
func TestTheTokenOfAJointFollowsFromItsBatches(t *testing.T) {
	ab, ba := []sealed{{token: "a"}, {token: "b"}}, []sealed{{token: "b"}, {token: "a"}}
	inOrder(ba)
	if got, want := tokenOf(ba), tokenOf(ab); got != want {
		t.Errorf("token %q, in another order %q", got, want)
	}
	if got := tokenOf(ab[:1]); got != "a" {
		t.Errorf("the token of one batch is %q, want its own", got)
	}
	if tokenOf(ab) == tokenOf([]sealed{{token: "a"}, {token: "c"}}) {
		t.Error("other batches have the same token")
	}
}
