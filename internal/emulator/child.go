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
	// politeness is the priority of workers: what strangers ask for waits for
	// everything else on the machine.
	politeness = 10
	// grace is how long after the parent's deadline a worker ends itself, should
	// the parent be too busy to do it.
	grace = time.Second
)

// Main is the whole life of a worker, `tonscribe __emulator MEMORY DEADLINE`: it
// reads deliveries from its standard input and writes their outcomes to its
// standard output. The result is the exit code.
func Main(args []string) int {
	var stat unix.Stat_t
	if len(args) != 2 || unix.Fstat(lifelineFD, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFIFO {
		fmt.Fprintln(os.Stderr, ChildCommand+" is started by tonscribe itself and cannot be called by hand")
		return exitBadCall
	}
	memory, err := strconv.ParseInt(args[0], 10, 64)
	milliseconds, problem := strconv.ParseInt(args[1], 10, 64)
	if err != nil || problem != nil {
		return exitBadCall
	}
	if err := limit(memory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBadCall
	}
	go func() {
		io.Copy(io.Discard, os.NewFile(lifelineFD, "lifeline"))
		os.Exit(0)
	}()
	if err := serve(os.Stdin, os.Stdout, time.Duration(milliseconds)*time.Millisecond+grace); err != nil {
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

// serve answers deliveries until the input ends. Each has two answers: that it
// was read, and its outcome.
func serve(in io.Reader, out io.Writer, limit time.Duration) error {
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
		stop := watch(limit)
		answer := execute(&request, &kept)
		stop()
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

func execute(request *delivery, kept *parts[*cell.Cell]) *outcome {
	in, err := request.unpack(kept)
	if err != nil {
		return &outcome{Failure: err.Error()}
	}
	done, err := tvm.Deliver(in)
	if err != nil {
		return &outcome{Failure: err.Error()}
	}
	return packOutcome(done)
}

// watch ends the process when one delivery takes longer than limit, of time or of
// processor time.
func watch(limit time.Duration) (stop func() bool) {
	timer := time.AfterFunc(limit, func() { os.Exit(1) })
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return timer.Stop
	}
	// What is in the way of the timer too, the system ends.
	seconds := uint64(used.Utime.Sec+used.Stime.Sec) + uint64(limit/time.Second) + 2
	var old unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &old) == nil {
		_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: min(seconds, old.Max), Max: old.Max})
	}
	return timer.Stop
}
