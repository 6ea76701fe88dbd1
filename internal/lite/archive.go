package lite

import (
	"context"
	"errors"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lifetime"
)

// oldSeqno is the masterchain block that tells a server with the whole history
// from others.
const oldSeqno = 3

// findArchives asks every server for an old block, now and then.
func (p *Pool) findArchives(ctx context.Context) {
	if _, err := p.Head(ctx); err != nil {
		return
	}
	asked := map[*server]*connection{}
	for {
		for _, s := range p.servers {
			if conn := s.connection(); conn != nil && asked[s] != conn && p.probeArchive(ctx, s) {
				asked[s] = conn
			}
		}
		changed := p.chain.changes()
		pause, cancel := context.WithTimeout(ctx, p.configuration.ArchiveEvery)
		select {
		case <-changed: // a server came, perhaps
			_ = lifetime.Sleep(pause, p.configuration.ReconnectMin)
		case <-pause.Done():
			clear(asked)
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
	}
}

// probeArchive asks one server for an old block and notes whether it has it. It
// reports whether there was an answer.
func (p *Pool) probeArchive(ctx context.Context, s *server) bool {
	seqno := min(oldSeqno, p.chain.seqno())
	request := ton.LookupBlock{Mode: 1, ID: &ton.BlockInfoShort{Workchain: masterWorkchain, Shard: masterShard, Seqno: int32(seqno)}}
	answer, err := p.askAt(ctx, s, Query{Request: request}, 0)
	var denial ton.LSError
	if err != nil && !errors.As(err, &denial) {
		return false
	}
	header, ok := answer.(ton.BlockHeader)
	ok = ok && complete(header.ID) && header.ID.SeqNo == seqno
	s.mu.Lock()
	found := ok && !s.archive
	s.archive = ok
	s.mu.Unlock()
	if found {
		p.chain.stir()
	}
	return true
}

// archives is how many connected servers keep old blocks.
func (p *Pool) archives() int {
	return count(p.servers, func(s *server) bool { return s.archive && s.conn != nil })
}

// HasArchive reports whether some connected server keeps old blocks. Servers are
// looked through in the background once there is a head.
func (p *Pool) HasArchive() bool { return p.archives() > 0 }

// FindArchive asks the connected servers for an old block until one has it or
// all have answered.
func (p *Pool) FindArchive(ctx context.Context) bool {
	for _, s := range p.best() {
		if p.HasArchive() {
			return true
		}
		p.probeArchive(ctx, s)
	}
	return p.HasArchive()
}
