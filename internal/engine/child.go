package engine

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// ChildCommand is the first argument that turns our binary into the engine.
const ChildCommand = "__engine"

// File descriptors that the parent hands to the child.
const (
	lifelineFD = 3 // its end of input means: stop
	readyFD    = 4 // gets the port once connections are accepted
	lockFD     = 5 // holds the data folder's lock while the child lives
)

// Exit codes of the child.
const (
	exitAsked      = 0
	exitBadCall    = 2
	exitNoLibrary  = 3
	exitNoTerminal = 4
	exitUnasked    = 7 // the engine ended by itself: port busy, bad configuration, folder locked
)

// orphanLife is the longest that an engine lives on without its parent: an open
// connection may keep it for five seconds. It is shorter than orphanLimit.
const orphanLife = 8 * time.Second

// The engine must run on the process's first thread: it was built as a program
// and takes the thread it is called on for its main thread.
func init() {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		runtime.LockOSThread()
	}
}

// ClickHouseMain is the whole life of the child process `tonscribe __engine …`:
// it loads the library and serves until the parent closes the lifeline or dies.
// args are the arguments after the command; the result is the exit code. The
// child does nothing else, because a panic of Go under the engine's signal
// handlers is not reliably reported.
func ClickHouseMain(args []string) int {
	flags := flag.NewFlagSet(ChildCommand, flag.ContinueOnError)
	library := flags.String("library", "", "path of the engine's library")
	path := flags.String("path", "", "absolute data folder")
	config := flags.String("config", "", "absolute path of config.xml")
	port := flags.Int("port", 0, "port of the native protocol")
	httpPort := flags.Int("http-port", 0, "port of HTTP")
	if err := flags.Parse(args); err != nil {
		return exitBadCall
	}
	if !isPipe(lifelineFD) || !isPipe(readyFD) || *path == "" || *config == "" {
		fmt.Fprintln(os.Stderr, ChildCommand+" is started by tonscribe itself and cannot be called by hand")
		return exitBadCall
	}
	unix.Umask(0o077)

	run, err := loadEngine(*library)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitNoLibrary
	}
	hold, err := newHold()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitNoTerminal
	}
	// A parent that dies now leaves the pipe without a reader, and the engine
	// would wait for ever for one when it opens it to report the port.
	reader, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", readyFD), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitBadCall
	}
	defer reader.Close()
	go hold.releaseAtEnd()
	run(engineArguments(*path, *config, *port, *httpPort, int(hold.read.Fd())))
	if hold.asked() {
		return exitAsked
	}
	return exitUnasked
}

// engineArguments is the command line of clickhouse-local. Its statements open
// the ports, report one, and then read a pipe that gives nothing until it ends.
// The last ones close the ports first, which lets open connections go at once
// instead of after five seconds.
func engineArguments(path, config string, port, httpPort, holdFD int) []string {
	script := []string{
		"SYSTEM START LISTEN HTTP",
		"SYSTEM START LISTEN TCP",
		fmt.Sprintf("INSERT INTO FUNCTION file('/proc/self/fd/%d', 'TSV', 'port UInt16') SELECT getServerPort('tcp_port')", readyFD),
		fmt.Sprintf("SELECT * FROM file('/proc/self/fd/%d', 'LineAsString', 'line String') FORMAT Null", holdFD),
		"SYSTEM STOP LISTEN TCP",
		"SYSTEM STOP LISTEN HTTP",
	}
	return []string{
		"clickhouse", "--path=" + path, "--multiquery", "--query", strings.Join(script, "; "),
		fmt.Sprintf("--tcp_port=%d", port), fmt.Sprintf("--http_port=%d", httpPort), "--listen_host=127.0.0.1", "--config-file=" + config,
		// Without --interactive (and a terminal) any exception that leaves a
		// connection, two failed logins for instance, ends the whole engine.
		"--interactive", "--progress=off", "--disable_suggestion", "--history_file=/dev/null", "--highlight=0",
	}
}

// loadEngine loads the library and returns its entry as a function of a command line.
func loadEngine(library string) (func(arguments []string), error) {
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("engine library %s: %w", library, err)
	}
	entry, err := purego.Dlsym(handle, "query_stable_v2")
	if err != nil {
		return nil, fmt.Errorf("engine library %s: %w", library, err)
	}
	return func(arguments []string) {
		argv := make([]*byte, len(arguments)+1)
		for i, a := range arguments {
			argv[i], _ = unix.BytePtrFromString(a)
		}
		purego.SyscallN(entry, uintptr(len(arguments)), uintptr(unsafe.Pointer(&argv[0])))
		runtime.KeepAlive(argv)
	}, nil
}

// hold keeps the engine's session busy until it is released, and then ends the
// session by typing the end of input into its terminal.
type hold struct {
	read, write *os.File
	terminal    *os.File
	released    chan struct{}
	once        sync.Once
}

func newHold() (*hold, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("engine pipe: %w", err)
	}
	terminal, inside, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("engine terminal (/dev/ptmx is needed): %w", err)
	}
	for _, fd := range []int{unix.Stdin, unix.Stdout} {
		if err := unix.Dup2(int(inside.Fd()), fd); err != nil {
			return nil, fmt.Errorf("engine terminal: %w", err)
		}
	}
	h := &hold{read: read, write: write, terminal: terminal, released: make(chan struct{})}
	go io.Copy(io.Discard, terminal)
	go h.typeEndOfInput()
	return h, nil
}

// releaseAtEnd releases the hold when the parent closes the lifeline, when the
// parent is gone, or at a signal.
func (h *hold) releaseAtEnd() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		<-signals
		h.release()
	}()
	io.Copy(io.Discard, os.NewFile(lifelineFD, "lifeline"))
	h.release()
	// Whatever keeps the engine, the folder must become free for the next one.
	time.Sleep(orphanLife)
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
}

func (h *hold) release() {
	h.once.Do(func() {
		close(h.released)
		h.write.Close()
	})
}

func (h *hold) asked() bool {
	select {
	case <-h.released:
		return true
	default:
		return false
	}
}

// typeEndOfInput types Ctrl-D again and again: what is typed before the engine's
// line editor runs is lost. The editor runs only when the statements are through,
// after a stop or a failed start.
func (h *hold) typeEndOfInput() {
	released, interval := h.released, 100*time.Millisecond
	for {
		select {
		case <-released:
			released, interval = nil, 10*time.Millisecond
		case <-time.After(interval):
		}
		if _, err := h.terminal.Write([]byte{4}); err != nil {
			return
		}
	}
}

func isPipe(fd int) bool {
	var stat unix.Stat_t
	return unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFIFO
}
