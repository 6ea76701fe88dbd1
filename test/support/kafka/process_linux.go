package kafkatest

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// startDying starts a process that is killed when this one dies in whatever
// way, a test's timeout included. The kernel ties that to the starting thread, so
// all are started by one thread that never ends.
func startDying(cmd *exec.Cmd) error {
	starter.once.Do(func() {
		starter.commands = make(chan *exec.Cmd)
		starter.results = make(chan error)
		go func() {
			runtime.LockOSThread()
			for c := range starter.commands {
				starter.results <- c.Start()
			}
		}()
	})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	starter.mutex.Lock()
	defer starter.mutex.Unlock()
	starter.commands <- cmd
	return <-starter.results
}

var starter struct {
	once     sync.Once
	mutex    sync.Mutex
	commands chan *exec.Cmd
	results  chan error
}
