package metadata_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/metadata"
	"tonscribe/schema"
	"tonscribe/test/support/costtest"
)

// airdrop is a dump of so many amounts: n nanojettons for the owner with the id n.
type airdrop struct {
	root [32]byte
	boc  []byte
}

func newAirdrop(t testing.TB, owners, seed int) airdrop {
	t.Helper()
	d := cell.NewDict(267)
	for n := range owners {
		key := cell.BeginCell().MustStoreUInt(0b100, 3).MustStoreInt(0, 8).MustStoreSlice(ownerOf(n), 256).EndCell()
		item := cell.BeginCell().MustStoreBigCoins(big.NewInt(int64(n+seed))).MustStoreUInt(100, 48).MustStoreUInt(1<<40, 48).EndCell()
		if err := d.Set(key, item); err != nil {
			t.Fatal(err)
		}
	}
	root := d.AsCell()
	return airdrop{[32]byte(root.Hash()), root.ToBOC()}
}

func ownerOf(n int) []byte {
	id := bytes.Repeat([]byte{byte(n * 37)}, 32)
	binary.BigEndian.PutUint32(id[8:], uint32(n))
	return id
}

// master makes a bundle visible in which a mintless jetton with an airdrop has a
// document.
func (i *index) master(n byte, root [32]byte, link string) {
	i.Helper()
	account := bytes.Repeat([]byte{n}, 32)
	i.exec("INSERT INTO jetton_masters (workchain, account_prefix, account, mc_seqno, first_mc_seqno, active, uri, mintless_root) VALUES (0, ?, unhex(?), ?, ?, true, ?, unhex(?))",
		schema.Prefix(account), hex.EncodeToString(account), i.seqno+1, i.seqno+1, link, hex.EncodeToString(root[:]))
	i.bundle(link)
}

// standing is how a dump stands: a row of mintless_dumps.
type standing struct {
	failure        string
	attempts, due  uint32
	entries, tries uint64
}

// awaitDump waits until a root's dump was tried so often.
func (i *index) awaitDump(root [32]byte, tries int) (s standing) {
	i.Helper()
	i.await(fmt.Sprintf("dump %x was tried %d times", root[:4], tries), func() bool {
		err := i.Conn().QueryRow(i.Context(), "SELECT argMax(failure, tried), argMax(attempts, tried), argMax(due, tried), argMax(entries, tried), countIf(tried > 0) FROM mintless_dumps WHERE root = unhex(?)",
			hex.EncodeToString(root[:])).Scan(&s.failure, &s.attempts, &s.due, &s.entries, &s.tries)
		if err != nil {
			i.Fatal(err)
		}
		return s.tries >= uint64(tries)
	})
	return s
}

// awaitEnd waits until a root's amounts are all there, and returns how many they are
// and their sum.
func (i *index) awaitEnd(root [32]byte) (rows, sum uint64) {
	i.Helper()
	var s standing
	i.await(fmt.Sprintf("the amounts of dump %x are written", root[:4]), func() bool {
		s = i.awaitDump(root, 1)
		return s.due == metadata.Never
	})
	if s.failure != "" || s.attempts != 0 {
		i.Errorf("dump %x has ended with %+v, want no failure", root[:4], s)
	}
	rows, sum = i.amounts(root)
	if s.entries != rows {
		i.Errorf("%d entries of dump %x, and %d rows", s.entries, root[:4], rows)
	}
	return rows, sum
}

func (i *index) amounts(root [32]byte) (rows, sum uint64) {
	i.Helper()
	err := i.Conn().QueryRow(i.Context(), "SELECT count(), toUInt64(sum(amount)) FROM mintless_amounts FINAL WHERE root = unhex(?) AND start_from = 100 AND expire_at = 1099511627776 AND owner_workchain = 0",
		hex.EncodeToString(root[:])).Scan(&rows, &sum)
	if err != nil {
		i.Fatal(err)
	}
	return rows, sum
}

// airdropSite serves documents at /N and the dumps that they name at /N.boc.
func airdropSite(t testing.TB, host string, dumps ...[]byte) *site {
	var s *site
	s = newSite(t, host, func(w http.ResponseWriter, r *http.Request, _ int) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil || n >= len(dumps) {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".boc") {
			_, _ = w.Write(dumps[n])
			return
		}
		fmt.Fprintf(w, `{"name":"drop","mintless_merkle_dump_uri":"%s/%d.boc","custom_payload_api_uri":"https://a.example/"}`, s.URL, n)
	})
	return s
}

