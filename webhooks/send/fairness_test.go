package send

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tonscribe/internal/dispatch"
)

// street is a sender's queue and receivers in virtual time. Schedule, limits and breakers are
// the sender's own; its table takes no time, and receivers take theirs.
type street struct {
	*queue
	dispatch *dispatch.Queue[ID, ID, delivery]
	silent   map[ID]bool // merchants whose receivers never answer

	mutex   sync.Mutex
	waiting map[ID][]*item // what the queue did not take up, by merchant
	took    map[ID]time.Duration
	left    int // deliveries that have not ended
	open    int // attempts
	most    int
}

const answerTime = 50 * time.Millisecond

func newStreet(silent map[ID]bool, events int) *street {
	c := DefaultConfiguration()
	s := &street{silent: silent, left: events, waiting: map[ID][]*item{}, took: map[ID]time.Duration{},
		queue: &queue{Component: &Component{configuration: c, conditions: newConditions(c)}}}
	s.dispatch = dispatch.New(s.options(1), s, s.post)
	return s
}

// post is an attempt.
func (s *street) post(ctx context.Context, i *item) dispatch.Result {
	d := &i.Value
	a := &Attempt{Number: d.number, Kind: KindAuto, Began: time.Now()}
	s.mutex.Lock()
	s.open++
	s.most = max(s.most, s.open)
	s.mutex.Unlock()
	took := answerTime
	if s.silent[d.Merchant] {
		took, a.Class = s.configuration.Timeout, ClassTimeout
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
	}
	a.Ended, a.Total = time.Now(), time.Since(a.Began)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.open--
	if a.Number == 1 {
		s.took[d.Event] = a.Ended.Sub(d.taken)
	}
	return s.tried(d, a)
}

func (s *street) Read(_ context.Context, merchant ID, limit int) (items []*item, again time.Time, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	all := s.waiting[merchant]
	n := min(limit, len(all))
	if s.waiting[merchant] = all[n:]; n < len(all) {
		again = time.Now()
	}
	return all[:n], again, nil
}

func (s *street) Write(_ context.Context, tried []*item) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, i := range tried {
		if i.Due = i.Value.Due; i.Value.State != Pending {
			i.Due = time.Time{}
			s.left--
		}
	}
	return nil
}

func (s *street) Poll(context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.left == 0 {
		return dispatch.ErrEnd
	}
	return nil
}

// firstAnswers are the times from when an event came until its first attempt had ended, of the
// even ones of 200 merchants, sorted; the others never answer if they are silent. All have 500
// events a second.
func firstAnswers(t *testing.T, silent bool) (took []time.Duration, most int) {
	t.Helper()
	const merchants, perSecond, seconds = 200, 500, 30
	dead := map[ID]bool{}
	for m := range merchants {
		if silent && m%2 == 1 {
			dead[named(fmt.Sprint(m))] = true
		}
	}
	s := newStreet(dead, perSecond*seconds)
	go func() {
		for n := range perSecond * seconds {
			time.Sleep(time.Second / perSecond)
			d := deliveryOf(transfer(fmt.Sprint(n%merchants), fmt.Sprint(n), fmt.Sprint(n)), time.Now(), time.Hour)
			if i := d.item(); !s.dispatch.Add(i) {
				s.mutex.Lock()
				s.waiting[d.Merchant] = append(s.waiting[d.Merchant], i)
				s.mutex.Unlock()
			}
		}
	}()
	must(t, s.dispatch.Run(t.Context()))
	for n := 0; n < perSecond*seconds; n += 2 {
		first, is := s.took[named("event "+fmt.Sprint(n))]
		if !is {
			t.Fatalf("event %d was not sent", n)
		}
		took = append(took, first)
	}
	slices.Sort(took)
	return took, s.most
}

// Half of the endpoints accept and never answer, from the first event on: the others do not
// feel it.
func TestEndpointsThatNeverAnswerDoNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alone, _ := firstAnswers(t, false)
		beside, most := firstAnswers(t, true)
		p99 := func(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }
		t.Logf("%d events, p99 until the first answer %s undisturbed and %s beside endpoints that never answer, which have %d attempts open with the others",
			len(beside), p99(alone), p99(beside), most)
		if p99(beside) > 2*p99(alone) {
			t.Errorf("p99 until the first answer is %s beside endpoints that never answer, want at most twice the undisturbed %s", p99(beside), p99(alone))
		}
		if limit := DefaultConfiguration().Attempts; most > limit {
			t.Errorf("%d attempts are open at once, want %d at most", most, limit)
		}
	})
}
