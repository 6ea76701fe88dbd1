package kafka

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tonscribe/internal/clienttls"
	"tonscribe/internal/engine"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/test/support/enginetest"
	kafkatest "tonscribe/test/support/kafka"
)

// flow publishes bundles without end and checks that they come out in order.
type flow struct {
	l         *testLog
	published atomic.Uint32
	consumed  atomic.Uint32
	moved     chan struct{} // for the test
	room      chan struct{} // for the publisher
	stop      func()
}

func startFlow(t *testing.T, l *testLog) *flow {
	f := &flow{l: l, moved: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		for mc := uint32(1); ; mc++ {
			if err := l.Publish(ctx, l.topic.Name, 0, bundle(mc, mc-1, 2, 1000)); err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			f.published.Store(mc)
			// The consumer commits every bundle, so it is the slower one.
			for mc > f.consumed.Load()+20 && ctx.Err() == nil {
				select {
				case <-f.room:
				case <-ctx.Done():
				}
			}
		}
	}()
	go func() {
		defer func() { done <- struct{}{} }()
		err := l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
			return f.follow(ctx, reader)
		})
		if ctx.Err() == nil {
			t.Error(err)
		}
	}()
	f.stop = sync.OnceFunc(func() { cancel(); <-done; <-done })
	t.Cleanup(f.stop)
	return f
}

func (f *flow) follow(ctx context.Context, reader *PartitionReader) error {
	for {
		item, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if item.Record.GetSeal() == nil {
			continue
		}
		// A bundle may come again when its commit was cut off, none is left out.
		if mc := item.Record.McSeqno; mc > f.consumed.Load()+1 {
			f.l.t.Errorf("bundle %d came after %d", mc, f.consumed.Load())
		} else {
			f.consumed.Store(mc)
		}
		if err := reader.Commit(ctx, item.Offset+1); err != nil {
			return err
		}
		for _, news := range []chan struct{}{f.moved, f.room} {
			select {
			case news <- struct{}{}:
			default:
			}
		}
	}
}

// await waits until n more bundles went all the way.
func (f *flow) await(n uint32) time.Duration {
	f.l.t.Helper()
	began, target := time.Now(), f.published.Load()+n
	for f.consumed.Load() < target {
		select {
		case <-f.moved:
		case <-time.After(5 * time.Minute):
			f.l.t.Fatalf("nothing moves at bundle %d of %d", f.consumed.Load(), f.published.Load())
		}
	}
	return time.Since(began)
}

func TestEmbeddedLogThatRestartsGoesOn(t *testing.T) {
	options := engine.KafkaOptions{Dir: t.TempDir(), Report: enginetest.Report(t)}
	var log atomic.Pointer[engine.Kafka]
	start := func() {
		t.Helper()
		k, err := engine.StartKafka(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		log.Store(k)
	}
	start()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		return log.Load().Dial(ctx, network, address)
	}
	l := newTestLog(t, Dependencies{Dial: dial}, log.Load().Address())
	t.Cleanup(func() { log.Load().Stop(context.Background()) })
	l.ensure()
	f := startFlow(t, l)
	for range 3 {
		f.await(20)
		if err := log.Load().Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		start()
		t.Logf("moving again after %v", f.await(20))
	}
	f.stop()
}

