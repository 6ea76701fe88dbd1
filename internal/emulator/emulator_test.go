package emulator_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/genesis"
	"tonscribe/internal/emulator"
	"tonscribe/internal/report"
	"tonscribe/test/support/configtest"
	"tonscribe/ton/tvm"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == emulator.ChildCommand {
		os.Exit(emulator.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func start(t *testing.T, change func(*emulator.Configuration)) *emulator.Pool {
	t.Helper()
	c := emulator.DefaultConfiguration()
	c.Deadline, c.Processor = 20*time.Second, 20*time.Second // the machine may be busy
	if change != nil {
		change(&c)
	}
	p, err := emulator.New(c, emulator.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if left := children(t); len(left) > 0 {
			t.Errorf("processes %v are left", left)
		}
	})
	return p
}

// children are the processes that this one has started and that live.
func children(t *testing.T) (list []int) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list
}

const noon = 1_750_000_000

// delivery is an internal message to an account with code, of which a value of
// one nanoton buys no gas and a ton what the config allows.
func delivery(t *testing.T, config *tvm.Config, text string) tvm.Delivery {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	to := address.NewAddress(0, 0xff, bytes.Repeat([]byte{5}, 32))
	code := cell.BeginCell().MustStoreSlice(raw, uint(len(raw)*8)).EndCell()
	account, err := tlb.ToCell(&tlb.AccountState{
		IsValid: true, Address: to,
		StorageInfo: tlb.StorageInfo{
			StorageUsed:  tlb.StorageUsed{CellsUsed: big.NewInt(5), BitsUsed: big.NewInt(1000)},
			StorageExtra: tlb.StorageExtraNone{}, LastPaid: noon - 60,
		},
		AccountStorage: tlb.AccountStorage{
			Status: tlb.AccountStatusActive, LastTransactionLT: 1000, Balance: tlb.MustFromTON("1000000"),
			StateInit: &tlb.StateInit{Code: code, Data: cell.BeginCell().EndCell()},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	message, err := tlb.ToCell(&tlb.InternalMessage{
		IHRDisabled: true, SrcAddr: address.NewAddress(0, 0, bytes.Repeat([]byte{9}, 32)), DstAddr: to,
		Amount: tlb.MustFromTON("100000"), CreatedLT: 5000, CreatedAt: noon, Body: cell.BeginCell().EndCell(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tvm.Delivery{Context: tvm.Context{Config: config, Now: noon, LT: 10_000}, Account: account, Message: message}
}

// ordinary drops its arguments and ends, endless never does.
const (
	ordinary = "30"
	endless  = "3090EA"
)

// generous is a config in which code may run for minutes.
func generous(t *testing.T) *tvm.Config {
	return configtest.Of(t, func(c *genesis.Config) {
		gas := &c.Gas.Masterchain
		gas.Price, gas.FlatLimit, gas.Limit, gas.SpecialLimit, gas.BlockLimit = 1, 0, 1<<40, 1<<40, 1<<41
	}, nil)
}

func TestAWorkerGivesTheSameOutcomeAsThisProcess(t *testing.T) {
	p := start(t, nil)
	library := cell.NewDict(256)
	if err := library.Set(cell.BeginCell().MustStoreSlice(make([]byte, 32), 256).EndCell(), cell.BeginCell().MustStoreRef(cell.BeginCell().EndCell()).EndCell()); err != nil {
		t.Fatal(err)
	}
	// The second round uses what the worker keeps, the address and blocks travel too.
	for range 2 {
		for _, code := range []string{ordinary, "F2F0", "FF"} {
			in := delivery(t, configtest.Of(t, nil, nil), code)
			in.Libraries = []*cell.Cell{library.AsCell()}
			in.PrevBlocks = tvm.Tuple{tvm.Tuple{}, big.NewInt(7)}
			in.Address = address.NewAddress(0, 0xff, bytes.Repeat([]byte{5}, 32))
			want, err := tvm.Deliver(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Deliver(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Accepted || got.ExitCode != want.ExitCode || got.GasUsed != want.GasUsed || got.Transaction.HashKey() != want.Transaction.HashKey() ||
				got.Account.HashKey() != want.Account.HashKey() || got.Fees.Gas.Cmp(want.Fees.Gas) != 0 || got.Fees.Storage.Cmp(want.Fees.Storage) != 0 ||
				got.Fees.InForward.Cmp(want.Fees.InForward) != 0 || len(got.Messages) != len(want.Messages) {
				t.Errorf("%s: %+v, want %+v", code, got, want)
			}
		}
	}
	if got := len(children(t)); got != 1 {
		t.Errorf("%d processes after deliveries one after the other, want 1", got)
	}
}

func TestAnExecutionEndsAtTheDeadlineAndTheNextOneIsServed(t *testing.T) {
	p := start(t, func(c *emulator.Configuration) { c.Workers, c.Deadline = 1, 500*time.Millisecond })
	begun := time.Now()
	if _, err := p.Deliver(t.Context(), delivery(t, generous(t), endless)); !errors.Is(err, emulator.ErrLimits) {
		t.Fatalf("endless code: %v, want %v", err, emulator.ErrLimits)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %s, want about 500ms", took)
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes %v work on after the deadline", left)
	}
}

func TestAnExecutionEndsWithItsShareOfAProcessor(t *testing.T) {
	p := start(t, func(c *emulator.Configuration) {
		c.Workers, c.Deadline, c.Processor = 1, time.Minute, 50*time.Millisecond
	})
	in := delivery(t, configtest.Of(t, nil, nil), ordinary)
	for range 2 {
		if _, err := p.Deliver(t.Context(), delivery(t, generous(t), endless)); !errors.Is(err, emulator.ErrLimits) {
			t.Fatalf("endless code: %v, want %v", err, emulator.ErrLimits)
		}
		// What it has used before does not count.
		for range 200 {
			if _, err := p.Deliver(t.Context(), in); err != nil {
				t.Fatalf("the next one: %v", err)
			}
		}
	}
}

func TestAnExecutionEndsWithItsCaller(t *testing.T) {
	p := start(t, func(c *emulator.Configuration) { c.Workers = 1 })
	in := delivery(t, generous(t), endless)
	ctx, cancel := context.WithCancel(t.Context())
	failure := make(chan error, 1)
	go func() {
		_, err := p.Deliver(ctx, in)
		failure <- err
	}()
	for len(children(t)) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-failure; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes %v work on without a caller", left)
	}
	if _, err := p.Deliver(t.Context(), delivery(t, configtest.Of(t, nil, nil), ordinary)); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestStopEndsAnExecution(t *testing.T) {
	p := start(t, func(c *emulator.Configuration) { c.Workers = 1 })
	in := delivery(t, generous(t), endless)
	failure := make(chan error, 1)
	go func() {
		_, err := p.Deliver(t.Context(), in)
		failure <- err
	}()
	for len(children(t)) == 0 {
		time.Sleep(time.Millisecond)
	}
	begun := time.Now()
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-failure; !errors.Is(err, emulator.ErrStopped) {
		t.Errorf("%v, want %v", err, emulator.ErrStopped)
	}
	if took := time.Since(begun); took > 15*time.Second { // the deadline is later
		t.Errorf("it took %s to stop", took)
	}
	if _, err := p.Deliver(t.Context(), in); !errors.Is(err, emulator.ErrStopped) {
		t.Errorf("after the stop: %v, want %v", err, emulator.ErrStopped)
	}
}

func TestAWorkerThatWasKilledIsReplaced(t *testing.T) {
	p := start(t, func(c *emulator.Configuration) { c.Workers = 1 })
	in := delivery(t, configtest.Of(t, nil, nil), ordinary)
	for range 3 {
		if _, err := p.Deliver(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		for _, pid := range children(t) {
			process, err := os.FindProcess(pid)
			if err != nil {
				t.Fatal(err)
			}
			if err := process.Kill(); err != nil {
				t.Fatal(err)
			}
			for { // until it is a zombie
				stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
				if err != nil || strings.Contains(string(stat), ") Z ") {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
	}
}

// greedy makes tuples in tuples and lets none go: some hundred bytes for each
// round of some hundred gas.
const greedy = "309E" + "7070707070707070707070" + "70" + "6F0D" + "EA"

func TestAnExecutionThatNeedsTooMuchMemoryIsEndedAndTheNextOneIsServed(t *testing.T) {
	p := start(t, func(c *emulator.Configuration) {
		c.Workers, c.Deadline, c.Processor, c.MemoryBytes = 1, time.Minute, time.Minute, 256<<20
	})
	if _, err := p.Deliver(t.Context(), delivery(t, configtest.Of(t, nil, nil), ordinary)); err != nil {
		t.Fatal(err)
	}
	first := children(t)
	begun := time.Now()
	if _, err := p.Deliver(t.Context(), delivery(t, generous(t), greedy)); !errors.Is(err, emulator.ErrLimits) {
		t.Fatalf("%v, want %v", err, emulator.ErrLimits)
	}
	if took := time.Since(begun); took > 50*time.Second {
		t.Errorf("it took %s: the deadline ended it, want the limit on memory", took)
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes %v are left, want none", left)
	}
	if _, err := p.Deliver(t.Context(), delivery(t, configtest.Of(t, nil, nil), ordinary)); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if next := children(t); len(next) != 1 || len(first) != 1 || next[0] == first[0] {
		t.Errorf("processes %v before and %v after, want one and another one", first, next)
	}
}

func TestEveryThreadOfAWorkerIsPolite(t *testing.T) {
	const politeness = 10
	p := start(t, nil)
	if _, err := p.Deliver(t.Context(), delivery(t, configtest.Of(t, nil, nil), ordinary)); err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", children(t)[0]))
	if err != nil || len(threads) < 2 {
		t.Fatalf("threads %v (%v), want several", threads, err)
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		const nice = 16 // of the fields behind the name
		if got := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[nice]; got != strconv.Itoa(politeness) {
			t.Errorf("%s: priority %s, want %d", path, got, politeness)
		}
	}
}

// asParent is the variable that makes TestParent a process with workers.
const asParent = "TONSCRIBE_TEST_PARENT_OF_WORKERS"

// TestParent is no test by itself: it is the parent that another one kills. One
// of its workers is busy for ever, the other one has nothing to do.
func TestParent(t *testing.T) {
	if os.Getenv(asParent) == "" {
		t.Skip("it runs inside of TestWorkersEndWhenTheirParentIsKilled")
	}
	p := start(t, func(c *emulator.Configuration) { c.Workers, c.Deadline, c.Processor = 2, time.Minute, time.Minute })
	busy := delivery(t, generous(t), endless)
	go p.Deliver(t.Context(), busy)
	for len(children(t)) == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := p.Deliver(t.Context(), delivery(t, configtest.Of(t, nil, nil), ordinary)); err != nil {
		t.Fatal(err)
	}
	for !slices.ContainsFunc(children(t), executes) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("workers", children(t))
	select {}
}

// executes reports whether a process has used half a second of processor time,
// more than it takes to start.
func executes(pid int) bool {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 12 {
		return false
	}
	ticks, _ := strconv.Atoi(fields[11]) // utime, of USER_HZ
	return ticks >= 50
}

func TestWorkersEndWhenTheirParentIsKilled(t *testing.T) {
	parent := exec.Command("/proc/self/exe", "-test.run", "^TestParent$", "-test.timeout", "5m")
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer parent.Wait()
	defer parent.Process.Kill()
	var workers []string
	for lines := bufio.NewScanner(out); workers == nil && lines.Scan(); {
		if list, ok := strings.CutPrefix(lines.Text(), "workers ["); ok {
			workers = strings.Fields(strings.TrimSuffix(list, "]"))
		}
	}
	if len(workers) != 2 {
		t.Fatalf("the parent has workers %v, want two", workers)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var alive []string
		for _, pid := range workers {
			// Who adopts them may be slow to bury them.
			if stat, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
				alive = append(alive, pid)
			}
		}
		if len(alive) == 0 {
			return
		}
		if time.Now().After(limit) {
			for _, pid := range alive {
				if number, err := strconv.Atoi(pid); err == nil {
					syscall.Kill(number, syscall.SIGKILL)
				}
			}
			t.Fatalf("workers %v of %v live a minute after their parent was killed", alive, workers)
		}
	}
}

func TestAMessageLargeAsATreeReachesNoWorker(t *testing.T) {
	p := start(t, nil)
	bomb := cell.BeginCell().EndCell()
	for range 60 {
		bomb = cell.BeginCell().MustStoreRef(bomb).MustStoreRef(bomb).EndCell()
	}
	in := delivery(t, configtest.Of(t, nil, nil), ordinary)
	in.Message = bomb
	if _, err := p.Deliver(t.Context(), in); !errors.Is(err, tvm.ErrMessageTooLarge) {
		t.Errorf("%v, want %v", err, tvm.ErrMessageTooLarge)
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes %v were started for it", left)
	}
}
