package engine

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
	exitAsked       = 0
	exitBadCall     = 2
	exitNoLibrary   = 3
	exitNoTerminal  = 4
	exitNotConfined = 5
	exitUnasked     = 7 // the engine ended by itself: port busy, bad configuration, folder locked
)

// orphanLife is the longest that an engine lives on without its parent: an open
// connection may keep it for five seconds. It is shorter than orphanLimit.
const orphanLife = 8 * time.Second

// The engine must run on the process's first thread: it was built as a program
// and takes the thread it is called on for its main thread.
func init() {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		runtime.LockOSThread()
		// A service manager signals all processes of a service at once. The engine ends
		// when its parent has written what it holds and closes the lifeline.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
}

// ClickHouseMain is the whole life of the child process `tonscribe __engine …`:
// it loads the library and serves until the parent closes the lifeline or dies.
// args are the arguments after the command; the result is the exit code. The
// child does nothing else, because a panic of Go under the engine's signal
// handlers is not reliably reported.
func ClickHouseMain(args []string) int {
	code, err := serve(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

func serve(args []string) (code int, err error) {
	flags := flag.NewFlagSet(ChildCommand, flag.ContinueOnError)
	library := flags.String("library", "", "path of the engine's library")
	path := flags.String("path", "", "absolute data folder")
	config := flags.String("config", "", "absolute path of config.xml")
	port := flags.Int("port", 0, "port of the native protocol")
	httpPort := flags.Int("http-port", 0, "port of HTTP")
	logs := flags.String("logs", "", "absolute folder of logs")
	var peers []int
	flags.Func("peer", "port that the engine may connect to; can be repeated", func(text string) error {
		port, err := strconv.ParseUint(text, 10, 16)
		peers = append(peers, int(port))
		return err
	})
	confined := flags.Bool("confined", false, "give up everything but the folders and ports")
	if err := flags.Parse(args); err != nil {
		return exitBadCall, nil // the flags have said why
	}
	if !isPipe(lifelineFD) || !isPipe(readyFD) || *path == "" || *config == "" {
		return exitBadCall, errors.New(ChildCommand + " is started by tonscribe itself and cannot be called by hand")
	}
	unix.Umask(0o077)

	run, err := loadEngine(*library)
	if err != nil {
		return exitNoLibrary, err
	}
	hold, err := newHold()
	if err != nil {
		return exitNoTerminal, err
	}
	// A start that fails once there is no working folder ends with a signal.
	for _, p := range []int{*port, *httpPort} {
		l, err := net.Listen("tcp", at(p))
		if err != nil {
			return exitUnasked, err
		}
		l.Close()
	}
	nowhere, err := newNowhere(filepath.Join(filepath.Dir(*path), "nowhere"))
	if err != nil {
		return exitNotConfined, err
	}
	if *confined {
		// A rule is for a file of /proc as it is now, so it must stay open.
		for _, path := range ofItself {
			f, err := os.Open(path)
			if err != nil {
				return exitNotConfined, err
			}
			defer f.Close()
		}
		need := confinement{paths: whatTheEngineNeeds(*path, *config, *logs), listen: []int{*port, *httpPort}, connect: peers}
		if err := need.apply(); err != nil {
			return exitNotConfined, err
		}
	}
	// A parent that dies now leaves the pipe without a reader, and the engine
	// would wait for ever for one when it opens it to report the port.
	reader, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", readyFD), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return exitBadCall, err
	}
	defer reader.Close()
	go hold.releaseAtEnd()
	go nowhere.serve()
	run(engineArguments(*path, *config, *port, *httpPort, hold, nowhere))
	if hold.asked() {
		return exitAsked, nil
	}
	return exitUnasked, nil
}

// ofItself is what the engine reads of its own process: where the stack of the
// first thread is, how much memory it has, and what each thread has used, whenever it
// gets work: where it may not, it says so with a stack each time.
var ofItself = []string{"/proc/self/maps", "/proc/self/statm", "/proc/self/task"}

// whatTheEngineNeeds is what it keeps of the file system: its data, its
// configuration, writing its logs. It has the library in memory, and the pipes
// and the terminal open.
func whatTheEngineNeeds(data, config, logs string) map[string]uint64 {
	paths := map[string]uint64{
		data: mayRead | mayWrite, filepath.Dir(config): mayRead, logs: mayWrite,
		"/dev/null": mayRead | mayWrite, "/dev/urandom": mayRead,
	}
	for _, path := range ofItself {
		paths[path] = mayRead
	}
	return paths
}

// engineArguments is the command line of clickhouse-local. Its statements have the
// working folder removed, open the ports, report one, and then read a pipe that
// gives nothing until it ends. The last ones close the ports first, which lets open
// connections go at once instead of after five seconds.
func engineArguments(path, config string, port, httpPort int, hold *hold, nowhere *nowhere) []string {
	script := slices.Concat(
		nowhere.leave.tables(), nowhere.back.tables(),
		[]string{pipeTable("ready", "UInt16", readyFD), pipeTable("hold", "String", hold.read.Fd())},
		nowhere.leave.pass(),
		[]string{
			"SYSTEM START LISTEN HTTP",
			"SYSTEM START LISTEN TCP",
			"INSERT INTO ready SELECT getServerPort('tcp_port')",
			"SELECT * FROM hold FORMAT Null",
			"SYSTEM STOP LISTEN TCP",
			"SYSTEM STOP LISTEN HTTP",
		},
		nowhere.back.pass(),
	)
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

// nowhere is a working folder that is removed before the engine opens its ports.
// To this build every file of the machine is a user file, and its function `file`
// asks for no right. But it looks for the folder of user files first, which is the
// working one, and fails without: it opens no file for anybody. The end of the
// engine's session wants a working folder again, and gets one when the ports are
// closed.
type nowhere struct {
	folder      string
	leave, back *gate
}

func newNowhere(folder string) (*nowhere, error) {
	leave, err := newGate("leave")
	if err != nil {
		return nil, err
	}
	back, err := newGate("back")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return &nowhere{folder, leave, back}, os.Chdir(folder)
}

// serve removes the folder at the one gate and leaves it at the other. When that
// cannot be, it ends the engine.
func (n *nowhere) serve() {
	for _, step := range []struct {
		gate *gate
		do   func() error
	}{
		{n.leave, func() error { return os.Remove(n.folder) }},
		{n.back, func() error { return os.Chdir("/") }},
	} {
		_, _ = step.gate.asked.Read(make([]byte, 1)) // its end asks, too
		if err := step.do(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitNotConfined)
		}
		step.gate.open.Close()
	}
}

// gate is a place in the engine's statements that they pass once it is opened.
type gate struct {
	name        string
	ask, opened *os.File // ends of the engine
	asked, open *os.File
}

func newGate(name string) (*gate, error) {
	g := &gate{name: name}
	var errAsk, errOpen error
	g.asked, g.ask, errAsk = os.Pipe()
	g.opened, g.open, errOpen = os.Pipe()
	if err := errors.Join(errAsk, errOpen); err != nil {
		return nil, fmt.Errorf("engine pipe: %w", err)
	}
	return g, nil
}

// tables are the statements before the gate, once there is a working folder.
func (g *gate) tables() []string {
	return []string{pipeTable(g.name+"_ask", "UInt8", g.ask.Fd()), pipeTable(g.name+"_opened", "String", g.opened.Fd())}
}

// pass are the statements at the gate.
func (g *gate) pass() []string {
	return []string{"INSERT INTO " + g.name + "_ask VALUES (1)", "SELECT * FROM " + g.name + "_opened FORMAT Null"}
}

// pipeTable makes a table of the end of a pipe.
func pipeTable(name, kind string, fd uintptr) string {
	return fmt.Sprintf("CREATE TEMPORARY TABLE %s (value %s) ENGINE = File('TSV', '/proc/self/fd/%d')", name, kind, fd)
}

// hold keeps the engine's session busy until it is released, and then ends the
// session by typing the end of input into its terminal.
type hold struct {
	read, write *os.File
	terminal    *os.File
	released    chan struct{}
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

// releaseAtEnd releases the hold when the parent closes the lifeline or is gone.
func (h *hold) releaseAtEnd() {
	io.Copy(io.Discard, os.NewFile(lifelineFD, "lifeline"))
	close(h.released)
	h.write.Close()
	// Whatever keeps the engine, the folder must become free for the next one.
	time.Sleep(orphanLife)
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
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
// after a stop or a failed start: of an engine that goes on running, it is looked for
// seldom.
func (h *hold) typeEndOfInput() {
	released, interval := h.released, 50*time.Millisecond
	for {
		select {
		case <-released:
			released, interval = nil, 10*time.Millisecond
		case <-time.After(interval):
			if released != nil {
				interval = min(2*interval, 10*time.Second)
			}
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
