package kafka

import (
	"errors"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

var compressions = map[string]kafka.Compression{"none": 0, "": kafka.Lz4, "auto": kafka.Lz4, "lz4": kafka.Lz4, "zstd": kafka.Zstd}

func compressionOf(name string) (kafka.Compression, error) {
	compression, known := compressions[strings.ToLower(name)]
	if !known {
		return 0, fmt.Errorf("kafka: compression %q: must be auto, none, lz4 or zstd", name)
	}
	return compression, nil
}

func (s SASL) mechanism() (sasl.Mechanism, error) {
	switch strings.ToLower(s.Mechanism) {
	case "":
		if s.Username != "" || s.Password != "" {
			return nil, errors.New("kafka: sasl.username or sasl.password is set, but sasl.mechanism is not: it must be plain, scram-sha-256 or scram-sha-512")
		}
		return nil, nil
	case "plain":
		return plain.Mechanism{Username: s.Username, Password: s.Password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, s.Username, s.Password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, s.Username, s.Password)
	}
	return nil, fmt.Errorf("kafka: sasl mechanism %q: must be plain, scram-sha-256 or scram-sha-512", s.Mechanism)
}
