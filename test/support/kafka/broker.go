package kafkatest

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The JVM of a broker starts in half the time and a third of the memory with
// these; brokers under test live for seconds.
var jvm = []string{
	"-Xms64m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:MaxDirectMemorySize=256m",
	"-Xshare:auto", "-Djava.awt.headless=true", "-Djava.net.preferIPv4Stack=true",
}

const (
	readyLimit     = 2 * time.Minute
	terminateLimit = 2 * time.Minute
	readyLine      = "Kafka Server started"
)

type broker struct {
	cluster                          *Cluster
	number                           int
	dir                              string
	port, controllerPort, securePort int

	process *process
}

// process is one run of a broker.
type process struct {
	cmd     *exec.Cmd
	archive string // written at an orderly end, if not empty
	ready   chan struct{}
	exited  chan struct{}

	mutex sync.Mutex
	last  []string
}

func (b *broker) path(name string) string { return filepath.Join(b.dir, name) }

// format writes the configuration and prepares the data folder.
func (b *broker) format() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(b.path("server.properties"), []byte(b.properties()), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(b.path("log4j2.properties"), []byte(logging), 0o600); err != nil {
		return err
	}
	arguments := b.java("kafka.tools.StorageTool", "format", "-t", b.cluster.id, "-c", b.path("server.properties"))
	for _, user := range slices.Sorted(maps.Keys(b.cluster.options.Users)) {
		arguments = append(arguments, "--add-scram", fmt.Sprintf("SCRAM-SHA-512=[name=%s,password=%s]", user, b.cluster.options.Users[user]))
	}
	if out, err := exec.Command(b.cluster.jars.java, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func (b *broker) java(class string, arguments ...string) []string {
	all := slices.Clone(jvm)
	if b.cluster.jars.hasArchive() {
		all = append(all, "-XX:SharedArchiveFile="+b.cluster.jars.archive())
	}
	// What Java unpacks there stays behind when it is killed.
	all = append(all, "-Djava.io.tmpdir="+b.dir, "-Dlog4j2.configurationFile=file:"+b.path("log4j2.properties"),
		"-cp", filepath.Join(b.cluster.jars.dir, "*"), class)
	return append(all, arguments...)
}

// The broker's log is its standard output, where its readiness is waited for.
const logging = `status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %c{1} %m%n
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
`

// properties are server.properties. The timeouts are the shortest that work, so
// that a killed broker is given up, and can come back, in a few seconds.
func (b *broker) properties() string {
	options := b.cluster.options
	replicas, inSync := 1, 1
	if options.Brokers >= 3 {
		replicas, inSync = 3, 2
	}
	var voters []string
	for _, other := range b.cluster.brokers {
		voters = append(voters, fmt.Sprintf("%d@%s", other.number, local(other.controllerPort)))
	}
	listeners := "PLAINTEXT://" + local(b.port)
	if len(options.Users) > 0 {
		listeners += ",SASL_SSL://" + local(b.securePort)
	}
	all := map[string]string{
		"process.roles":                                    "broker,controller",
		"node.id":                                          fmt.Sprint(b.number),
		"controller.quorum.voters":                         strings.Join(voters, ","),
		"listeners":                                        listeners + ",CONTROLLER://" + local(b.controllerPort),
		"advertised.listeners":                             listeners,
		"listener.security.protocol.map":                   "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT",
		"controller.listener.names":                        "CONTROLLER",
		"inter.broker.listener.name":                       "PLAINTEXT",
		"log.dirs":                                         b.path("data"),
		"auto.create.topics.enable":                        "false",
		"default.replication.factor":                       fmt.Sprint(replicas),
		"min.insync.replicas":                              fmt.Sprint(inSync),
		"offsets.topic.replication.factor":                 fmt.Sprint(replicas),
		"offsets.topic.num.partitions":                     "8",
		"transaction.state.log.replication.factor":         fmt.Sprint(replicas),
		"transaction.state.log.min.isr":                    fmt.Sprint(inSync),
		"share.coordinator.state.topic.replication.factor": fmt.Sprint(replicas),
		"share.coordinator.state.topic.min.isr":            fmt.Sprint(inSync),
		"group.initial.rebalance.delay.ms":                 "0",
		"log.message.timestamp.type":                       "LogAppendTime",
		"broker.session.timeout.ms":                        "3000",
		"broker.heartbeat.interval.ms":                     "500",
		"controller.quorum.fetch.timeout.ms":               "1000",
		"controller.quorum.election.timeout.ms":            "500",
		"controller.quorum.request.timeout.ms":             "1000",
	}
	if len(options.Users) > 0 {
		maps.Copy(all, b.cluster.cert.properties(options.Users))
	}
	maps.Copy(all, options.Properties)
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s=%s\n", key, strings.ReplaceAll(all[key], "\n", `\n`))
	}
	return text.String()
}

// start starts the process; awaitReady waits until it serves.
func (b *broker) start() error {
	p := &process{ready: make(chan struct{}), exited: make(chan struct{})}
	arguments := b.java("kafka.Kafka", b.path("server.properties"))
	if b.number == 1 && !b.cluster.jars.hasArchive() {
		p.archive = fmt.Sprintf("%s.%d", b.cluster.jars.archive(), os.Getpid())
		arguments = append([]string{"-XX:ArchiveClassesAtExit=" + p.archive}, arguments...)
	}
	p.cmd = exec.Command(b.cluster.jars.java, arguments...)
	p.cmd.Dir = b.dir
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	go p.follow(out)
	if err := startDying(p.cmd); err != nil {
		in.Close()
		return err
	}
	b.process = p
	go func() {
		p.cmd.Wait()
		in.Close()
		close(p.exited)
	}()
	return nil
}

// follow keeps the last lines of the log and finds the one that says ready.
func (p *process) follow(out io.Reader) {
	const most = 40
	ready := p.ready
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		p.mutex.Lock()
		p.last = append(p.last[max(0, len(p.last)+1-most):], line)
		p.mutex.Unlock()
		if ready != nil && strings.Contains(line, readyLine) {
			close(ready)
			ready = nil
		}
	}
	io.Copy(io.Discard, out) // after a line too long for the scanner
}

