package stage

import (
	"math/rand/v2"
	"testing"

	"github.com/rs/zerolog"
)

func TestOfKeysOfWhichThereAreFewAllAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	options := StoreOptions{Dir: t.TempDir(), CacheBytes: 8 << 20, Version: 1, Few: []byte("fg"), Log: zerolog.Nop()}
	open := func() *Store {
		store, err := OpenStore(options)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	defer func() { store.Close() }()
	there := map[string]string{}
	for step := range 3000 {
		kind, rest, value := "efgh"[r.IntN(4)], []byte{byte(r.IntN(50))}, []byte{byte(step)}
		name := string(kind) + string(rest)
		var err error
		switch r.IntN(200) {
		case 0:
			err = store.Commit()
		case 1:
			if err = store.Commit(); err == nil {
				err = store.Close()
				store = open()
			}
		case 2:
			err = store.clear()
			clear(there)
		case 3, 4, 5:
			rest[0] += 100
			name = string(kind) + string(rest)
			there[name] = string(value)
			err = store.SetNow(value, kind, rest)
		default:
			if r.IntN(4) == 0 {
				delete(there, name)
				err = store.Delete(kind, rest)
			} else if r.IntN(2) == 0 {
				there[name] = string(value)
				err = store.Set(value, kind, rest)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := store.Get(kind, rest); err != nil || (got == nil) != (there[name] == "") {
			t.Fatalf("step %d: %s is %x, %v; want %x", step, name, got, err, there[name])
		}
	}
	asked := 0
	for n := range 10000 {
		if gone, err := store.absent([]byte{'f', byte(n), byte(n >> 8), 1}); err != nil {
			t.Fatal(err)
		} else if !gone {
			asked++
		}
	}
	if asked > 10 {
		t.Errorf("of 10000 keys that are not there the store is asked for %d", asked)
	}
}

func TestWhereThereAreManyKeysEachMayBeThere(t *testing.T) {
	store, err := OpenStore(StoreOptions{Dir: t.TempDir(), CacheBytes: 8 << 20, Version: 1, Few: []byte("fg"), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for n := range 6 {
		if err := store.Set(nil, "fg"[n%2], []byte{byte(n)}); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]bool{2: true, 5: true, 6: false} {
		known, err := store.findFew(most)
		if err != nil {
			t.Fatal(err)
		}
		if got := known.has([]byte("f is not there")); got != want {
			t.Errorf("of six keys at most %d were gone through: a seventh may be there is %v, want %v", most, got, want)
		}
	}
}