func TestAmountsOfADumpAreWrittenOnceItsRootIsTheMasters(t *testing.T) {
	i := newIndex(t)
	one, two := newAirdrop(t, 1, 7), newAirdrop(t, 300, 0)
	web := airdropSite(t, "127.0.0.1", one.boc, two.boc)
	i.start(nil)
	i.master(1, one.root, web.URL+"/0")
	i.master(2, two.root, web.URL+"/1")
	for drop, want := range map[*airdrop][2]uint64{&one: {1, 7}, &two: {300, 299 * 300 / 2}} {
		if rows, sum := i.awaitEnd(drop.root); rows != want[0] || sum != want[1] {
			t.Errorf("%d amounts with the sum %d, want %v", rows, sum, want)
		}
	}
	var amount big.Int
	if err := i.Conn().QueryRow(t.Context(), "SELECT amount FROM mintless_amounts WHERE root = unhex(?) AND owner = unhex(?)", hex.EncodeToString(two.root[:]), hex.EncodeToString(ownerOf(41))).Scan(&amount); err != nil || amount.Int64() != 41 {
		t.Errorf("owner 41 has %s, %v, want 41", &amount, err)
	}
	// Another master with the same root, whose document nobody has, needs no dump.
	i.master(3, two.root, web.URL+"/9")
	i.await("the second master's dump counts as there", func() bool {
		var n uint64
		if err := i.Conn().QueryRow(t.Context(), "SELECT count() FROM mintless_dumps WHERE root = unhex(?) AND entries = 300", hex.EncodeToString(two.root[:])).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == 2
	})
	if n := web.count("/1.boc"); n != 1 {
		t.Errorf("the dump was asked for %d times, want 1", n)
	}
}

func TestADumpThatWasBrokenOffIsWrittenWholeAfterARestart(t *testing.T) {
	i := newIndex(t)
	drop := newAirdrop(t, 200, 0)
	web := airdropSite(t, "127.0.0.1", drop.boc)
	for n := range 50 { // what a process had written when it was killed
		i.exec("INSERT INTO mintless_amounts VALUES (unhex(?), 0, unhex(?), ?, 100, 1099511627776)", hex.EncodeToString(drop.root[:]), hex.EncodeToString(ownerOf(n)), n)
	}
	i.master(1, drop.root, web.URL+"/0")
	first := i.start(nil)
	if rows, sum := i.awaitEnd(drop.root); rows != 200 || sum != 199*200/2 {
		t.Errorf("%d amounts with the sum %d, want 200 with %d", rows, sum, 199*200/2)
	}
	i.stop(first)
	later := newAirdrop(t, 3, 0)
	i.master(2, later.root, airdropSite(t, "127.0.0.1", later.boc).URL+"/0")
	i.start(nil)
	i.awaitEnd(later.root)
	if n := web.count("/0.boc"); n != 1 {
		t.Errorf("the first dump was asked for %d times, want 1", n)
	}
}

func TestADumpWaitsForItsDocumentAndForAServerThatFails(t *testing.T) {
	i := newIndex(t)
	drop := newAirdrop(t, 5, 1)
	var web *site
	web = newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case n == 1:
			http.Error(w, "later", http.StatusServiceUnavailable)
		case r.URL.Path == "/dump":
			_, _ = w.Write(drop.boc)
		default:
			fmt.Fprintf(w, `{"mintless_merkle_dump_uri":"%s/dump"}`, web.URL)
		}
	})
	i.start(nil)
	i.master(1, drop.root, web.URL+"/document")
	if rows, sum := i.awaitEnd(drop.root); rows != 5 || sum != 15 {
		t.Errorf("%d amounts with the sum %d, want 5 with 15", rows, sum)
	}
	if n := web.count("/dump"); n != 2 {
		t.Errorf("the dump was asked for %d times, want 2", n)
	}
}

