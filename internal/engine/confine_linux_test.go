package engine

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAConfinedThreadMakesNoSocketsButThoseOfTCPAndNetlink(t *testing.T) {
	type socket struct{ domain, kind, protocol int }
	results := map[socket]error{}
	sockets := map[socket]error{
		{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}: nil, {unix.AF_INET6, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP}: nil,
		{unix.AF_NETLINK, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE}: nil,
		{unix.AF_INET, unix.SOCK_DGRAM, 0}:                                       unix.EACCES, {unix.AF_INET6, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK, unix.IPPROTO_UDP}: unix.EACCES,
		{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}: unix.EACCES, {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}: unix.EACCES,
		{unix.AF_UNIX, unix.SOCK_STREAM, 0}: unix.EACCES, {unix.AF_UNIX, unix.SOCK_DGRAM, 0}: unix.EACCES, {unix.AF_PACKET, unix.SOCK_RAW, 0}: unix.EACCES,
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its filter
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			done <- err
			return
		}
		err := onlyStreams()
		for s := range sockets {
			fd, problem := unix.Socket(s.domain, s.kind, s.protocol)
			results[s] = problem
			if problem == nil {
				unix.Close(fd)
			}
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for s, want := range sockets {
		if got := results[s]; !errors.Is(got, want) {
			t.Errorf("socket(%d, %#x, %d): %v, want %v", s.domain, s.kind, s.protocol, got, want)
		}
	}
}
