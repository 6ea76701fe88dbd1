package engine

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// An entry of the broker's log of groups: length, checksum and version (all
// little endian), then JSON. The length counts from the version on, and so does
// the checksum.
const (
	groupEntryHead    = 8
	groupEntryVersion = 2
)

type commitKey struct {
	group, topic string
	partition    int
}

// checkGroups cuts off a torn entry of the log of groups (the broker would write
// behind it and never read what follows), and moves commits beyond the end of
// their partition back to it: a reader there would wait in silence. Such a
// commit's metadata speaks of lost records and goes.
func (p *preflight) checkGroups() error {
	path := filepath.Join(p.dir, "groups.log")
	data, err := os.ReadFile(path)
	if err != nil {
		return ignoreMissing(err)
	}
	commits, groups, whole := readGroups(data)
	p.groups = groups
	if whole < len(data) {
		p.log.Warn().Str("file", path).Int("bytes", len(data)-whole).Msg("cutting off an incomplete write")
		if err := os.Truncate(path, int64(whole)); err != nil {
			return err
		}
	}
	var moved []byte
	for key, entry := range commits {
		end, exists := p.ends.Partitions[partitionName(key.topic, key.partition)]
		offset, _ := entry["o"].(float64)
		if !exists || int64(offset) <= end {
			continue
		}
		p.lost = true
		p.log.Error().Str("group", key.group).Str("partition", partitionName(key.topic, key.partition)).
			Int64("committed", int64(offset)).Int64("end", end).Msg("moving a commit back to the end of the log")
		entry["o"], entry["m"] = end, ""
		if moved, err = appendGroupEntry(moved, entry); err != nil {
			return err
		}
	}
	return appendFile(path, moved)
}

// readGroups returns the latest commits, the names of all groups, and how many
// bytes hold whole entries.
func readGroups(data []byte) (commits map[commitKey]map[string]any, groups []string, whole int) {
	commits = make(map[commitKey]map[string]any)
	names := make(map[string]bool)
	for len(data)-whole >= groupEntryHead+groupEntryVersion {
		length := int(binary.LittleEndian.Uint32(data[whole:]))
		if length < groupEntryVersion || length > len(data)-whole-groupEntryHead {
			break
		}
		body := data[whole+groupEntryHead:][:length]
		if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[whole+4:]) {
			break
		}
		whole += groupEntryHead + length
		var entry map[string]any
		if json.Unmarshal(body[groupEntryVersion:], &entry) != nil {
			continue
		}
		key := commitKey{group: text(entry["g"]), topic: text(entry["t"])}
		if partition, ok := entry["p"].(float64); ok {
			key.partition = int(partition)
		}
		names[key.group] = true
		switch entry["type"] {
		case "commit":
			commits[key] = entry
		case "delete":
			delete(commits, key)
		}
	}
	return commits, slices.Sorted(maps.Keys(names)), whole
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func appendGroupEntry(to []byte, entry map[string]any) ([]byte, error) {
	body := binary.LittleEndian.AppendUint16(nil, layoutVersion)
	data, err := json.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("commit of group %v: %w", entry["g"], err)
	}
	body = append(body, data...)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(body)))
	to = binary.LittleEndian.AppendUint32(to, crc32.Checksum(body, castagnoli))
	return append(to, body...), nil
}

func appendFile(path string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}
