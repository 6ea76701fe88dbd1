// Package clienttls is how connections to brokers and databases are secured. In
// come paths of PEM files, out comes what crypto/tls wants. It knows no protocol.
package clienttls

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Configuration secures the connections to servers.
type Configuration struct {
	Enable bool `yaml:"enable"`
	// CAFile holds the certificates (PEM) that servers are checked against;
	// empty means those of the system.
	CAFile string `yaml:"ca_file"`
	// CertFile and KeyFile (PEM) authenticate this client, when servers ask.
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
	// ServerName replaces the name that the servers' certificates must carry.
	ServerName string `yaml:"server_name"`
}

// Read reads the files. It returns nil where TLS is not enabled, and refuses what is set for
// it then.
func (c Configuration) Read() (*tls.Config, error) {
	if !c.Enable {
		for _, of := range [][2]string{{"ca_file", c.CAFile}, {"cert_file", c.CertFile}, {"key_file", c.KeyFile}, {"server_name", c.ServerName}} {
			if of[1] != "" {
				return nil, fmt.Errorf("tls.%s is set, which nobody reads until tls.enable is true", of[0])
			}
		}
		return nil, nil
	}
	out := &tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file %s holds no certificate", c.CAFile)
		}
	}
	if c.CertFile != "" || c.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file, tls.key_file: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}
