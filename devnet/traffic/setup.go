package traffic

import (
	"slices"

	"github.com/xssnick/tonutils-go/tlb"

	"tonscribe/devnet/contracts"
)

// task is a part of the setup: what must be seen at the head, and what is sent
// as long as it is not. done is asked only when all groups before are done.
type task struct {
	name string
	done func(*step) bool
	act  func(*step) int
}

// patience is how many blocks a task has before it is tried again.
const patience = 8

// tasksAtOnce bounds the messages of one block that belong to the setup.
const tasksAtOnce = 4

// plan puts the tasks into groups, of which each needs those before.
func (t *Traffic) plan() {
	jettonsDeployed, jettonsMinted := t.jettonTasks()
	collectionsDeployed, itemsMinted := t.collectionTasks()
	t.tasks = [][]task{
		slices.Concat(t.foundingTasks(), jettonsDeployed, collectionsDeployed),
		slices.Concat(jettonsMinted, itemsMinted),
	}
	t.market = t.marketTasks()
}

// foundingTasks deploy what belongs to nobody, and the pool.
func (t *Traffic) foundingTasks() []task {
	var orders []contracts.Message
	found := func(tons float64, state *tlb.StateInit) {
		message := give(contracts.AddressOf(0, state), ton(tons), nil)
		message.StateInit = state
		orders = append(orders, message)
	}
	found(10, contracts.Marketplace{Owner: t.founder.address}.StateInit())
	found(10, t.names.StateInit())
	for i := range relays {
		found(5, contracts.Forwarder{ID: uint64(i)}.StateInit())
	}
	for _, c := range t.councils {
		found(20_000, c.is.StateInit())
	}
	for _, g := range t.grants {
		found(5_000, g.is.StateInit())
	}
	last := orders[len(orders)-1].To
	pool := give(t.poolAt, ton(1000), nil)
	pool.StateInit = t.pool.StateInit()
	return []task{
		{"contracts founded", func(s *step) bool { return s.data(last) != nil }, func(s *step) int {
			return s.sendAs(t.founder, 1+len(orders), slices.Clone(orders)...)
		}},
		{"pool founded", func(s *step) bool { return s.data(t.poolAt) != nil }, func(s *step) int {
			return s.sendAs(t.masters[0], 2, pool)
		}},
	}
}

// prepare goes on with the setup: group after group, each task in its turn. What
// is done shows in the view, so that the setup goes on after a restart, and
// begins late where there was no traffic at first. It reports whether all is done.
func (s *step) prepare(tasks [][]task) bool {
	for _, group := range tasks {
		waiting := false
		for i, t := range group {
			if t.done(s) {
				continue
			}
			waiting = true
			// Each task has its block among patience, tasksAtOnce of them each.
			if s.seqno%patience == uint32(i/tasksAtOnce)%patience {
				s.count("setup: "+t.name, t.act(s))
			}
		}
		if waiting {
			return false
		}
	}
	return true
}

// sendAs sends what an admin has to and tells what it causes.
func (s *step) sendAs(admin *person, caused int, messages ...contracts.Message) int {
	if !s.free(admin, 1) {
		return 0
	}
	return s.send(caused, admin, messages...)
}
