package migrations

import (
	"fmt"
	"strings"
	"text/template"
)

// localSuffix marks the table of one shard below the Distributed table.
const localSuffix = "_local"

// Granules. A read decompresses whole granules, and each column of a granule is
// one compressed block.
var granularities = map[string]string{
	// Tables with the records: by size, so that a scattered page of records
	// costs about the same whatever the records' size.
	"records": "index_granularity = 8192, index_granularity_bytes = 65536",
	// Narrow tables of integers.
	"index": "index_granularity = 1024",
	// Records of accounts, contracts, transfers and documents, which are read in
	// scattered pages.
	"contracts": "index_granularity = 64",
	// Tables with projections: what a merge drops is dropped from them too. They
	// are made at the insert: parts with and parts without are never merged.
	"states": "index_granularity = 256, deduplicate_merge_projection_mode = 'rebuild'",
	// The same of lists, of which ranges are read.
	"lists": "index_granularity = 512, deduplicate_merge_projection_mode = 'rebuild'",
	// Records of traces, and of actions, with a projection: small ones.
	"traces":  "index_granularity = 128",
	"actions": "index_granularity = 128, deduplicate_merge_projection_mode = 'rebuild'",
}

// words are what the files may say.
//
//	create "t"            CREATE TABLE … for the table that holds rows
//	engine ["version"]    the engine, all are ReplacingMergeTree
//	settings "kind"       SETTINGS … with the granularity of the kind
//	distribute "t" "key"  on a cluster, the table t over all shards
//	drop "t"              DROP TABLE … for both
//	everywhere "t"        CREATE TABLE … for a table that is whole on every shard
//	local "t"             the name of the table that holds rows
//	alter "t"             ALTER TABLE … for the table that holds rows
//	columns "t" "c T" …   adds columns to both
//	dropcolumns "t" "c" … takes them away
//	modify "t" "c T" …    gives columns of both another type
//	codecs "t" "how" "c …" …   ALTER TABLE … that has columns compressed so, in parts
//	                      that are written from then on
//	view "v" "t"          CREATE MATERIALIZED VIEW … AS, filling the table t of the
//	                      same shard with each insert
//	refresh "v" "when" "t"     the same, filling it by running now and then
//	refreshall "v" "when" "t"  the same for a table that is whole on every shard
//	dropview "v"          DROP TABLE … for a view, or for a table made by everywhere
func (o Options) words() template.FuncMap {
	return template.FuncMap{
		"create":     func(table string) string { return "CREATE TABLE IF NOT EXISTS " + o.local(table) },
		"engine":     o.engine,
		"settings":   o.settings,
		"distribute": o.distribute,
		"drop":       o.drop,

		"everywhere":  func(table string) string { return "CREATE TABLE IF NOT EXISTS " + table },
		"local":       o.local,
		"alter":       func(table string) string { return "ALTER TABLE " + o.local(table) },
		"columns":     o.columns,
		"dropcolumns": o.dropColumns,
		"modify": func(table string, columns ...string) string {
			return o.alterBoth(table, "MODIFY COLUMN ", columns)
		},
		"codecs": o.codecs,
		"view":   func(view, table string) string { return viewStatement(view, "TO "+o.local(table)) },
		"refresh": func(view, when, table string) string {
			return viewStatement(view, "REFRESH "+when+" TO "+o.local(table))
		},
		"refreshall": func(view, when, table string) string { return viewStatement(view, "REFRESH "+when+" TO "+table) },
		"dropview":   func(name string) string { return "DROP TABLE IF EXISTS " + name + " SYNC;" },
	}
}

func (o Options) local(table string) string {
	if o.Cluster == "" {
		return table
	}
	return table + localSuffix
}

// engine has no path arguments when replicated: a Replicated database refuses
// them and finds its own.
func (o Options) engine(version ...string) string {
	name := "ReplacingMergeTree"
	if o.Replicated {
		name = "Replicated" + name
	}
	if len(version) == 0 {
		return name
	}
	return name + "(" + strings.Join(version, ", ") + ")"
}