func TestBrokerThatIsKilledGoesOn(t *testing.T) {
	cluster := kafkatest.Start(t, kafkatest.Options{Properties: map[string]string{
		"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}})
	l := newTestLog(t, Dependencies{}, cluster.Brokers()...)
	l.ensure()
	f := startFlow(t, l)
	for range 2 {
		f.await(20)
		cluster.Kill9(0)
		cluster.Restart(0)
		t.Logf("moving again after %v", f.await(20))
	}
	f.stop()
}

func TestRecordsDeletedBeforeTheyWereReadAreAnError(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	recordsDeletedBeforeTheyWereReadAreAnError(t, newTestLog(t, Dependencies{}, cluster.ListenAddrs()...))
}

// The embedded log deletes none on request.
func recordsDeletedBeforeTheyWereReadAreAnError(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 9, 10)...)
	l.commitRaw(2, "")
	client, err := kgo.NewClient(kgo.SeedBrokers(l.configuration.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 10_000
	request.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: l.topic.Name,
		Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 6}}}}
	if _, err := client.Request(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	var ready error
	err = l.consume(func(ctx context.Context, reader *PartitionReader) error {
		_, err := reader.Next(ctx)
		ready = l.Ready(ctx, []schema.Topic{l.topic})
		return err
	})
	if ready == nil || !strings.Contains(ready.Error(), "begins at offset 6") {
		t.Errorf("who cannot read on is ready: %v", ready)
	}
	if err := l.Ready(t.Context(), []schema.Topic{l.topic}); err != nil {
		t.Errorf("who reads no more is not: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "begins at offset 6, but offset 2 is next") || !strings.Contains(err.Error(), "set it to the beginning of the topic") {
		t.Fatal(err)
	}
}

// A broker that wants a login closes the connection of who has none, and says nothing.
func TestALoginWithoutAMechanismIsRefused(t *testing.T) {
	for _, login := range []SASL{{Username: "app"}, {Password: "right"}} {
		c := DefaultConfiguration()
		c.Brokers, c.SASL = []string{"127.0.0.1:1"}, login
		if client, err := New(c, Dependencies{Report: report.Silent()}); err == nil {
			client.Close()
			t.Errorf("%+v was taken", login)
		} else if !strings.Contains(err.Error(), "sasl.mechanism") || strings.Contains(err.Error(), "right") {
			t.Errorf("%+v: %v", login, err)
		}
	}
}

// Tables have the number of partitions in 16 bits, topics that of replicas.
func TestTopicsThatNoTableCanTellOfAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"65536 partitions": func(c *Configuration) { c.Partitions = 1 << 16 },
		"65537 replicas":   func(c *Configuration) { c.ReplicationFactor = 1<<16 + 1 },
	} {
		c := DefaultConfiguration()
		c.Brokers = []string{"127.0.0.1:1"}
		change(&c)
		if client, err := New(c, Dependencies{Report: report.Silent()}); err == nil {
			client.Close()
			t.Errorf("%s are taken", name)
		}
	}
}

func TestALinkInPlaceOfABrokersAddressIsRefused(t *testing.T) {
	for _, broker := range []string{"http://127.0.0.1:9092", "kafka:9092/", "SASL_SSL://kafka:9092"} {
		c := DefaultConfiguration()
		c.Brokers = []string{"127.0.0.1:1", broker}
		if client, err := New(c, Dependencies{Report: report.Silent()}); err == nil {
			client.Close()
			t.Errorf("%s is taken", broker)
		} else if !strings.Contains(err.Error(), broker) || !strings.Contains(err.Error(), "HOST:PORT") {
			t.Errorf("%s: %v", broker, err)
		}
	}
}

// app may do everything, guest what it is allowed to.
func TestBrokersWithUsers(t *testing.T) {
	cluster := kafkatest.Start(t, kafkatest.Options{
		Users:      map[string]string{"app": "right", "guest": "right"},
		Properties: map[string]string{"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS;User:app"},
	})
	t.Run("LoginIsCheckedBeforeAnythingElse", func(t *testing.T) { loginIsCheckedBeforeAnythingElse(t, cluster) })
	t.Run("TopicsThatAreThereNeedNoRightToCreateThem", func(t *testing.T) { topicsThatAreThereNeedNoRightToCreateThem(t, cluster) })
}

func loginIsCheckedBeforeAnythingElse(t *testing.T, cluster *kafkatest.Cluster) {
	connect := func(mechanism, password, caFile string) (*Client, error) {
		t.Helper()
		configuration := DefaultConfiguration()
		configuration.Brokers = cluster.SecureBrokers()
		configuration.TLS = clienttls.Configuration{Enable: true, CAFile: caFile}
		configuration.SASL = SASL{Mechanism: mechanism, Username: "app", Password: password}
		l := newTestLog(t, Dependencies{}, cluster.SecureBrokers()...)
		client, err := New(configuration, Dependencies{Report: l.report})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		topic := schema.Topic{Name: "login", MaxMessageBytes: 1 << 20}
		if err := client.EnsureTopics(ctx, []schema.Topic{topic}); err != nil {
			return nil, err
		}
		return client, client.Publish(ctx, topic.Name, 0, bundle(1, 0, 1, 10))
	}
	for _, mechanism := range []string{"plain", "scram-sha-512"} {
		if _, err := connect(mechanism, "right", cluster.CAFile()); err != nil {
			t.Errorf("%s: %v", mechanism, err)
		}
		_, err := connect(mechanism, "wrong", cluster.CAFile())
		if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "SASL") {
			t.Errorf("%s with a wrong password: %v", mechanism, err)
		}
	}
	_, err := connect("plain", "right", "")
	if _, unverified := errors.AsType[*tls.CertificateVerificationError](err); !unverified {
		t.Errorf("unknown authority: %v", err)
	}
}

