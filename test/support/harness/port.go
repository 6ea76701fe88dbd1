package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"tonscribe/internal/engine"
)

const firstPort = 10000

// FreePort returns a port of the loopback that nothing listens at and that stays free
// until the caller's server listens there: it lies below the range that the system gives
// to outgoing connections and below the one in which embedded engines choose theirs, and
// a lock that lasts as long as the test's process keeps every other test of the machine
// from being given it.
func FreePort(t testing.TB) int {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "tonscribe-test-ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		port := firstPort + rand.IntN(engine.FirstPort-firstPort)
		claim, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Flock(int(claim.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			claim.Close()
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			claim.Close()
			continue
		}
		l.Close()
		claims.Lock()
		claims.held = append(claims.held, claim)
		claims.Unlock()
		return port
	}
	t.Fatalf("no free port between %d and %d on 127.0.0.1", firstPort, engine.FirstPort)
	return 0
}

// claims holds the locks of the ports given out. Nothing closes them: the end of the process does.
var claims struct {
	sync.Mutex
	held []*os.File
}

// DeafAddress is of a port of this machine that refuses connections, and stays taken until
// the end of the test: nobody can begin to listen there.
func DeafAddress(t testing.TB) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}

// FreeAddress is 127.0.0.1 with a FreePort.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", FreePort(t))
}
