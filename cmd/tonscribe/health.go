package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func healthCommand(s *settings) *cobra.Command {
	ready := false
	c := &cobra.Command{
		Use:   "health",
		Short: "Ask the process that serves --listen whether it is alive (exit 0) or, with --ready, caught up",
		Args:  cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			path := "/healthz"
			if ready {
				path = "/readyz"
			}
			return askHealth(s.Listen, path, cmd.OutOrStdout())
		}),
	}
	c.Flags().BoolVar(&ready, "ready", false, "ask whether it has caught up")
	return c
}

func askHealth(listen, path string, out io.Writer) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("listen address %q: %w", listen, err)
	}
	switch ip := net.ParseIP(host); {
	case host == "" || ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip.IsUnspecified():
		host = "::1"
	}
	client := &http.Client{Transport: &http.Transport{}, Timeout: 3 * time.Second} // past the proxies of the environment
	answer, err := client.Get("http://" + net.JoinHostPort(host, port) + path)
	if err != nil {
		return fmt.Errorf("nothing answers at %s: %w", listen, err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d: %s", path, answer.StatusCode, strings.TrimSpace(string(text)))
	}
	fmt.Fprintln(out, strings.TrimSpace(string(text)))
	return nil
}
