package contract

import (
	"testing"

	"tonscribe/ton/code"
)

// What is run is told of by name in what a user is shown of a code.
func TestEveryMethodThatIsRunHasAName(t *testing.T) {
	methods := ConfirmMethods()
	for _, d := range detectors {
		methods = append(methods, d.methods...)
	}
	for _, method := range methods {
		if name, _ := code.MethodName(code.MethodID(method)); name != method {
			t.Errorf("method %d is called %q, want %q", code.MethodID(method), name, method)
		}
	}
}