// settings keeps parts compact whatever their size (one file of columns: a
// lookup costs one read, not one for each column), remembers enough insert
// tokens for the retries of a sink, and keeps every column of the primary key
// in memory: by default ClickHouse leaves out those after a nearly unique one,
// and a lookup of one row of a busy account then reads all its granules. Columns that
// only tell like keys apart are no part of the primary key: each one more makes
// ClickHouse look a third longer for the granules of a hundred keys. A table
// that nothing was written to for a minute is merged into one part, as far as
// the size of merges allows: each part costs a lookup about 0.4 ms. Statistics of
// columns, which merges make by default, are for plans of joins: no statement of
// ours has one. Columns of projections have no codec of their own, but the default.
func (o Options) settings(kind string) (string, error) {
	granularity, ok := granularities[kind]
	if !ok {
		return "", fmt.Errorf("unknown granularity %q", kind)
	}
	window := "non_replicated_deduplication_window"
	if o.Replicated {
		window = "replicated_deduplication_window"
	}
	return fmt.Sprintf("SETTINGS %s, min_bytes_for_wide_part = 107374182400, min_rows_for_wide_part = 10000000000, %s = 1000, "+
		"primary_key_ratio_of_unique_prefix_values_to_skip_suffix_columns = 1, "+
		"min_age_to_force_merge_seconds = 60, min_age_to_force_merge_on_partition_only = 1, enable_max_bytes_limit_for_min_age_to_force_merge = 1, "+
		"auto_statistics_types = '', default_compression_codec = 'ZSTD(1)'",
		granularity, window), nil
}

// distribute spreads rows by key, a column or a function of one: all rows of an account's
// transactions, in every table, lie on one shard, so that a lookup in an index
// table and the read that follows stay on it.
func (o Options) distribute(table, key string) string {
	if o.Cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %s\nENGINE = Distributed('%s', currentDatabase(), '%s', %s);",
		table, o.local(table), o.Cluster, o.local(table), key)
}

func (o Options) drop(table string) string {
	if o.Cluster == "" {
		return "DROP TABLE IF EXISTS " + table + " SYNC;"
	}
	return "DROP TABLE IF EXISTS " + table + " SYNC;\nDROP TABLE IF EXISTS " + o.local(table) + " SYNC;"
}

func viewStatement(view, to string) string {
	return "CREATE MATERIALIZED VIEW IF NOT EXISTS " + view + " " + to + " AS"
}

// columns adds columns, each a name and a type.
func (o Options) columns(table string, columns ...string) string {
	return o.alterBoth(table, "ADD COLUMN IF NOT EXISTS ", columns)
}

func (o Options) dropColumns(table string, columns ...string) string {
	return o.alterBoth(table, "DROP COLUMN IF EXISTS ", columns)
}

// alterBoth changes the table that holds rows before the one that reads it.
func (o Options) alterBoth(table, action string, columns []string) string {
	text := "ALTER TABLE " + o.local(table) + " " + action + strings.Join(columns, ", "+action) + ";"
	if o.Cluster == "" {
		return text
	}
	return text + "\nALTER TABLE " + table + " " + action + strings.Join(columns, ", "+action) + ";"
}

func (o Options) codecs(table string, pairs ...string) string {
	var changes []string
	for i := 0; i+1 < len(pairs); i += 2 {
		for _, column := range strings.Fields(pairs[i+1]) {
			changes = append(changes, "MODIFY COLUMN "+column+" CODEC("+pairs[i]+")")
		}
	}
	return "ALTER TABLE " + o.local(table) + " " + strings.Join(changes, ", ")
}

func (o Options) databaseStatement(name string) string {
	if !o.Replicated {
		return "CREATE DATABASE IF NOT EXISTS " + name
	}
	path := o.KeeperPath
	if path == "" {
		path = "/clickhouse/databases/{database}"
	}
	path = strings.ReplaceAll(path, "{database}", name)
	return fmt.Sprintf("CREATE DATABASE IF NOT EXISTS %s ENGINE = Replicated('%s', '{shard}', '{replica}')", name, path)
}
