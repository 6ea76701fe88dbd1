package worker

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/realdata"
	"tonscribe/test/support/statetest"
)

// knowledge is what blocks have shown of accounts, by another library.
type knowledge struct {
	testing.TB
	cells   statetest.Cells
	missing map[[32]byte]bool // hashes of cells that were asked for and never shown
	// states of accounts after their blocks, those whose code and data were
	// complete, and those after which an account had to be fetched: from then on
	// its cells count as shown.
	states, complete, fetches int
	fetching                  bool
}

func newKnowledge(t testing.TB) *knowledge {
	return &knowledge{TB: t, cells: statetest.Cells{}, missing: map[[32]byte]bool{}}
}

// read takes a bundle: first what its blocks show, then what that completes.
func (k *knowledge) read(b *source) {
	k.Helper()
	for _, raw := range b.blocks {
		accounts, err := statetest.Read(raw.Boc)
		if err != nil {
			k.Fatal(err)
		}
		for _, a := range accounts {
			for _, l := range []statetest.Leaf{a.Old, a.New} {
				if err := k.cells.Show(l.Account); err != nil {
					k.Fatal(err)
				}
			}
		}
		for _, a := range accounts {
			if a.New.Account != nil {
				k.count(&a)
			}
		}
	}
}

func (k *knowledge) count(a *statetest.Account) {
	k.Helper()
	k.states++
	missing := map[[32]byte]bool{}
	if err := k.cells.Missing([32]byte(a.New.Account.Hash(0)), missing); err != nil {
		k.Fatal(err)
	}
	maps.Copy(k.missing, missing)
	if len(missing) == 0 {
		k.complete++
		return
	}
	if !k.fetching {
		return
	}
	k.fetches++
	for hash := range missing {
		k.cells[hash] = cell.BeginCell().EndCell() // stands for what a lite server gives
	}
}

// whole reports whether all cells of code or data were shown; nothing is whole.
func (k *knowledge) whole(hash []byte) bool {
	k.Helper()
	missing := map[[32]byte]bool{}
	if len(hash) == 32 {
		if err := k.cells.Missing([32]byte(hash), missing); err != nil {
			k.Fatal(err)
		}
	}
	return len(missing) == 0
}

// checkKnown holds what a run published to what its blocks have shown: data is
// null exactly where a part of it was never there, and so is code.
func checkKnown(t *testing.T, bundles []*source, found *seen) (unknownData, unknownCodes int) {
	t.Helper()
	k := newKnowledge(t)
	accounts := found.accounts
	shown := map[string]bool{} // codes that could be known, at any time
	for _, b := range bundles {
		k.read(b)
		for ; len(accounts) > 0 && accounts[0].McSeqno == b.mcSeqno; accounts = accounts[1:] {
			a := accounts[0]
			if want := k.whole(a.State.DataHash); want != (len(a.Data) > 0 || len(a.State.DataHash) == 0) {
				t.Errorf("account %x at %d: data of %d bytes, and all of it was shown: %t", a.Account, a.McSeqno, len(a.Data), want)
			}
			if len(a.State.DataHash) > 0 && len(a.Data) == 0 {
				unknownData++
			}
			if len(a.State.CodeHash) == 0 {
				continue
			}
			if k.whole(a.State.CodeHash) {
				shown[string(a.State.CodeHash)] = true
			}
			if known := found.codes[string(a.State.CodeHash)] != nil; shown[string(a.State.CodeHash)] && !known {
				t.Errorf("account %x at %d: code %x was shown and is not known", a.Account, a.McSeqno, a.State.CodeHash)
			} else if !known {
				unknownCodes++
			}
		}
	}
	if len(accounts) > 0 {
		t.Errorf("%d accounts are of no bundle", len(accounts))
	}
	for hash := range found.codes {
		if !shown[hash] {
			t.Errorf("code %x is known, and was never shown", hash)
		}
	}
	return unknownData, unknownCodes
}