func TestHostileDumpsAreContainedAndRecorded(t *testing.T) {
	i := newIndex(t)
	good, large, other, endless, inner, plain, full := newAirdrop(t, 10, 0), newAirdrop(t, 2000, 0), newAirdrop(t, 4, 9), newAirdrop(t, 6, 1), newAirdrop(t, 7, 1), newAirdrop(t, 8, 1), newAirdrop(t, 500, 1)
	forks := costtest.SharedDictionary(267, 100, cell.BeginCell().MustStoreBigCoins(big.NewInt(1)).MustStoreUInt(0, 48).MustStoreUInt(1, 48))
	unfolding := airdrop{[32]byte(forks.Hash()), forks.ToBOC()} // 2^100 amounts
	guarded := newSite(t, "127.0.0.2", nil)                     // not among the networks that are allowed
	var web *site
	web = newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, _ int) {
		switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
		case "other.boc":
			_, _ = w.Write(good.boc)
		case "large.boc":
			_, _ = w.Write(large.boc)
		case "full.boc":
			_, _ = w.Write(full.boc)
		case "unfolding.boc":
			_, _ = w.Write(unfolding.boc)
		case "endless.boc":
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte{0})
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		case "good.boc":
			_, _ = w.Write(good.boc)
		case "inner":
			fmt.Fprintf(w, `{"mintless_merkle_dump_uri":"%s/dump"}`, guarded.URL)
		case "plain":
			fmt.Fprint(w, `{"mintless_merkle_dump_uri":["no text"]}`)
		default:
			fmt.Fprintf(w, `{"mintless_merkle_dump_uri":"%s/%s.boc"}`, web.URL, name)
		}
	})
	i.start(func(c *metadata.Configuration) {
		c.Dumps = metadata.Dumps{MaxBytes: 64 << 10, Timeout: 8 * time.Second, MaxAmounts: 100}
	})
	wants := map[*airdrop]struct{ name, failure string }{
		&other: {"other", "form: the dump has another root hash"}, &large: {"large", "size: "}, &unfolding: {"unfolding", "form: "}, &endless: {"endless", "network: "},
		&inner: {"inner", "address: "}, &plain: {"plain", "document: "}, &full: {"full", "size: with its 500 amounts"},
	}
	n := byte(10)
	for drop, want := range wants {
		i.master(n, drop.root, web.URL+"/"+want.name)
		n++
	}
	i.master(n, good.root, web.URL+"/good")
	for drop, want := range wants {
		var s standing
		i.await(want.name+" fails as it should", func() bool {
			s = i.awaitDump(drop.root, 1)
			return !strings.HasPrefix(s.failure, "document: the jetton's document was not") || s.tries > 20
		})
		if !strings.HasPrefix(s.failure, want.failure) || s.entries != 0 || s.due == metadata.Never {
			t.Errorf("%s: %+v, want a failure that begins with %q", want.name, s, want.failure)
		}
		if rows, _ := i.amounts(drop.root); rows != 0 {
			t.Errorf("%s: %d amounts are written, want none", want.name, rows)
		}
	}
	if rows, _ := i.awaitEnd(good.root); rows != 10 {
		t.Errorf("beside hostile ones a good dump has %d amounts, want 10", rows)
	}
	if asked := guarded.paths(); len(asked) != 0 {
		t.Errorf("an address that is not globally reachable was asked for %v", asked)
	}
}

func TestAHostThatGivesDumpsSlowlyHoldsNobodyUp(t *testing.T) {
	i := newIndex(t)
	asked := make(chan struct{}, 1)
	var slow *site
	slow = newSite(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request, _ int) {
		if !strings.HasSuffix(r.URL.Path, ".boc") {
			fmt.Fprintf(w, `{"mintless_merkle_dump_uri":"%s%s.boc"}`, slow.URL, r.URL.Path)
			return
		}
		w.(http.Flusher).Flush() // headers come, and then nothing
		select {
		case asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
	})
	i.start(func(c *metadata.Configuration) {
		c.AllowNetworks, c.Dumps.Timeout = []string{"127.0.0.0/8"}, time.Hour
	})
	for n := range 6 {
		drop := newAirdrop(t, n+1, 0)
		i.master(byte(n+1), drop.root, fmt.Sprintf("%s/%d", slow.URL, n))
	}
	<-asked
	quick := newAirdrop(t, 10, 0)
	i.master(9, quick.root, airdropSite(t, "127.0.0.1", quick.boc).URL+"/0")
	if rows, _ := i.awaitEnd(quick.root); rows != 10 {
		t.Errorf("%d amounts, want 10", rows)
	}
	if asked := slices.DeleteFunc(slow.paths(), func(path string) bool { return !strings.HasSuffix(path, ".boc") }); len(asked) != 1 {
		t.Errorf("the slow host is asked for %v at once, want one dump", asked)
	}
}

func TestWithoutASizeNoDumpIsFetched(t *testing.T) {
	i := newIndex(t)
	drop := newAirdrop(t, 5, 1)
	web := airdropSite(t, "127.0.0.1", drop.boc)
	i.start(func(c *metadata.Configuration) { c.Dumps.MaxBytes = 0 })
	i.master(1, drop.root, web.URL+"/0")
	i.awaitTries(web.URL+"/0", 1)
	if asked := web.paths(); len(asked) != 1 {
		t.Errorf("asked for %v, want the document only", asked)
	}
}
