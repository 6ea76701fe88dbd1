package clickhouse

import (
	"context"
	"fmt"
	"sync"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// overNative runs statements over the native protocol, by the driver below
// clickhouse-go: it hands out columns as they came over the wire, and a statement
// costs a third less.
type overNative struct {
	options   ch.Options // but for the address
	addresses *rotation
	mutex     sync.Mutex
	idle      []*ch.Client // last in, first out
	ended     bool
}

func newOverNative(o driver.Options) *overNative {
	options := ch.Options{
		Database:    o.Auth.Database,
		User:        o.Auth.Username,
		Password:    o.Auth.Password,
		ClientName:  clientName,
		DialTimeout: o.DialTimeout,
		ReadTimeout: ch.NoTimeout, // every statement has a deadline of its own
		TLS:         o.TLS,
	}
	if o.Compression != nil && o.Compression.Method != driver.CompressionNone {
		options.Compression = ch.CompressionLZ4
	}
	for name, value := range o.Settings {
		options.Settings = append(options.Settings, ch.Setting{Key: name, Value: fmt.Sprint(value)})
	}
	for _, s := range planning {
		options.Settings = append(options.Settings, ch.Setting{Key: s.Name, Value: s.Value})
	}
	return &overNative{options: options, addresses: newRotation(o.Addr)}
}

// take returns an idle connection, which was used before, or a new one.
func (n *overNative) take(ctx context.Context) (c *ch.Client, used bool, err error) {
	n.mutex.Lock()
	if last := len(n.idle) - 1; last >= 0 {
		c, n.idle = n.idle[last], n.idle[:last]
		n.mutex.Unlock()
		return c, true, nil
	}
	n.mutex.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	c, err = connect(n.addresses, func(address string) (*ch.Client, error) {
		options := n.options
		options.Address = address
		if options.TLS != nil {
			options.TLS = options.TLS.Clone()
		}
		return ch.Dial(ctx, options)
	})
	return c, false, err
}

func (n *overNative) give(c *ch.Client) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	switch {
	case c.IsClosed():
	case n.ended:
		c.Close()
	default:
		n.idle = append(n.idle, c)
	}
}

func (n *overNative) close() {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.ended = true
	for _, c := range n.idle {
		c.Close()
	}
	n.idle = nil
}

// do replaces an idle connection that the server has closed meanwhile.
func (n *overNative) do(ctx context.Context, s statement) error {
	for {
		c, used, err := n.take(ctx)
		if err != nil {
			return err
		}
		received := false
		err = c.Do(ctx, s.native(&received))
		if err != nil && !ch.IsException(err) {
			c.Close()
		}
		n.give(c)
		if !used || received || !IsBroken(err) || expired(ctx) {
			return err
		}
	}
}

// native is the statement for the driver. received becomes true with its first block.
func (s statement) native(received *bool) ch.Query {
	q := ch.Query{
		Body: s.text, QueryID: s.id, Result: s.result,
		OnResult: func(_ context.Context, block proto.Block) error {
			*received = true
			return s.each(block.Rows)
		},
		OnProgress: func(_ context.Context, p proto.Progress) error {
			s.read(p.Rows)
			return nil
		},
	}
	for _, l := range s.limits {
		q.Settings = append(q.Settings, ch.Setting{Key: l.Name, Value: l.Value})
	}
	return q
}
