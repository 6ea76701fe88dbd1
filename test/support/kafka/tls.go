package kafkatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// certificate is one for all brokers, with the authority that signed it.
type certificate struct {
	caFile    string
	storeFile string // key and certificates in PEM, which Kafka takes for a keystore
}

func newCertificate(t testing.TB, dir string) certificate {
	t.Helper()
	c := certificate{caFile: filepath.Join(dir, "ca.pem"), storeFile: filepath.Join(dir, "broker.pem")}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tonscribe test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	caKey, leafKey := newKey(t), newKey(t)
	caPEM := sign(t, ca, ca, caKey, caKey)
	leafPEM := sign(t, leaf, ca, leafKey, caKey)
	private, err := x509.MarshalPKCS8PrivateKey(leafKey)
	if err != nil {
		t.Fatal(err)
	}
	store := slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), leafPEM, caPEM)
	for file, content := range map[string][]byte{c.caFile: caPEM, c.storeFile: store} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, subject, by *x509.Certificate, key, byKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, subject, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// properties of the port with TLS and SASL.
func (c certificate) properties(users map[string]string) map[string]string {
	plain := "org.apache.kafka.common.security.plain.PlainLoginModule required"
	for _, user := range slices.Sorted(maps.Keys(users)) {
		plain += fmt.Sprintf(` user_%s="%s"`, user, users[user])
	}
	return map[string]string{
		"sasl.enabled.mechanisms":                               "SCRAM-SHA-512,PLAIN",
		"ssl.keystore.type":                                     "PEM",
		"ssl.keystore.location":                                 c.storeFile,
		"listener.name.sasl_ssl.ssl.client.auth":                "none",
		"listener.name.sasl_ssl.plain.sasl.jaas.config":         plain + ";",
		"listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
	}
}
