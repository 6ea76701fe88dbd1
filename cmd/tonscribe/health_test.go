package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Package http asks no proxy for loopback addresses.
func TestHealthIsAskedOfTheProcessAndNotOfAProxy(t *testing.T) {
	proxy := httptest.NewServer(http.NotFoundHandler())
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	process := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.URL.Path)) }))
	own := ownAddress(t)
	listener, err := net.Listen("tcp", net.JoinHostPort(own, "0"))
	if err != nil {
		t.Fatal(err)
	}
	process.Listener.Close()
	process.Listener = listener
	process.Start()
	defer process.Close()
	var out bytes.Buffer
	if err := askHealth(listener.Addr().String(), "/healthz", &out); err != nil || out.String() != "/healthz\n" {
		t.Errorf("got %q, %v, want what the process answers", out.String(), err)
	}
}

// A process at all addresses may have none of IPv4.
func TestHealthAtAllAddressesOfIPv6IsAskedByIPv6(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6")
	}
	process := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.URL.Path)) })}
	go process.Serve(listener)
	defer process.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	var out bytes.Buffer
	if err := askHealth(net.JoinHostPort("::", port), "/healthz", &out); err != nil || out.String() != "/healthz\n" {
		t.Errorf("got %q, %v, want what the process answers", out.String(), err)
	}
}

// ownAddress is one of this machine that is not a loopback address.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has loopback addresses only")
	return ""
}
