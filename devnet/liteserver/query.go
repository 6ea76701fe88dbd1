package liteserver

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/history"
)

// Codes of liteServer.error, as the node gives them.
const (
	codeUnknown        = 0 // the message was refused
	codeFatal          = -400
	codeError          = 602
	codeProtoViolation = 621
	codeNotReady       = 651
	codeTimeout        = 652
)

// kind is a kind of query and what answers it.
type kind struct {
	name  string
	serve func(*Component, context.Context, tl.Serializable) (tl.Serializable, error)
}

// kinds of queries, by their TL type.
var kinds = map[reflect.Type]kind{}

func handle[Q any](serve func(*Component, context.Context, Q) (tl.Serializable, error)) {
	t := reflect.TypeFor[Q]()
	kinds[t] = kind{name: t.Name(), serve: func(c *Component, ctx context.Context, q tl.Serializable) (tl.Serializable, error) {
		return serve(c, ctx, q.(Q))
	}}
}

func init() {
	handle((*Component).masterchainInfo)
	handle((*Component).masterchainInfoExt)
	handle((*Component).currentTime)
	handle((*Component).version)
	handle((*Component).block)
	handle((*Component).state)
	handle((*Component).blockHeader)
	handle((*Component).lookupBlock)
	handle((*Component).lookupBlockWithProof)
	handle((*Component).allShardsInfo)
	handle((*Component).shardInfo)
	handle((*Component).shardBlockProof)
	handle((*Component).blockProof)
	handle((*Component).accountState)
	handle((*Component).accountStatePruned)
	handle((*Component).oneTransaction)
	handle((*Component).transactions)
	handle((*Component).listBlockTransactions)
	handle((*Component).listBlockTransactionsExt)
	handle((*Component).configAll)
	handle((*Component).configParams)
	handle((*Component).libraries)
	handle((*Component).librariesWithProof)
	handle((*Component).runMethod)
	handle((*Component).sendMessage)
	handle((*Component).outMsgQueueSizes)
	handle((*Component).blockOutMsgQueueSize)
	handle((*Component).dispatchQueueInfo)
	handle((*Component).dispatchQueueMessages)
	handle((*Component).validatorStats)
}

// answer is what goes back, an LSError for whatever went wrong.
func (c *Component) answer(ctx context.Context, body []byte) tl.Serializable {
	name := "unknown"
	response, err := c.serve(ctx, body, &name)
	if err == nil {
		return response
	}
	failure := failureOf(err)
	c.metrics.errors.WithLabelValues(name, strconv.Itoa(int(failure.Code))).Inc()
	return failure
}

func (c *Component) serve(ctx context.Context, body []byte, name *string) (response tl.Serializable, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			c.dependencies.Report.Log.Error().Str("query", *name).Interface("panic", broken).Bytes("stack", debug.Stack()).Msg("a query broke its handler")
			err = refuse(codeError, "internal error")
		}
	}()
	request, err := parse(body)
	if err != nil {
		return nil, refuse(codeProtoViolation, "cannot parse: %v", err)
	}
	if request.wait != nil {
		if err := c.wait(ctx, *request.wait); err != nil {
			*name = "WaitMasterchainSeqno"
			return nil, err
		}
	}
	k, known := kinds[reflect.TypeOf(request.query)]
	if !known {
		return nil, refuse(codeProtoViolation, "%T is no query of lite servers", request.query)
	}
	*name = k.name
	defer func(start time.Time) { c.metrics.seconds.WithLabelValues(k.name).Observe(time.Since(start).Seconds()) }(time.Now())
	return k.serve(c, ctx, request.query)
}

// maxAhead is how far in the future a block may be that clients wait for.
const maxAhead = 1000

// wait does what the prefix liteServer.waitMasterchainSeqno asks.
func (c *Component) wait(ctx context.Context, w ton.WaitMasterchainSeqno) error {
	seqno := uint32(w.Seqno)
	if int64(seqno) > int64(c.dependencies.History.Last())+maxAhead {
		return refuse(codeNotReady, "too big masterchain block seqno")
	}
	limit := min(time.Duration(max(w.Timeout, 0))*time.Millisecond, c.configuration.MaxWait)
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := c.dependencies.History.Wait(waiting, seqno); err != nil {
		return refuse(codeTimeout, "timeout")
	}
	return nil
}

// failureOf is the LSError for an error.
func failureOf(err error) ton.LSError {
	var failure ton.LSError
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, history.ErrNotFound):
		return ton.LSError{Code: codeNotReady, Text: strings.Replace(err.Error(), "not found", "is not in db", 1)}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ton.LSError{Code: codeTimeout, Text: "timeout"}
	}
	return ton.LSError{Code: codeError, Text: err.Error()}
}

func refuse(code int32, format string, values ...any) error {
	return ton.LSError{Code: code, Text: fmt.Sprintf(format, values...)}
}

// withHeavy runs work that takes a processor for long, in one of few slots.
func (c *Component) withHeavy(ctx context.Context, work func() error) error {
	select {
	case c.heavy <- struct{}{}:
		defer func() { <-c.heavy }()
		return work()
	case <-ctx.Done():
		return ctx.Err()
	}
}