// Without the zerostates the first blocks of mainnet still tell every state,
// balance and hash; code and data are null as long as no block has shown them.
func TestWithoutZerostatesOnlyWhatWasNeverShownIsNull(t *testing.T) {
	bundles := genesis(t)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	with := onEmbedded(t, 1).run(bundles, configuration, zerostates(t))
	configuration.Cells.Dir = t.TempDir()
	without := onEmbedded(t, 1).run(bundles, configuration, nil)
	without.check(t)
	data, codes := checkKnown(t, bundles, without)
	checkHashes(t, bundles, with)
	checkHashes(t, bundles, without)
	for i, a := range without.accounts {
		b := with.accounts[i]
		if len(a.Data) > 0 && string(a.Data) != string(b.Data) {
			t.Errorf("account %x at %d: data %x, with the zerostates %x", a.Account, a.McSeqno, a.Data, b.Data)
		}
		if string(a.Hash) != string(b.Hash) || a.State.Balance != b.State.Balance || string(a.State.DataHash) != string(b.State.DataHash) || string(a.State.CodeHash) != string(b.State.CodeHash) {
			t.Errorf("account %x at %d: %v, with the zerostates %v", a.Account, a.McSeqno, a, b)
		}
	}
	if got, want := [3]int{len(without.accounts), data, codes}, [3]int{300, 60, 180}; got != want {
		t.Errorf("%v states of accounts, those of unknown data, of unknown code; want %v", got, want)
	}
}

// checkHashes holds states to the hashes that the account blocks name, and
// balances to another library's reading.
func checkHashes(t *testing.T, bundles []*source, found *seen) {
	t.Helper()
	type end struct {
		hash    []byte
		lt      uint64
		balance uint64
	}
	want := map[string]end{}
	for _, b := range bundles {
		for _, raw := range b.blocks {
			accounts, err := statetest.Read(raw.Boc)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range accounts {
				last := a.Transactions[len(a.Transactions)-1]
				e := end{hash: a.NewHash, lt: last.LT}
				if a.New.Account != nil {
					var state tlb.AccountState
					if err := tlb.LoadFromCellAsProof(&state, a.New.Account.MustBeginParse()); err != nil {
						t.Fatal(err)
					}
					e.balance = state.Balance.Nano().Uint64()
				}
				want[fmt.Sprintf("%d %x %d", b.mcSeqno, append(binary.BigEndian.AppendUint32(nil, uint32(raw.Id.Workchain)), a.ID[:]...), last.LT)] = e
			}
		}
	}
	for _, a := range found.accounts {
		e, ok := want[fmt.Sprintf("%d %x %d", a.McSeqno, a.Account, a.LastTransLt)]
		if !ok || string(a.Hash) != string(e.hash) || a.State.Balance != e.balance {
			t.Errorf("account %x at %d: state %x with %d, want %x with %d", a.Account, a.McSeqno, a.Hash, a.State.Balance, e.hash, e.balance)
		}
	}
}

// mylocalton are the bundles of the archive packages, which begin at the first
// block of a chain whose zerostate nobody has.
func mylocalton(t testing.TB) []*source {
	t.Helper()
	data := realdata.Path(t)
	packages, err := filepath.Glob(filepath.Join(data, "packs", "mylocalton_mc1-264", "*.pack"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no packages: %v", err)
	}
	dir := t.TempDir()
	for _, path := range packages {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const header = 2 + 2 + 4 // magic, length of the name, length of the data
		for at := 4; at < len(content); {
			nameEnd := at + header + int(binary.LittleEndian.Uint16(content[at+2:]))
			end := nameEnd + int(binary.LittleEndian.Uint32(content[at+4:]))
			if name := string(content[at+header : nameEnd]); strings.HasPrefix(name, "block_") {
				if err := os.WriteFile(filepath.Join(dir, name+".boc"), content[nameEnd:end], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			at = end
		}
	}
	return chain(t, dir)
}

// What stays unknown of a chain without zerostate, lite server or node database
// is what its zerostate had and no block has changed: code above all.
func TestOfAChainWithoutZerostateOnlySixCellsAreMissing(t *testing.T) {
	bundles := mylocalton(t)
	alone, fetched := newKnowledge(t), newKnowledge(t)
	fetched.fetching = true
	for _, b := range bundles {
		alone.read(b)
		fetched.read(b)
	}
	got := fmt.Sprintf("%d of %d states complete, %d cells missing; with %d fetches %d complete", alone.complete, alone.states, len(alone.missing), fetched.fetches, fetched.complete)
	if want := "3 of 607 states complete, 6 cells missing; with 4 fetches 603 complete"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	found := onEmbedded(t, 1).run(bundles, configuration, nil)
	found.check(t)
	checkHashes(t, bundles, found)
	data, codes := checkKnown(t, bundles, found)
	unknown := map[string]bool{}
	for _, a := range found.accounts {
		if len(a.State.CodeHash) > 0 && found.codes[string(a.State.CodeHash)] == nil {
			unknown[string(a.State.CodeHash)] = true
		}
	}
	if got, want := [4]int{len(found.accounts), data, codes, len(unknown)}, [4]int{613, 199, 597, 3}; got != want {
		t.Errorf("%v states of accounts, those of unknown data, of unknown code, unknown codes; want %v", got, want)
	}
}
