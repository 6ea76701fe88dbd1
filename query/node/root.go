// Package node answers what only nodes know: the newest state of accounts, blocks
// with their proofs, get-methods, fees, and the way of messages into the chain.
//
// In: typed arguments, such as addresses, block ids and cells. Out: Go values, or an
// *Error that says what a caller did wrong or a lite server refused. The package
// asks lite servers through Servers only, believes nothing without proof, and is
// where the limits are: how many ask at a time, how long they may, what is kept, how
// many cells of a stranger's are read. It knows neither HTTP nor JSON, and never
// reads ClickHouse.
package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/emulator"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	own "tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

// Configuration of the node access.
type Configuration struct {
	// Deadline bounds each request.
	Deadline time.Duration `yaml:"deadline"`
	// CacheBytes bounds the answers that are kept.
	CacheBytes int `yaml:"cache_bytes"`
	// Emulate executes messages before they are sent, so that one that the
	// contract would refuse gets a clear answer.
	Emulate bool `yaml:"emulate"`
	// GasLimit bounds a run of a get-method; all runs for a request have four times as
	// much.
	GasLimit int64 `yaml:"gas_limit"`
	// Emulation is how messages are executed, in processes of their own.
	Emulation emulator.Configuration `yaml:"emulation"`
	// Lite is how lite servers are asked; without a config nobody is.
	Lite lite.Configuration `yaml:"lite"`
}

// DefaultConfiguration is that of the public service.
func DefaultConfiguration() Configuration {
	return Configuration{
		Deadline: 10 * time.Second, CacheBytes: 64 << 20, Emulate: true, GasLimit: 4_000_000,
		Emulation: emulator.DefaultConfiguration(), Lite: lite.DefaultConfiguration(),
	}
}

func (c *Configuration) check() error {
	switch {
	case c.Deadline <= 0:
		return fmt.Errorf("deadline is %s, it must be positive", c.Deadline)
	case c.CacheBytes < 0:
		return fmt.Errorf("cache of %d bytes: it cannot be negative", c.CacheBytes)
	case c.GasLimit <= 0:
		return fmt.Errorf("gas limit is %d, it must be positive", c.GasLimit)
	}
	return c.Emulation.Validate()
}

// What is kept. A network has one configuration at a time, readers of history more;
// the code of a jetton wallet, which is a library, is a few kilobytes.
const (
	maxConfigs      = 16
	maxKeys         = 1 << 14
	maxLibraryCells = 1 << 10
)

// Servers asks lite servers, and proves what they say. *lite.Pool is one.
type Servers interface {
	// Head is the newest masterchain block, Master the one with a seqno; Master
	// of 0 is the zerostate.
	Head(ctx context.Context) (*ton.BlockIDExt, error)
	Master(ctx context.Context, seqno uint32) (*ton.BlockIDExt, error)
	// Reached reports whether any of them can be reached.
	Reached() bool
	Lookup(ctx context.Context, l lite.Lookup) (*ton.BlockIDExt, *tlb.BlockHeader, error)
	Header(ctx context.Context, id *ton.BlockIDExt) (*tlb.BlockHeader, error)
	Block(ctx context.Context, id *ton.BlockIDExt) ([]byte, *cell.Cell, error)
	// AllShards are the newest shard blocks that a masterchain block commits.
	AllShards(ctx context.Context, master *ton.BlockIDExt) ([]*ton.BlockIDExt, error)
	Account(ctx context.Context, master *ton.BlockIDExt, account *address.Address) (*lite.Account, error)
	// Config is the dictionary of all parameters, or of those asked for.
	Config(ctx context.Context, master *ton.BlockIDExt, params ...int32) (*cell.Cell, error)
	// Libraries are nil where there is none with the hash.
	Libraries(ctx context.Context, hashes ...[]byte) ([]*cell.Cell, error)
	// Transactions are an account's from one back.
	Transactions(ctx context.Context, account *address.Address, lt uint64, hash []byte, limit int, after uint32, archival bool) ([]*cell.Cell, error)
	Send(ctx context.Context, message []byte) error
	// Query is for requests that have no method here; their checks are the caller's.
	Query(ctx context.Context, q lite.Query) (answer any, server string, err error)
}

var _ Servers = (*lite.Pool)(nil)

// Emulator tries a message on an account, away from this process. It ends with
// its context.
type Emulator interface {
	Deliver(ctx context.Context, in tvm.Delivery) (tvm.Outcome, error)
}

// Dependencies of a Node.
type Dependencies struct {
	Report report.Reporter
	// Servers are the lite servers. Without them nothing can be asked.
	Servers Servers
	// Emulator executes messages. Without one this process does, which only suits
	// tests: what a stranger sends is then bounded by gas alone.
	Emulator Emulator
	// Accepted is told of every message that lite servers took, with the context of
	// who sent it. It must return at once. May be nil.
	Accepted func(ctx context.Context, sent Accepted)
}

// Node answers operations. All of its methods may be called at once.
type Node struct {
	configuration Configuration
	servers       Servers
	emulator      Emulator
	accepted      func(context.Context, Accepted)
	report        report.Reporter
	seldom        zerolog.Logger
	configs       kept[uint32, *tvm.Config] // by their key block
	keys          kept[uint32, uint32]      // the key block of a masterchain block
	libraries     kept[[32]byte, *cell.Cell]
	answers       *answers
	queues        sync.Map        // chan struct{} by their names
	ctx           context.Context // of answers that several requests share
	cancel        context.CancelFunc
}

// New makes a Node.
func New(configuration Configuration, d Dependencies) (*Node, error) {
	if err := configuration.check(); err != nil {
		return nil, fmt.Errorf("node access: %w", err)
	}
	n := &Node{
		configuration: configuration, servers: d.Servers, emulator: d.Emulator, accepted: d.Accepted, report: d.Report, seldom: d.Report.Seldom(),
		configs: newKept[uint32, *tvm.Config](maxConfigs), keys: newKept[uint32, uint32](maxKeys), libraries: newKept[[32]byte, *cell.Cell](maxLibraryCells),
		answers: newAnswers(configuration.CacheBytes),
	}
	if n.emulator == nil {
		n.emulator = inProcess{}
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n, nil
}

type inProcess struct{}

func (inProcess) Deliver(_ context.Context, in tvm.Delivery) (tvm.Outcome, error) {
	return tvm.Deliver(in)
}

// Stop ends what is on its way and waits for it.
func (n *Node) Stop() {
	n.cancel()
	n.answers.running.Wait()
}

// Configured reports whether there are lite servers to ask.
func (n *Node) Configured() bool { return n.servers != nil }

// The masterchain has one shard.
const (
	masterWorkchain = -1
	masterShard     = -1 << 63
)

func isMaster(id *ton.BlockIDExt) bool {
	return id.Workchain == masterWorkchain && id.Shard == masterShard
}

// ofTonutils is the address as tonutils-go has it.
func ofTonutils(a own.Address) *address.Address {
	return address.NewAddress(0, byte(a.Workchain()), a.ID())
}
