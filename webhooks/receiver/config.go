package receiver

import (
	"errors"

	"tonscribe/webhooks/signature"
)

// Configuration says where webhooks are taken and what they are held against.
type Configuration struct {
	// Secrets are those that may have signed: two while one is replaced.
	Secrets []string `yaml:"secrets" secret:"true"`
	// Header is the name of the header with the signature.
	Header string `yaml:"header"`
	// Listen is the HTTP address.
	Listen string `yaml:"listen"`
	// Orders and Journal are the files of a Book.
	Orders  string `yaml:"orders"`
	Journal string `yaml:"journal"`
}

// DefaultConfiguration lacks the secrets.
func DefaultConfiguration() Configuration {
	return Configuration{Header: signature.Header, Listen: "127.0.0.1:8082", Orders: "orders.jsonl", Journal: "journal.jsonl"}
}

// ErrNoSecret says that nobody can tell who signed.
var ErrNoSecret = errors.New("receiver.secrets is empty: the secret that the merchant was given belongs there")

// Validate returns an error for what cannot work.
func (c Configuration) Validate() error {
	for _, secret := range c.Secrets {
		if secret != "" {
			return nil
		}
	}
	return ErrNoSecret
}
