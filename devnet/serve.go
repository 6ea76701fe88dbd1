package devnet

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"tonscribe/devnet/liteserver"
)

// serve starts the lite server and leaves the files by which others find us.
func (c *Component) serve(ctx context.Context) error {
	listen, err := c.listenAt()
	if err != nil {
		return err
	}
	configuration := liteserver.DefaultConfiguration()
	configuration.Listen, configuration.Key = listen, liteServerKey(c.origin.Seed)
	c.server, err = liteserver.New(configuration, liteserver.Dependencies{Report: c.report, History: c.history, Send: c.Send})
	if err != nil {
		return err
	}
	if err := c.server.Start(ctx); err != nil {
		return err
	}
	text, err := c.server.GlobalConfig()
	if err != nil {
		return err
	}
	if err := writeWhole(c.ConfigPath(), text, 0o644); err != nil {
		return err
	}
	port := strconv.Itoa(c.server.Addr().Port)
	if err := os.WriteFile(filepath.Join(c.configuration.Dir, portFile), []byte(port), 0o600); err != nil {
		return err
	}
	c.control, err = startControl(c)
	return err
}

// liteServerKey stays the same as long as the seed does, so that clients keep
// their configuration.
func liteServerKey(seed uint64) ed25519.PrivateKey {
	key := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("tonscribe devnet lite server"), seed))
	return ed25519.NewKeyFromSeed(key[:])
}

const portFile = "liteserver.port"

// listenAt is the configured address. Where any port will do, it is the one of
// the last time if nobody has it.
func (c *Component) listenAt() (string, error) {
	host, port, err := net.SplitHostPort(c.configuration.Listen)
	if err != nil {
		return "", fmt.Errorf("listen %q: %w", c.configuration.Listen, err)
	}
	if port != "0" {
		return c.configuration.Listen, nil
	}
	address := net.JoinHostPort(host, c.lastPort())
	probe, err := net.Listen("tcp", address)
	if err != nil {
		return c.configuration.Listen, nil //nolint:nilerr // another port does as well
	}
	return address, probe.Close()
}

// lastPort is the one of the last time, or 0.
func (c *Component) lastPort() string {
	text, _ := os.ReadFile(filepath.Join(c.configuration.Dir, portFile)) // without a file any port will do
	if _, err := strconv.ParseUint(string(text), 10, 16); err != nil {
		return "0"
	}
	return string(text)
}
