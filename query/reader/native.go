package reader

import (
	"context"
	"fmt"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// nativeLink speaks the native protocol, by the driver below clickhouse-go: it
// hands out columns as they came over the wire, and a statement costs a third
// less.
type nativeLink struct{ *ch.Client }

func dialNative(o clickhouse.Options) func(context.Context, string) (link, error) {
	options := ch.Options{
		Database:    o.Auth.Database,
		User:        o.Auth.Username,
		Password:    o.Auth.Password,
		ClientName:  clientName,
		DialTimeout: o.DialTimeout,
		ReadTimeout: ch.NoTimeout, // every statement has a deadline of its own
	}
	if o.Compression != nil && o.Compression.Method != clickhouse.CompressionNone {
		options.Compression = ch.CompressionLZ4
	}
	for name, value := range o.Settings {
		options.Settings = append(options.Settings, ch.Setting{Key: name, Value: fmt.Sprint(value)})
	}
	options.Settings = append(options.Settings, ch.Setting{Key: "enable_analyzer", Value: oldAnalyzer})
	return func(ctx context.Context, address string) (link, error) {
		options := options
		options.Address = address
		if o.TLS != nil {
			options.TLS = o.TLS.Clone()
		}
		client, err := ch.Dial(ctx, options)
		if err != nil {
			return nil, err
		}
		return nativeLink{client}, nil
	}
}

func (l nativeLink) closed() bool { return l.IsClosed() }

func (l nativeLink) close() { l.Close() }

func (l nativeLink) do(ctx context.Context, s statement) error {
	q := ch.Query{
		Body: s.text, QueryID: s.id, Result: s.result,
		OnResult: func(_ context.Context, block proto.Block) error { return s.each(block.Rows) },
		OnProgress: func(_ context.Context, p proto.Progress) error {
			s.read(p.Rows)
			return nil
		},
	}
	for _, l := range s.limits {
		q.Settings = append(q.Settings, ch.Setting{Key: l.name, Value: l.value})
	}
	err := l.Do(ctx, q)
	if err != nil && !isException(err) {
		l.Close()
	}
	return err
}
