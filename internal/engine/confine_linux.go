package engine

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The process of the engine gives up what it does not need, for good, before it
// accepts a connection: with Landlock, which needs no privilege (kernel 5.13;
// outgoing connections from kernel 6.7 on), and with a filter of system calls for
// the sockets that Landlock does not know. Names of hosts, for one, are looked up
// for `remote('name', …)` before the right to the function is checked.

// Rights to what a folder holds.
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REFER
	// ofFiles are the rights that a file, no folder, can have.
	ofFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// By version of Landlock, the last one for all later ones: the first right to
// files that the kernel does not know, and the size of a ruleset's description.
var (
	unknownRights = []uint64{0, unix.LANDLOCK_ACCESS_FS_REFER, unix.LANDLOCK_ACCESS_FS_TRUNCATE, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}
	sizes         = []uintptr{0, 8, 8, 8, 16, 16, 24}
)

const (
	versionWithConnections = 4
	versionWithSignals     = 6
)

// confinement is what a process may still do.
type confinement struct {
	paths   map[string]uint64
	listen  []int // ports
	connect []int // ports, of any address
}

// landlockVersion is that of the kernel, 0 where there is none.
func landlockVersion() int {
	version, _, problem := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if problem != 0 {
		return 0
	}
	return int(version)
}

// apply confines the calling thread and all that it starts. It adds to what was
// applied before, never takes anything back.
func (c confinement) apply() error {
	version := landlockVersion()
	if version == 0 {
		return errors.New("this kernel has no Landlock")
	}
	known := unknownRights[min(version, len(unknownRights)-1)] - 1
	rules := unix.LandlockRulesetAttr{Handled_access_fs: known}
	if version >= versionWithConnections {
		rules.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= versionWithSignals {
		rules.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, _, problem := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), sizes[min(version, len(sizes)-1)], 0)
	if problem != 0 {
		return fmt.Errorf("landlock: %w", problem)
	}
	defer unix.Close(int(fd))
	for path, rights := range c.paths {
		if err := allowPath(fd, path, rights&known); err != nil {
			return err
		}
	}
	if rules.Handled_access_net != 0 {
		for _, port := range c.listen {
			if err := allowPort(fd, unix.LANDLOCK_ACCESS_NET_BIND_TCP, port); err != nil {
				return err
			}
		}
		for _, port := range c.connect {
			if err := allowPort(fd, unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, port); err != nil {
				return err
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if _, _, problem := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); problem != 0 {
		return fmt.Errorf("landlock: %w", problem)
	}
	return onlyStreams()
}

// onlyStreams refuses to the calling thread, and to all that it starts, every new
// socket but those of TCP and of netlink, which tells the machine's own addresses:
// no UDP, nothing raw, no socket of the file system.
func onlyStreams() error {
	const (
		load     = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		and      = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		end      = unix.BPF_RET | unix.BPF_K
		call     = 0  // offsets in seccomp_data
		domain   = 16 // the first argument
		kind     = 24 // the second
		kindMask = 0xf
	)
	filter := []unix.SockFilter{
		{Code: load, K: call},
		{Code: equal, K: unix.SYS_SOCKET, Jf: 7},
		{Code: load, K: domain},
		{Code: equal, K: unix.AF_NETLINK, Jt: 5},
		{Code: equal, K: unix.AF_INET, Jt: 1},
		{Code: equal, K: unix.AF_INET6, Jf: 4},
		{Code: load, K: kind},
		{Code: and, K: kindMask},
		{Code: equal, K: unix.SOCK_STREAM, Jf: 1},
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Without the flag, older kernels slow the process down against Spectre.
	_, _, problem := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if problem != 0 {
		return fmt.Errorf("seccomp: %w", problem)
	}
	return nil
}

// allowPath allows the rights to a file, or to a folder with all in it. What is
// not there needs none.
func allowPath(rules uintptr, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	return addRule(rules, unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule), path)
}

// ruleNetPort is Landlock's kind of rule for ports.
const ruleNetPort = 2

func allowPort(rules, access uintptr, port int) error {
	rule := struct{ access, port uint64 }{uint64(access), uint64(port)}
	return addRule(rules, ruleNetPort, unsafe.Pointer(&rule), fmt.Sprintf("port %d", port))
}

func addRule(rules, kind uintptr, rule unsafe.Pointer, what string) error {
	if _, _, problem := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, rules, kind, uintptr(rule), 0, 0, 0); problem != 0 {
		return fmt.Errorf("landlock: %s: %w", what, problem)
	}
	return nil
}
