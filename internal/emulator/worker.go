package emulator

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"tonscribe/ton/tvm"
)

// ChildCommand is the first argument that turns our binary into a worker.
const ChildCommand = "__emulator"

// lifelineFD is the file descriptor whose end of input ends a worker: the parent
// has closed it, or is gone.
const lifelineFD = 3

// worker is one process, seen from the parent. One delivery is with it at a time.
type worker struct {
	command  *exec.Cmd
	lifeline *os.File
	in       io.WriteCloser
	encoder  *gob.Encoder
	decoder  *gob.Decoder
	known    parts[struct{}]
}

// errUnasked is returned when the process had ended before it got the delivery.
var errUnasked = errors.New("the process had ended")

func startWorker(c Configuration) (*worker, error) {
	end, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	w := &worker{lifeline: lifeline}
	w.command = exec.Command("/proc/self/exe", ChildCommand,
		strconv.FormatInt(c.MemoryBytes, 10), strconv.FormatInt(int64(c.Deadline/time.Millisecond), 10))
	w.command.ExtraFiles = []*os.File{end}
	w.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal is for the parent
	in, err := w.command.StdinPipe()
	if err != nil {
		lifeline.Close()
		return nil, err
	}
	out, err := w.command.StdoutPipe()
	if err != nil {
		lifeline.Close()
		return nil, err
	}
	if err := w.command.Start(); err != nil {
		lifeline.Close()
		return nil, err
	}
	w.in, w.encoder, w.decoder = in, gob.NewEncoder(in), gob.NewDecoder(out)
	return w, nil
}

// reap waits for the end of the process, once it was killed or its pipe ended:
// Wait closes the pipes, which must not be read any more.
func (w *worker) reap() {
	w.command.Wait()
	w.lifeline.Close()
}

// kill ends the process and waits for it.
func (w *worker) kill() {
	w.command.Process.Kill()
	w.reap()
}

// deliver asks the process. After any error but errExecution the process is gone.
func (w *worker) deliver(ctx context.Context, in tvm.Delivery) (tvm.Outcome, error) {
	type result struct {
		outcome *outcome
		err     error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		request, err := pack(in, &w.known)
		if err == nil {
			if err = w.encoder.Encode(request); err == nil {
				err = w.decoder.Decode(&taken{})
			}
			if err != nil {
				err = fmt.Errorf("%w: %w", errUnasked, err)
			}
		}
		if err == nil {
			r.outcome = &outcome{}
			err = w.decoder.Decode(r.outcome)
		}
		r.err = err
		done <- r
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		w.command.Process.Kill()
		<-done // the pipes have ended
		w.reap()
		return tvm.Outcome{}, ctx.Err()
	}
	if r.err != nil {
		w.kill()
		return tvm.Outcome{}, fmt.Errorf("process %s: %w", w.command.ProcessState, r.err)
	}
	out, err := r.outcome.unpack()
	if err != nil && !errors.Is(err, errExecution) {
		w.kill()
	}
	return out, err
}
