package engine

import (
	"errors"
	"os"
	"sync"
)

// disk writes files of the log's partitions to the disk.
type disk struct {
	dir   string
	mutex sync.Mutex
	last  map[string]int64 // base of the last file that was, by partition: those before it are complete there
}

// sync writes what the files of a partition have.
func (d *disk) sync(topic string, partition int) error {
	dir, name := partitionDir(d.dir, topic, partition), partitionName(topic, partition)
	d.mutex.Lock()
	last, known := d.last[name]
	d.mutex.Unlock()
	bases, err := segmentBases(dir)
	if err != nil || len(bases) == 0 {
		return err
	}
	for _, base := range bases {
		if known && base < last {
			continue
		}
		if err := ignoreMissing(syncFile(segmentPath(dir, base))); err != nil { // trimmed meanwhile
			return err
		}
	}
	newest := bases[len(bases)-1]
	if known && newest == last {
		return nil
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.last[name] = max(d.last[name], newest)
	return nil
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