func topicsThatAreThereNeedNoRightToCreateThem(t *testing.T, cluster *kafkatest.Cluster) {
	there, other := schema.Topic{Name: "there", MaxMessageBytes: 1 << 20, Partitions: 1}, schema.Topic{Name: "other", MaxMessageBytes: 1 << 20, Partitions: 1}
	owner := newTestLog(t, Dependencies{}, cluster.Brokers()...)
	if err := owner.EnsureTopics(t.Context(), []schema.Topic{there}); err != nil {
		t.Fatal(err)
	}
	_, err := owner.calls.CreateACLs(t.Context(), &kafka.CreateACLsRequest{ACLs: []kafka.ACLEntry{{
		ResourceType: kafka.ResourceTypeTopic, ResourceName: "*", ResourcePatternType: kafka.PatternTypeLiteral,
		Principal: "User:guest", Host: "*", Operation: kafka.ACLOperationTypeWrite, PermissionType: kafka.ACLPermissionTypeAllow,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	configuration := DefaultConfiguration()
	configuration.Brokers = cluster.SecureBrokers()
	configuration.TLS = clienttls.Configuration{Enable: true, CAFile: cluster.CAFile()}
	configuration.SASL = SASL{Mechanism: "plain", Username: "guest", Password: "right"}
	client, err := New(configuration, Dependencies{Report: owner.report})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.EnsureTopics(t.Context(), []schema.Topic{there}); err != nil {
		t.Errorf("a topic that is there: %v", err)
	}
	err = client.EnsureTopics(t.Context(), []schema.Topic{there, other})
	if !errors.Is(err, kafka.TopicAuthorizationFailed) || !strings.Contains(err.Error(), "other") || strings.Contains(err.Error(), "topic there") {
		t.Errorf("a topic that it may not create: %v", err)
	}
}

// Who waits for a log that others wait for already gives up with its own context.
func TestWhoWaitsForALogThatIsAwayGivesUpWithItsContext(t *testing.T) {
	dialled := make(chan struct{}, 1)
	l := newTestLog(t, Dependencies{Dial: func(context.Context, string, string) (net.Conn, error) {
		select {
		case dialled <- struct{}{}:
		default:
		}
		return nil, errors.New("nobody listens")
	}}, "127.0.0.1:9")
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := l.LastSeal(ctx, l.topic.Name, 0)
		first <- err
	}()
	<-dialled
	gone, end := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer end()
	second := make(chan error, 1)
	go func() { second <- l.Publish(gone, l.topic.Name, 0, bundle(1, 0, 1, 1)) }()
	select {
	case err := <-second:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want that the time is over", err)
		}
	case <-time.After(time.Minute):
		t.Error("the second one still waits, long after its context")
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A member waits for the end of a generation, which may be days, before it joins the next.
// deaf is a connection whose other end never answers any more once silent is closed.
type deaf struct {
	net.Conn
	silent <-chan struct{}
	closed chan struct{}
	close  func()
}

func newDeaf(conn net.Conn, silent <-chan struct{}) *deaf {
	closed := make(chan struct{})
	return &deaf{conn, silent, closed, sync.OnceFunc(func() { close(closed) })}
}

func (d *deaf) Read(to []byte) (int, error) {
	n, err := d.Conn.Read(to)
	select {
	case <-d.silent:
		<-d.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (d *deaf) SetDeadline(time.Time) error      { return nil }
func (d *deaf) SetReadDeadline(time.Time) error  { return nil }
func (d *deaf) SetWriteDeadline(time.Time) error { return nil }

func (d *deaf) Close() error {
	d.close()
	return d.Conn.Close()
}

func TestAMemberEndsAlsoWhereNoBrokerAnswers(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	silent := make(chan struct{})
	l := newTestLog(t, Dependencies{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return newDeaf(conn, silent), nil
	}}, cluster.ListenAddrs()...)
	l.ensure()
	ctx, stop := context.WithCancel(t.Context())
	works, ended := make(chan struct{}, l.configuration.Partitions), make(chan struct{})
	go func() {
		defer close(ended)
		_ = l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, _ *PartitionReader) error {
			works <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	<-works
	close(silent)
	stop()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		t.Error("it waits for a broker that is silent")
	}
}

func TestTroubleBeginsWithTheFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		configuration := DefaultConfiguration()
		configuration.Brokers = []string{"127.0.0.1:1"}
		client, err := New(configuration, Dependencies{Report: report.Reporter{Log: zerolog.New(&log), Metrics: prometheus.NewRegistry()}})
		if err != nil {
			t.Fatal(err)
		}
		tries := 0
		err = client.persist(t.Context(), "join", func(context.Context) error {
			if tries++; tries == 1 {
				time.Sleep(time.Hour)
				return io.EOF
			}
			return nil
		})
		if err != nil || tries != 2 || log.Len() > 0 {
			t.Errorf("%d tries, %v, and the log says %s", tries, err, log.String())
		}
	})
}

// pipes is a port in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, open := <-p; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p <- far
	return near, nil
}

// inMemory starts a broker that is reached by nothing but a port in memory, until the test
// ends.
func inMemory(t *testing.T, options ...kfake.Opt) (port pipes, brokers []string) {
	t.Helper()
	port = make(pipes)
	options = append(options, kfake.NumBrokers(1), kfake.ListenFn(func(string, string) (net.Listener, error) { return port, nil }))
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close(); close(port) })
	return port, cluster.ListenAddrs()
}

