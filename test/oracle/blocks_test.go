// Package oracle compares what decode finds in real blocks with what another
// implementation finds: pytoniq-core, written in Python by other people. In come
// the blocks of TONSCRIBE_TESTDATA; out goes the first difference of each. It
// must never correct what either of them says.
package oracle

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tonscribe/decode"
	"tonscribe/test/support/realdata"
)

// processes of Python; the Go side is little work.
const processes = 2

// boc is a bag of cells: a file, or a part of one.
type boc struct {
	name         string
	path         string
	offset, size int64
}

func (b boc) bytes() ([]byte, error) {
	file, err := os.Open(b.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content := make([]byte, b.size)
	_, err = file.ReadAt(content, b.offset)
	return content, err
}

func files(t *testing.T, pattern string) (list []boc) {
	t.Helper()
	dir := realdata.Path(t)
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		list = append(list, file(t, dir, strings.TrimPrefix(path, dir+"/")))
	}
	return list
}

func file(t *testing.T, dir, name string) boc {
	t.Helper()
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return boc{name: name, path: path, size: info.Size()}
}

// listed are the blocks of blocks.tsv.
func listed(t *testing.T) (list []boc) {
	t.Helper()
	dir := realdata.Path(t)
	table, err := os.ReadFile(filepath.Join(dir, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if name, _, _ := strings.Cut(line, "\t"); name != "file" {
			list = append(list, file(t, dir, name))
		}
	}
	return list
}

// packed are the blocks in a node's packages: a magic of 4 bytes, then entries
// of magic:16 name_size:16 data_size:32 name data, all little-endian.
func packed(t *testing.T) (list []boc) {
	t.Helper()
	for _, pack := range files(t, "packs/*/*.pack") {
		content, err := pack.bytes()
		if err != nil {
			t.Fatal(err)
		}
		for at := 4; at < len(content); {
			name := at + 8
			data := name + int(binary.LittleEndian.Uint16(content[at+2:]))
			end := data + int(binary.LittleEndian.Uint32(content[at+4:]))
			if entry := string(content[name:data]); strings.HasPrefix(entry, "block_") {
				list = append(list, boc{pack.name + " " + entry, pack.path, int64(data), int64(end - data)})
			}
			at = end
		}
	}
	return list
}

// totals is how much was compared.
type totals struct {
	mutex                        sync.Mutex
	bocs, transactions, messages int
}

func (n *totals) add(f *form) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.bocs++
	n.transactions += len(f.Transactions)
	for _, t := range f.Transactions {
		n.messages += len(t.OutMsgs)
		if t.InMsg != nil {
			n.messages++
		}
	}
}

// compare reads every BoC both ways.
func compare(t *testing.T, list []boc, read func([]byte) (*form, error), arguments ...string) {
	t.Helper()
	if len(list) == 0 {
		t.Fatal("the test data holds none")
	}
	interpreter := python(t)
	work := make(chan boc)
	var n totals
	var wait sync.WaitGroup
	for range processes {
		wait.Go(func() {
			other, err := startReader(t, interpreter, arguments...)
			if err != nil {
				t.Error(err)
			} else {
				defer other.stop()
			}
			for b := range work {
				if err == nil {
					err = compareOne(t, b, read, other, &n)
				}
			}
		})
	}
	for _, b := range list {
		work <- b
	}
	close(work)
	wait.Wait()
	t.Logf("%d BoCs with %d transactions and %d messages (each end counted)", n.bocs, n.transactions, n.messages)
	if n.bocs != len(list) && !t.Failed() {
		t.Errorf("%d of %d BoCs compared", n.bocs, len(list))
	}
}

// compareOne reports differences to the test; its error is about the process.
func compareOne(t *testing.T, b boc, read func([]byte) (*form, error), other *reader, n *totals) error {
	content, err := b.bytes()
	if err != nil {
		t.Errorf("%s: %v", b.name, err)
		return nil
	}
	theirs, err := other.read(b)
	if err != nil {
		t.Errorf("%s: %v", b.name, err)
		return other.end
	}
	ours, err := read(content)
	if err != nil {
		t.Errorf("%s: pytoniq-core reads it, decode does not: %v", b.name, err)
		return nil
	}
	if d := blockDifference(ours, theirs); d != "" {
		t.Errorf("%s: %s", b.name, d)
	}
	n.add(theirs)
	return nil
}

func readBlock(content []byte) (*form, error) {
	r, err := decode.Block(content, 1)
	if err != nil {
		return nil, err
	}
	if int(r.Block.TxCount) != len(r.Transactions) {
		return nil, fmt.Errorf("tx_count %d, %d transactions", r.Block.TxCount, len(r.Transactions))
	}
	return formOfBlock(r), nil
}

func TestAnotherReaderFindsTheSameInEveryBlock(t *testing.T) {
	compare(t, listed(t), readBlock)
}

func TestAnotherReaderFindsTheSameInEveryPackedBlock(t *testing.T) {
	compare(t, packed(t), readBlock)
}

// The messages are then those which pytoniq-core, and not read_blocks.py, finds
// in InMsgDescr and OutMsgDescr.
func TestAnotherReaderReadingWholeBlocksFindsTheSame(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("reading whole blocks in Python takes half a minute: set TONSCRIBE_TEST_LONG")
	}
	compare(t, append(listed(t), packed(t)...), readBlock, "--whole")
}

// Lone transactions show bounces, freezes and failures that no block here has.
// They do not say their workchain.
func TestAnotherReaderFindsTheSameInLoneTransactions(t *testing.T) {
	var list []boc
	for _, pattern := range []string{"accounts_tx_triples/*_transaction.boc", "accounts_tx_triples/*_tx.boc", "oracle_json/*/transactions/*.boc"} {
		list = append(list, files(t, pattern)...)
	}
	compare(t, list, func(content []byte) (*form, error) {
		tx, err := decode.Transaction(content)
		if err != nil {
			return nil, err
		}
		f := formOfTransaction(tx)
		_, account, _ := strings.Cut(f.Account, ":")
		f.Account = "0:" + account
		return &form{RootHash: f.Hash, Transactions: []transactionForm{f}}, nil
	})
}
