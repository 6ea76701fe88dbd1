package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is one run of the engine's process, seen from the parent.
type child struct {
	cmd        *exec.Cmd
	lifeline   *os.File
	stderr     string // path
	stderrFrom int64
	exited     chan struct{}
}

// startChild starts the engine and returns when it accepts connections. The
// child gets a process group of its own: neither Ctrl-C in a terminal nor a
// SYSTEM SHUTDOWN must reach across.
func startChild(ctx context.Context, o ClickHouseOptions, config string, dataLock *os.File) (_ *child, err error) {
	c := &child{stderr: filepath.Join(o.Dir, "log", "stderr.log"), exited: make(chan struct{})}
	stderr, err := os.OpenFile(c.stderr, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	if c.stderrFrom, err = stderr.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	lifelineEnd, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer lifelineEnd.Close()
	c.lifeline = lifeline
	defer func() {
		if err != nil {
			lifeline.Close()
		}
	}()
	ready, readyEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()

	c.cmd = exec.Command("/proc/self/exe", ChildCommand,
		"-library", o.Library, "-path", filepath.Join(o.Dir, "data"), "-config", config,
		"-logs", filepath.Join(o.Dir, "log"), "-confined="+strconv.FormatBool(landlockVersion() > 0),
		"-port", strconv.Itoa(o.Port), "-http-port", strconv.Itoa(o.HTTPPort))
	for _, port := range o.Peers {
		c.cmd.Args = append(c.cmd.Args, "-peer", strconv.Itoa(port))
	}
	c.cmd.Env = childEnvironment()
	c.cmd.Stderr = stderr
	c.cmd.Dir = o.Dir
	c.cmd.ExtraFiles = []*os.File{lifelineEnd, readyEnd, dataLock} // lifelineFD, readyFD, lockFD
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = c.cmd.Start()
	readyEnd.Close()
	if err != nil {
		return nil, err
	}
	go func() {
		c.cmd.Wait() // the state is kept in cmd.ProcessState
		close(c.exited)
	}()
	if err := c.awaitReady(ctx, ready); err != nil {
		c.kill()
		<-c.exited
		return nil, err
	}
	return c, nil
}

// childEnvironment is what the engine gets of ours: statements can show it, and
// ours may hold passwords.
func childEnvironment() []string {
	environment := []string{"TERM=xterm"} // the line editor ignores Ctrl-D on a dumb terminal
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}

// awaitReady waits for the line that the engine writes once it listens.
func (c *child) awaitReady(ctx context.Context, ready *os.File) error {
	defer context.AfterFunc(ctx, func() { ready.SetReadDeadline(time.Now()) })()
	line, err := bufio.NewReader(ready).ReadString('\n')
	switch {
	case err == nil && strings.TrimSpace(line) != "":
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("start: %w", ctx.Err())
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("start: %w", err)
	}
	<-c.exited
	if c.cmd.ProcessState.ExitCode() == exitNoLibrary {
		return fmt.Errorf("start: %s: run `make engine` to fetch the engine again, or %s", c.reason(), insteadOfEmbedded)
	}
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Errorf("start: %w: %s", errKilled, c.reason())
	}
	return fmt.Errorf("start: %s", c.reason())
}

// errKilled is the end of a child by a signal before it was ready: somebody
// killed it, or the system was out of memory.
var errKilled = errors.New("killed")

// stop asks the engine to end and kills it if it does not.
func (c *child) stop(limit time.Duration) {
	c.lifeline.Close()
	timer := time.AfterFunc(limit, c.kill)
	defer timer.Stop()
	<-c.exited
}

func (c *child) kill() { c.cmd.Process.Kill() }

func (c *child) pid() int { return c.cmd.Process.Pid }

// reason is how the process ended and what it said last.
func (c *child) reason() string {
	said := "it said nothing, see the folder log"
	if f, err := os.Open(c.stderr); err == nil {
		defer f.Close()
		const most = 64 << 10
		f.Seek(c.stderrFrom, io.SeekStart)
		text, _ := io.ReadAll(io.LimitReader(f, most))
		if lines := strings.TrimSpace(string(text)); lines != "" {
			said = lines[strings.LastIndexByte(lines, '\n')+1:]
			for line := range strings.Lines(lines) {
				if strings.Contains(line, "Exception") || strings.HasPrefix(line, "Code:") {
					said = strings.TrimSpace(line)
				}
			}
		}
	}
	return fmt.Sprintf("engine process ended (%s): %s", c.cmd.ProcessState, said)
}
