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

func startWorker(c Configuration) (_ *worker, err error) {
	end, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer end.Close()
	defer func() {
		if err != nil {
			lifeline.Close()
		}
	}()
	w := &worker{lifeline: lifeline}
	w.command = exec.Command("/proc/self/exe", ChildCommand,
		strconv.FormatInt(c.MemoryBytes, 10), c.Deadline.String(), c.Processor.String())
	w.command.ExtraFiles = []*os.File{end}
	w.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal is for the parent
	in, err := w.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.command.Start(); err != nil {
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
	var answer outcome
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		var request *delivery
		if request, err = pack(in, &w.known); err != nil {
			return
		}
		if err = w.encoder.Encode(request); err == nil {
			err = w.decoder.Decode(&taken{})
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", errUnasked, err)
			return
		}
		err = w.decoder.Decode(&answer)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		w.command.Process.Kill()
		<-done // the pipes have ended
		w.reap()
		return tvm.Outcome{}, ctx.Err()
	}
	if err != nil {
		w.kill()
		return tvm.Outcome{}, fmt.Errorf("process %s: %w", w.command.ProcessState, err)
	}
	out, err := answer.unpack()
	if err != nil && !errors.Is(err, errExecution) {
		w.kill()
	}
	return out, err
}
