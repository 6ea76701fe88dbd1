package liteserver

import (
	"context"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// maxMessageBytes of an external message, as in the node.
const maxMessageBytes = 65535

func (c *Component) sendMessage(_ context.Context, q ton.SendMessage) (tl.Serializable, error) {
	if len(q.Body) > maxMessageBytes {
		return nil, refuse(codeUnknown, "external message too large, rejecting")
	}
	message, err := cell.FromBOC(q.Body)
	if err != nil {
		return nil, refuse(codeUnknown, "cannot deserialize external message boc: %v", err)
	}
	if err := c.dependencies.Send(message); err != nil {
		return nil, refuse(codeUnknown, "cannot apply external message to current state : %v", err)
	}
	return ton.SendMessageStatus{Status: 1}, nil
}
