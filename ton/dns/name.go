package dns

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxName is the longest name in bytes, MaxEncoded the longest that resolvers
// read.
const (
	MaxName    = 126
	MaxEncoded = MaxName + 1
)

// Encode writes a name as resolvers read it: its labels, which dots part, from the
// last to the first, each with a zero byte behind it; a single one for the
// resolver itself, which has no name.
func Encode(name string) ([]byte, error) {
	if len(name) > MaxName {
		return nil, fmt.Errorf("name is longer than %d bytes", MaxName)
	}
	if name == "" || name == "." {
		return []byte{0}, nil
	}
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	var out []byte
	for _, label := range slices.Backward(labels) {
		if label == "" || strings.IndexByte(label, 0) >= 0 {
			return nil, errors.New("failed to parse name")
		}
		out = append(append(out, label...), 0)
	}
	return out, nil
}

// Decode is the name that resolvers read so.
func Decode(encoded []byte) string {
	labels := strings.Split(strings.Trim(string(encoded), "\x00"), "\x00")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}
