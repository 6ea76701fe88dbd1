package traffic

import (
	"slices"
	"testing"
)

func TestEveryKindOfActionHappensAndNothingIsRefusedByMistake(t *testing.T) {
	l := begin(t, 1)
	l.live(t, 200, 100)
	for _, k := range l.town.kinds {
		if l.done[k.name] == 0 {
			t.Errorf("no %s in 200 blocks", k.name)
		}
	}
	for _, turn := range []string{
		"NON_EXIST to UNINIT", "UNINIT to ACTIVE", "NON_EXIST to ACTIVE", "ACTIVE to NON_EXIST", "ACTIVE to FROZEN", "FROZEN to ACTIVE", "FROZEN to NON_EXIST",
	} {
		if l.turns[turn] == 0 {
			t.Errorf("no account went from %s in 200 blocks", turn)
		}
	}
	if l.refused != l.expected || l.refused == 0 {
		t.Errorf("%d external messages were refused, %d are meant to be", l.refused, l.expected)
	}
	if l.got < l.asked*8/10 || l.got > l.asked*12/10 {
		t.Errorf("%d transactions, about %d were asked for", l.got, l.asked)
	}
	var names []string
	for name := range l.done {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.Logf("%-45s %5d times, %5.1f transactions each", name, l.done[name], l.caused[name]/float64(l.done[name]))
	}
	t.Logf("endings: %v", l.endings)
	t.Logf("statuses: %v", l.turns)
	t.Logf("%d transactions were asked for, %d came", l.asked, l.got)
}

func TestFewTransactionsAreAskedForAndFewCome(t *testing.T) {
	l := begin(t, 5)
	l.live(t, 60, 100) // the setup is over
	l.rest(t)
	l.asked, l.got = 0, 0
	l.live(t, 300, 1)
	l.rest(t)
	if l.got < l.asked/2 || l.got > l.asked*2 {
		t.Errorf("%d transactions in 300 blocks, about %d were asked for", l.got, l.asked)
	}
}

func TestTheSameSeedMakesTheSameChain(t *testing.T) {
	first, second := begin(t, 7), begin(t, 7)
	first.live(t, 40, 60)
	second.live(t, 40, 60)
	sameBlocks(t, first, second)
}

func TestTrafficGoesOnAsIfItHadNotBeenStopped(t *testing.T) {
	whole, stopped := begin(t, 7), begin(t, 7)
	whole.live(t, 40, 60)
	for range 8 {
		stopped.live(t, 5, 60)
		stopped.restart(t, 7)
	}
	sameBlocks(t, whole, stopped)
}

func TestAnotherSeedMakesAnotherTown(t *testing.T) {
	if a, b := New(1, Options{}).Accounts()[0], New(2, Options{}).Accounts()[0]; a.ID == b.ID {
		t.Errorf("the first wallet of both is %x", a.ID)
	}
}

// alone is a kind of action without any other traffic.
func (l *life) alone(t *testing.T, k kind, times int) (said float64, caused, done int) {
	t.Helper()
	for try := 0; done < times && try < 60; try++ {
		s := l.town.begin(l.chain, l.seqno, l.now())
		s.left, s.ready = 300, true
		for range 40 {
			if cost := k.act(s); cost > 0 || len(s.messages) > 0 {
				said, done = said+float64(cost), done+1
				break
			}
		}
		if s.err != nil {
			t.Fatal(s.err)
		}
		caused += l.step(t, s)
	}
	return said, caused + l.rest(t), done
}

func TestActionsCauseAsManyTransactionsAsTheySay(t *testing.T) {
	l := begin(t, 3)
	l.live(t, 100, 100)
	l.rest(t)
	for _, k := range l.town.kinds {
		said, caused, done := l.alone(t, k, 12)
		if done == 0 {
			t.Errorf("%s: impossible", k.name)
		}
		t.Logf("%-40s %2d times: said %5.1f, caused %5.1f", k.name, done, said/float64(done), float64(caused)/float64(done))
		if off := float64(caused) - said; off > 0.15*said+3 || off < -0.15*said-3 {
			t.Errorf("%s: %d transactions in %d actions, said to be %.0f", k.name, caused, done, said)
		}
	}
}