// kafka-go asks for a leader until there is one.
func TestReadersOfATopicThatIsGoneTryOnAndSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, brokers := inMemory(t, kfake.SeedTopics(1, "topic"))
		l := newTestLog(t, Dependencies{Dial: port.dial}, brokers...)
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 2*reportEvery)
		defer cancel()
		(&fetcher{client: l.Client, tp: TopicPartition{"gone", 0}, queue: make(chan fetched)}).run(ctx)
		if text := l.output.String(); !strings.Contains(text, "leader of gone/0") || !strings.Contains(text, "Unknown Topic Or Partition") {
			t.Errorf("the log says %q, want that the topic is not there", text)
		}
	})
}

func TestALogThatHasNotAllTopicsIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, brokers := inMemory(t, kfake.AllowAutoTopicCreation(), kfake.SeedTopics(2, "blocks"))
		l := newTestLog(t, Dependencies{Dial: port.dial}, brokers...)
		defer l.Close()
		there, gone := schema.Topic{Name: "blocks"}, schema.Topic{Name: "gone"}
		if err := l.Ready(t.Context(), []schema.Topic{there}); err != nil {
			t.Errorf("with its topic: %v", err)
		}
		for range 2 { // who asks does not make it
			if err := l.Ready(t.Context(), []schema.Topic{there, gone}); err == nil || !strings.Contains(err.Error(), "topic gone is not there") {
				t.Errorf("without a topic: %v", err)
			}
		}
	})
}

// A topic that brokers make by themselves has their number of partitions, not the configured one.
func TestWhoFollowsATopicThatIsNotThereYetDoesNotMakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, brokers := inMemory(t, kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(1))
		l := newTestLog(t, Dependencies{Dial: port.dial}, brokers...)
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 2*reportEvery)
		defer cancel()
		_ = l.Follow(ctx, l.group(), TopicPartition{l.topic.Name, 0}, 0, func(Item) error { return nil })
		if text := l.output.String(); !strings.Contains(text, "topic "+l.topic.Name+" is not there") {
			t.Errorf("the log says %q, want that the topic is not there", text)
		}
		l.ensure()
	})
}

// Both partitions have the same outage, and readers go on for long after it.
func TestAnOutageIsToldOnceForAllReadersAndItsEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port, brokers := inMemory(t, kfake.SeedTopics(2, "topic"))
		var down atomic.Bool
		down.Store(true)
		l := newTestLog(t, Dependencies{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if down.Load() {
				return nil, errors.New("nobody listens")
			}
			return port.dial(ctx, network, address)
		}}, brokers...)
		ctx, cancel := context.WithCancel(t.Context())
		var reading sync.WaitGroup
		for partition := range 2 {
			f := &fetcher{client: l.Client, tp: TopicPartition{"topic", partition}, queue: make(chan fetched)}
			reading.Go(func() { f.run(ctx) })
		}
		time.Sleep(3*reportEvery + reportEvery/2)
		down.Store(false)
		time.Sleep(2 * fetchWait)
		if told := strings.Count(l.output.String(), "does not take a request"); told < 1 || told > 3 {
			t.Errorf("it is told %d times in %v that the log does not answer, want once in %v", told, 3*reportEvery, reportEvery)
		}
		if told := strings.Count(l.output.String(), "answers again"); told != 1 {
			t.Errorf("it is told %d times that the log answers again, want once", told)
		}
		cancel()
		reading.Wait()
	})
}
