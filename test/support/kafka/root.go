// Package kafkatest starts real Apache Kafka for tests, without containers: Maven
// fetches the jars once, Java runs one broker or several on free ports, and all
// end with the test. It must never be imported by anything but tests.
package kafkatest

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"tonscribe/test/support/harness"
)

// Options of a cluster; the zero value is one broker without TLS.
type Options struct {
	// Brokers is their number: 1, or 3 (replication factor 3, two in sync).
	Brokers int
	// Users and their passwords, without quotes or backslashes. With users there is a second port on every
	// broker with TLS and SASL (SCRAM-SHA-512 and PLAIN).
	Users map[string]string
	// Properties are added to server.properties.
	Properties map[string]string
}

// Cluster is a running Apache Kafka. Its brokers are counted from 0.
type Cluster struct {
	t       testing.TB
	jars    jars
	options Options
	id      string
	brokers []*broker
	cert    certificate
}

// Apache starts one broker and returns its address. It skips the test where
// Java or Maven are missing.
func Apache(t testing.TB) (brokers []string) {
	t.Helper()
	return Start(t, Options{}).Brokers()
}

// Start starts a cluster and waits until every broker is ready. It skips the
// test where Java or Maven are missing.
func Start(t testing.TB, options Options) *Cluster {
	t.Helper()
	if options.Brokers == 0 {
		options.Brokers = 1
	}
	c := &Cluster{t: t, jars: fetchJars(t), options: options, id: clusterID()}
	dir := t.TempDir()
	if len(options.Users) > 0 {
		c.cert = newCertificate(t, dir)
	}
	var ports []int
	for range 3 * options.Brokers {
		ports = append(ports, harness.FreePort(t))
	}
	for i := range options.Brokers {
		c.brokers = append(c.brokers, &broker{
			cluster: c, number: i + 1, dir: filepath.Join(dir, strconv.Itoa(i+1)),
			port: ports[3*i], controllerPort: ports[3*i+1], securePort: ports[3*i+2],
		})
	}
	t.Cleanup(c.end)
	c.each("format", (*broker).format)
	c.each("start", (*broker).start)
	c.each("start", (*broker).awaitReady)
	return c
}

// each runs a step for all brokers at once: they wait for each other.
func (c *Cluster) each(what string, step func(*broker) error) {
	c.t.Helper()
	failures := make([]error, len(c.brokers))
	done := make(chan struct{})
	for i, b := range c.brokers {
		go func() {
			failures[i] = step(b)
			done <- struct{}{}
		}()
	}
	for range c.brokers {
		<-done
	}
	for i, err := range failures {
		if err != nil {
			c.t.Fatalf("apache kafka: %s broker %d: %v", what, i, err)
		}
	}
}

// Brokers are the addresses without TLS.
func (c *Cluster) Brokers() []string {
	var addresses []string
	for _, b := range c.brokers {
		addresses = append(addresses, local(b.port))
	}
	return addresses
}

// SecureBrokers are the addresses with TLS and SASL; the cluster needs Users.
func (c *Cluster) SecureBrokers() []string {
	var addresses []string
	for _, b := range c.brokers {
		addresses = append(addresses, local(b.securePort))
	}
	return addresses
}

// CAFile is the PEM file with the authority of the brokers' certificates.
func (c *Cluster) CAFile() string { return c.cert.caFile }

// TLS trusts the brokers' certificates.
func (c *Cluster) TLS() *tls.Config {
	pem, err := os.ReadFile(c.cert.caFile)
	if err != nil {
		c.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: pool}
}

// Kill9 kills a broker as a power switch would.
func (c *Cluster) Kill9(broker int) {
	c.t.Helper()
	c.brokers[broker].kill()
}

// Terminate ends a broker in order.
func (c *Cluster) Terminate(broker int) {
	c.t.Helper()
	if err := c.brokers[broker].terminate(); err != nil {
		c.t.Fatalf("apache kafka: stop broker %d: %v", broker, err)
	}
}

// Restart starts a broker that has ended, with its data and ports, and waits
// until it is ready: some seconds after a kill, since it waits for its old self
// to be given up.
func (c *Cluster) Restart(broker int) {
	c.t.Helper()
	b := c.brokers[broker]
	if err := b.start(); err != nil {
		c.t.Fatalf("apache kafka: restart broker %d: %v", broker, err)
	}
	if err := b.awaitReady(); err != nil {
		c.t.Fatalf("apache kafka: restart broker %d: %v", broker, err)
	}
}

// Stop ends all brokers in order; a test that does not care leaves it to its end.
func (c *Cluster) Stop() {
	c.t.Helper()
	c.each("stop", (*broker).terminate)
}

// end leaves nothing behind. The data go with the test's folder, so that only the
// archive of classes is worth waiting for an orderly end.
func (c *Cluster) end() {
	if c.t.Failed() {
		for i, b := range c.brokers {
			c.t.Logf("broker %d said last:\n%s", i, b.lastLines())
		}
	}
	for _, b := range c.brokers {
		if p := b.process; p != nil && p.archive != "" && !c.t.Failed() && !p.hasExited() {
			_ = b.terminate() // it is killed anyway
		}
		b.kill()
	}
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
