package v2

import (
	"fmt"
	"regexp"

	"tonscribe/query/node"
)

// Configuration of the layer and of the node access below it.
type Configuration struct {
	// TypeNamespace is the namespace part of @type. Existing TON clients need ton.
	TypeNamespace      string `yaml:"type_namespace"`
	node.Configuration `yaml:",inline"`
}

// DefaultConfiguration is that of the public service.
func DefaultConfiguration() Configuration {
	return Configuration{TypeNamespace: "chain", Configuration: node.DefaultConfiguration()}
}

var namespaceForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

func checkNamespace(namespace string) error {
	if !namespaceForm.MatchString(namespace) {
		return fmt.Errorf("api v2: type namespace %q: want letters, digits and _, a letter first", namespace)
	}
	return nil
}
