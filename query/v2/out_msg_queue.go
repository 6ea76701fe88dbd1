package v2

import (
	"fmt"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
)

type outMsgQueueSize struct {
	_    typed   `type:"blocks.outMsgQueueSize"`
	ID   blockID `json:"id"`
	Size int64   `json:"size"`
}

type outMsgQueueSizes struct {
	_      typed             `type:"blocks.outMsgQueueSizes"`
	Shards []outMsgQueueSize `json:"shards"`
	Limit  int32             `json:"ext_msg_queue_size_limit"`
}

var getOutMsgQueueSize = &Method{
	Name: "getOutMsgQueueSize", Aliases: []string{"getOutMsgQueueSizes"}, Tag: tagBlocks, Summary: "Outbound message queue size",
	Description: "How many messages wait in every shard to be delivered, the masterchain first.",
	Cache:       time.Second,
	Result:      openapi.TypeOf[outMsgQueueSizes](),
	serve: func(c *call) (any, error) {
		var got ton.OutMsgQueueSizes
		_, _, err := c.node.Query(c, lite.Query{
			Request: ton.GetOutMsgQueueSizes{},
			// Sizes are the server's word: states need not hold them.
			Check: func(answer any) error {
				var ok bool
				if got, ok = answer.(ton.OutMsgQueueSizes); !ok {
					return fmt.Errorf("getOutMsgQueueSizes: answered with %T", answer)
				}
				for _, s := range got.Shards {
					if s.ID == nil {
						return fmt.Errorf("getOutMsgQueueSizes: a size names no block")
					}
				}
				return nil
			},
		})
		if err != nil {
			return nil, err
		}
		result := outMsgQueueSizes{Limit: got.ExtMsgQueueSizeLimit}
		for _, s := range got.Shards {
			result.Shards = append(result.Shards, outMsgQueueSize{ID: newBlockID(s.ID), Size: int64(s.Size)})
		}
		return result, nil
	},
}
