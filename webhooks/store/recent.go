package store

import "sync"

// recent holds payments that were registered or found not long ago: rows never change,
// and shops look up what they have just registered.
type recent struct {
	mutex  sync.Mutex
	of     map[Reference]Payment
	byBody map[Hash]Reference
	order  []Reference // in which they came; a ring once it is full
	next   int
}

// maxRecent is how many payments are held, of about a kilobyte each.
const maxRecent = 10_000

func (r *recent) add(p Payment) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.of == nil {
		r.of, r.byBody = map[Reference]Payment{}, map[Hash]Reference{}
	}
	if _, is := r.of[p.Reference]; is {
		return
	}
	if len(r.order) < maxRecent {
		r.order = append(r.order, p.Reference)
	} else {
		gone := r.order[r.next]
		delete(r.byBody, r.of[gone].BodyHash)
		delete(r.of, gone)
		r.order[r.next], r.next = p.Reference, (r.next+1)%maxRecent
	}
	r.of[p.Reference], r.byBody[p.BodyHash] = p, p.Reference
}

// find adds the payments that are held, and returns the other references.
func (r *recent) find(references []Reference, all map[Reference]Payment) (others []Reference) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, reference := range references {
		if p, is := r.of[reference]; is {
			all[reference] = p
		} else {
			others = append(others, reference)
		}
	}
	return others
}

// ofBodies returns the references of bodies that are held, and the other bodies.
func (r *recent) ofBodies(hashes []Hash) (references []Reference, others []Hash) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, hash := range hashes {
		if reference, is := r.byBody[hash]; is {
			references = append(references, reference)
		} else {
			others = append(others, hash)
		}
	}
	return references, others
}
