package liteserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/adnl"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/adnltcp"
	"tonscribe/internal/listen"
)

const (
	handshakeTime = 10 * time.Second
	// idleTime is after how long a silent client is let go; clients ping every
	// few seconds.
	idleTime  = 5 * time.Minute
	writeTime = 10 * time.Second
	// maxQuery is more than the largest query that is answered takes.
	maxQuery = 1 << 18
)

// Constructors of the messages that clients send.
var (
	queryTag        = tl.CRC("adnl.message.query query_id:int256 query:bytes = adnl.Message")
	liteQueryTag    = tl.CRC("liteServer.query data:bytes = Object")
	waitTag         = tl.CRC("liteServer.waitMasterchainSeqno seqno:int timeout_ms:int = Object")
	pingTag         = tl.CRC("tcp.ping random_id:long = tcp.Pong")
	authenticateTag = tl.CRC("tcp.authentificate nonce:bytes = tcp.Message")
)

// connection is one client. tonutils-go has a server, too; that one does not tell its port,
// ends the connection on a query that it does not know, and follows nested objects as deep
// as 16 MiB allow.
type connection struct {
	conn   *listen.Conn
	stream adnltcp.Stream
	slots  chan struct{} // one for each query in work
}

// acceptAll takes connections until the listener is closed.
func (c *Component) acceptAll() error {
	for {
		conn, err := c.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		client := &connection{conn: conn.(*listen.Conn), slots: make(chan struct{}, c.configuration.Queries),
			stream: adnltcp.Stream{MaxPayload: maxQuery, WriteTimeout: writeTime}}
		c.running.Go(func() {
			defer conn.Close()
			err := c.talk(client)
			c.dependencies.Report.Log.Debug().Err(err).Stringer("client", conn.RemoteAddr()).Msg("a connection ended")
		})
	}
}

// talk reads from a client until the connection ends. The queries in work are
// told by their context, and waited for.
func (c *Component) talk(client *connection) error {
	ctx, cancel := context.WithCancel(c.ctx)
	var queries sync.WaitGroup
	defer queries.Wait()
	defer cancel()
	if err := c.greet(client); err != nil {
		return err
	}
	for {
		if err := client.conn.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
			return err
		}
		payload, err := client.stream.Read()
		if err != nil {
			return err
		}
		if err := c.receive(ctx, &queries, client, payload); err != nil {
			return err
		}
	}
}

func (c *Component) greet(client *connection) error {
	if err := client.conn.SetReadDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	if err := client.stream.Accept(client.conn, c.configuration.Key); err != nil {
		return err
	}
	client.conn.Work() // those that have not said who they are make room for it
	return client.stream.Write(nil)
}

// receive handles one packet; an error ends the connection.
func (c *Component) receive(ctx context.Context, queries *sync.WaitGroup, client *connection, payload []byte) error {
	if len(payload) == 0 {
		return nil
	}
	if len(payload) < 4 {
		return adnltcp.ErrPacket
	}
	switch tag, rest := binary.LittleEndian.Uint32(payload), payload[4:]; tag {
	case pingTag:
		if len(rest) != 8 {
			return adnltcp.ErrPacket
		}
		return client.stream.Send(liteclient.TCPPong{RandomID: int64(binary.LittleEndian.Uint64(rest))})
	case authenticateTag:
		return client.stream.Send(liteclient.TCPAuthenticationNonce{Nonce: make([]byte, 32)})
	case queryTag:
		if len(rest) < 32 {
			return adnltcp.ErrPacket
		}
		c.take(ctx, queries, client, rest[:32], rest[32:])
	}
	return nil
}

// take starts a query's work when the connection has a free slot.
func (c *Component) take(ctx context.Context, queries *sync.WaitGroup, client *connection, id, body []byte) {
	select {
	case client.slots <- struct{}{}:
	default:
		c.reply(client, id, ton.LSError{Code: codeError, Text: "too many queries in work on this connection"})
		return
	}
	queries.Go(func() {
		defer func() { <-client.slots }()
		c.reply(client, id, c.answer(ctx, body))
	})
}

// reply sends an answer; a client that cannot be written to is let go.
func (c *Component) reply(client *connection, id []byte, answer tl.Serializable) {
	payload, err := encode(id, answer)
	if err != nil {
		c.dependencies.Report.Log.Error().Err(err).Type("answer", answer).Msg("an answer cannot be sent")
		payload, err = encode(id, ton.LSError{Code: codeError, Text: "internal error"})
	}
	if err == nil {
		err = client.stream.Write(payload)
	}
	if err != nil {
		c.metrics.dropped.Inc()
		client.conn.Close()
	}
}

// encode makes adnl.message.answer.
func encode(id []byte, answer tl.Serializable) (payload []byte, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("serialize %T: %v", answer, broken)
		}
	}()
	return tl.Serialize(adnl.MessageAnswer{ID: id, Data: answer}, true)
}

// request is a query as it came: perhaps a wait, then the query.
type request struct {
	wait  *ton.WaitMasterchainSeqno
	query tl.Serializable
}

// parse reads the body of adnl.message.query.
func parse(body []byte) (request, error) {
	data, _, err := tl.FromBytesNoCopy(body)
	if err != nil {
		return request{}, fmt.Errorf("query: %w", err)
	}
	if len(data) >= 4 && binary.LittleEndian.Uint32(data) == liteQueryTag {
		if data, _, err = tl.FromBytesNoCopy(data[4:]); err != nil {
			return request{}, fmt.Errorf("query: %w", err)
		}
	}
	var r request
	if len(data) >= 4+8 && binary.LittleEndian.Uint32(data) == waitTag {
		r.wait = &ton.WaitMasterchainSeqno{
			Seqno: int32(binary.LittleEndian.Uint32(data[4:])), Timeout: int32(binary.LittleEndian.Uint32(data[8:])),
		}
		if data = data[4+8:]; len(data) == 0 {
			return r, nil
		}
	}
	rest, err := tl.Parse(&r.query, data, true)
	if err != nil {
		return request{}, fmt.Errorf("query: %w", err)
	}
	if len(rest) > 0 {
		return request{}, fmt.Errorf("query: %d bytes too many", len(rest))
	}
	return r, nil
}
