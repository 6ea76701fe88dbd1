package emulator

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"
	"golang.org/x/sys/unix"

	"tonscribe/ton/tvm"
)

const (
	// exitBadCall is the exit code of a worker that was started by hand.
	exitBadCall = 2
	// exitLimits is that of a worker that ends itself.
	exitLimits = 3
	// politeness is the priority of workers: what strangers ask for waits for
	// everything else on the machine.
	politeness = 10
	// grace is how long after the parent's deadline a worker ends itself, should
	// the parent be too busy to do it.
	grace = time.Second
)

// Main is the whole life of a worker, `tonscribe __emulator MEMORY DEADLINE PROCESSOR`:
// it reads deliveries from its standard input and writes their outcomes to its
// standard output. The result is the exit code.
func Main(args []string) int {
	var stat unix.Stat_t
	if len(args) != 3 || unix.Fstat(lifelineFD, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFIFO {
		fmt.Fprintln(os.Stderr, ChildCommand+" is started by tonscribe itself and cannot be called by hand")
		return exitBadCall
	}
	memory, badMemory := strconv.ParseInt(args[0], 10, 64)
	deadline, badDeadline := time.ParseDuration(args[1])
	processor, badProcessor := time.ParseDuration(args[2])
	if errors.Join(badMemory, badDeadline, badProcessor) != nil {
		return exitBadCall
	}
	tvm.Machine() // is no part of the first delivery's time
	if err := limit(memory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBadCall
	}
	go func() {
		io.Copy(io.Discard, os.NewFile(lifelineFD, "lifeline"))
		os.Exit(0)
	}()
	if err := serve(os.Stdin, os.Stdout, limits{deadline + grace, processor}); err != nil {
		return 1
	}
	return 0
}

// limit bounds what the process may have. The collector works harder before the
// system refuses memory, which ends the process.
func limit(memory int64) error {
	runtime.GOMAXPROCS(1)
	debug.SetMemoryLimit(memory / 2)
	// Its group is the process alone. By process, only the calling thread would change.
	if err := unix.Setpriority(unix.PRIO_PGRP, 0, politeness); err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)})
}

// limits of one execution, in time of day and of a processor.
type limits struct{ time, processor time.Duration }

// serve answers deliveries until the input ends. Each has two answers: that it
// was read, and its outcome.
func serve(in io.Reader, out io.Writer, l limits) error {
	decoder, buffered := gob.NewDecoder(bufio.NewReader(in)), bufio.NewWriter(out)
	encoder := gob.NewEncoder(buffered)
	var kept parts[*cell.Cell]
	for {
		var request delivery
		switch err := decoder.Decode(&request); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := send(encoder, buffered, taken{}); err != nil {
			return err
		}
		answer := execute(&request, &kept, l)
		if err := send(encoder, buffered, answer); err != nil {
			return err
		}
	}
}

func send(encoder *gob.Encoder, buffered *bufio.Writer, answer any) error {
	if err := encoder.Encode(answer); err != nil {
		return err
	}
	return buffered.Flush()
}

func execute(request *delivery, kept *parts[*cell.Cell], l limits) *outcome {
	in, err := request.unpack(kept)
	if err != nil {
		return &outcome{Failure: err.Error()}
	}
	defer l.watch()()
	done, err := tvm.Deliver(in)
	if err != nil {
		return &outcome{Failure: err.Error()}
	}
	return packOutcome(done)
}

// watch ends the process when what begins now takes longer than the limits, until stop
// is called.
func (l limits) watch() (stop func()) {
	ended, end := make(chan struct{}), processorTime()+l.processor
	// What is in the way of timers too, the system ends.
	var old unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &old) == nil {
		seconds := uint64(end/time.Second) + 2
		_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: min(seconds, old.Max), Max: old.Max})
	}
	late := time.After(l.time)
	go func() {
		for left := l.processor; left > 0; left = end - processorTime() {
			select {
			case <-ended:
				return
			case <-late:
				os.Exit(exitLimits)
			case <-time.After(left):
			}
		}
		os.Exit(exitLimits)
	}()
	return func() { close(ended) }
}

// processorTime is what the process has used.
func processorTime() time.Duration {
	var used unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used) != nil {
		return 0
	}
	return time.Duration(used.Nano())
}