func (b *broker) awaitReady() error {
	limit := time.NewTimer(readyLimit)
	defer limit.Stop()
	select {
	case <-b.process.ready:
		return nil
	case <-b.process.exited:
		return errors.New("it ended before it was ready")
	case <-limit.C:
		return fmt.Errorf("not ready after %s", readyLimit)
	}
}

func (b *broker) kill() {
	if b.process == nil {
		return
	}
	b.process.cmd.Process.Kill()
	<-b.process.exited
}

func (b *broker) terminate() error {
	b.process.cmd.Process.Signal(syscall.SIGTERM)
	limit := time.NewTimer(terminateLimit)
	defer limit.Stop()
	select {
	case <-b.process.exited:
		return b.process.keepArchive(b.cluster.jars)
	case <-limit.C:
		b.kill()
		return fmt.Errorf("killed, since it did not end in %s", terminateLimit)
	}
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// keepArchive hands what this run has left to later ones.
func (p *process) keepArchive(j jars) error {
	if p.archive == "" {
		return nil
	}
	if err := os.Rename(p.archive, j.archive()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (b *broker) lastLines() string {
	if b.process == nil {
		return ""
	}
	b.process.mutex.Lock()
	defer b.process.mutex.Unlock()
	return strings.Join(b.process.last, "\n")
}

// clusterID is a random id in Kafka's form; the command line takes none that
// begins with a dash.
func clusterID() string {
	for {
		if id := base64.RawURLEncoding.EncodeToString(randomBytes(16)); id[0] != '-' {
			return id
		}
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}
