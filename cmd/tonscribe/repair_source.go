package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"tonscribe/cmd/tonscribe/repair"
	"tonscribe/ingest"
)

// repairFolder, in the data folder, has the log and the stores of a repair that
// takes rows from the source.
const repairFolder = "repair"

// repairSource is where the blocks come from once more: what is named, the public
// network that is followed, or the devnet of the data folder.
func (p *process) repairSource(ctx context.Context) (*repair.Source, error) {
	s := p.settings
	s.useNetwork()
	if s.Ingest.Source == "" {
		if _, err := os.Stat(s.devnetDir()); err == nil {
			s.Ingest.Source = sourceDevnet
		}
	}
	if s.Ingest.Source == "" {
		return nil, errors.New("name them with --source")
	}
	name := s.Ingest.Source
	if err := p.findNetwork(ctx); err != nil {
		return nil, err
	}
	if name != sourceDevnet {
		if err := s.Ingest.Check(); err != nil {
			return nil, err
		}
	}
	return &repair.Source{Name: name, Open: p.openRepairSource}, nil
}

// openRepairSource makes a process beside this one, whose stages have nothing in
// common with those of the index but their settings.
func (p *process) openRepairSource(ctx context.Context, r repair.Range) (_ *repair.Decoding, err error) {
	folder := filepath.Join(p.settings.Data, repairFolder)
	leave, err := claimFolder(folder)
	if err != nil {
		return nil, err
	}
	s := &settings{Configuration: p.settings.Configuration}
	s.Data, s.Kafka.Brokers = folder, nil
	s.Decode.Cells.Dir, s.Contracts.Dir, s.Traces.Dir, s.Ingest.GapFile = "", "", "", ""
	s.Ingest.From, s.Ingest.To, s.Ingest.ToHash, s.Ingest.FromHead = r.From, r.To, "", false
	s.Decode.Zerostates = slices.Clone(s.Decode.Zerostates)
	kept := filepath.Join(p.settings.Data, "zerostates")
	if _, err := os.Stat(kept); err == nil {
		s.Decode.Zerostates = append(s.Decode.Zerostates, kept)
	}
	if err := s.complete(); err != nil {
		return nil, errors.Join(err, leave())
	}
	side, err := newProcess(s)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	side.report.Log, side.room = p.report.Log, p.room
	stop := func() error { return errors.Join(side.stop(), leave()) }
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	ended := make(chan error, 8)
	if s.Ingest.Source == sourceDevnet {
		d, err := p.startDevnet(ctx, ended)
		if err != nil {
			return nil, err
		}
		s.Network, s.Ingest.Source = "devnet", "liteserver:"+d.ConfigPath()
		s.Decode.Zerostates = append(s.Decode.Zerostates, d.StatesPath())
	}
	if err := side.openLog(ctx, true); err != nil {
		return nil, err
	}
	return &repair.Decoding{
		Log: side.log, Ended: ended, Stop: stop,
		Start: func(ctx context.Context) error { return side.decodeAgain(ctx, r, ended) },
	}, nil
}

// claimFolder makes a folder that is empty and belongs to this process until leave, which
// takes it away. What a process left that was killed goes.
func claimFolder(folder string) (leave func() error, err error) {
	var f *os.File
	for held := false; !held; {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		f, err = os.Open(folder)
		if errors.Is(err, os.ErrNotExist) { // taken away since
			continue
		}
		if err != nil {
			return nil, err
		}
		if held, err = lockFolder(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if !held {
			f.Close()
		}
	}
	leave = func() error { return errors.Join(os.RemoveAll(folder), f.Close()) }
	left, err := f.Readdirnames(-1)
	for _, name := range left {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, name)))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return leave, nil
}

// lockFolder locks a folder for as long as it is open. What another one that ended has taken
// away since it was opened is not held: its lock keeps nobody off.
func lockFolder(f *os.File) (held bool, err error) {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return false, fmt.Errorf("another repair works in %s: let it end first, or name another folder with --data", f.Name())
		}
		return false, fmt.Errorf("lock of %s: %w", f.Name(), err)
	}
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(f.Name())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, named), err
}

// decodeAgain starts the stages before the sink, the last one first.
func (p *process) decodeAgain(ctx context.Context, r repair.Range, ended chan<- error) error {
	if r.Traces {
		assembled, err := p.newTraces()
		if err != nil {
			return err
		}
		if err := p.begin(ctx, "traces of the repair", assembled, ended); err != nil {
			return err
		}
	}
	if r.Contracts {
		facts, err := p.newContracts()
		if err != nil {
			return err
		}
		if err := p.begin(ctx, "contracts of the repair", facts, ended); err != nil {
			return err
		}
	}
	decode, err := p.newDecode()
	if err != nil {
		return err
	}
	if err := p.begin(ctx, "decode of the repair", decode, ended); err != nil {
		return err
	}
	in, err := ingest.New(p.settings.Ingest, ingest.Dependencies{Report: p.report, Log: p.log, Backlog: p.decodeBacklog, LeaveOut: r.LeaveOut})
	if err != nil {
		return err
	}
	if err := p.begin(ctx, "ingest of the repair", in, ended); err != nil {
		return err
	}
	go func() {
		<-in.Done()
		if last := in.Status().Published; in.Err() == nil && last < r.To {
			ended <- fmt.Errorf("the source has no bundle %d, which the tables have: its last one is %d", r.To, last)
		}
	}()
	return nil
}
