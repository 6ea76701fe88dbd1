package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxRedirects that one fetch follows.
const maxRedirects = 3

// fetch gets the published global config, at most MaxBytes of it.
func (n *Component) fetch(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, n.configuration.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.configuration.URL, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answered %s", n.configuration.URL, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, n.configuration.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.configuration.URL, err)
	}
	if int64(len(text)) > n.configuration.MaxBytes {
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes (network_config.max_bytes)", n.configuration.URL, n.configuration.MaxBytes)
	}
	return text, nil
}

// checkRedirect holds redirects to the rules of the address itself.
func checkRedirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if err := safe(next.URL); err != nil {
		return fmt.Errorf("redirect to %s: %w", next.URL.Redacted(), err)
	}
	if before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	return nil
}
