// Package clienttest opens clients of databases for tests.
package clienttest

import (
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
)

// Kafka is a client of an embedded log, which has the topics then. It is closed when the
// test ends.
func Kafka(t testing.TB, log *engine.Kafka, partitions int, topics ...schema.Topic) *kafka.Client {
	t.Helper()
	c := kafka.DefaultConfiguration()
	c.Brokers, c.Partitions = []string{log.Address()}, partitions
	client, err := kafka.New(c, kafka.Dependencies{Report: report.Silent(), Dial: log.Dial, Epoch: log.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.EnsureTopics(t.Context(), topics); err != nil {
		t.Fatal(err)
	}
	return client
}

// ClickHouse is a client of a database, as the stages have it with no settings of
// their own. It is closed when the test ends.
func ClickHouse(t testing.TB, dsn string) *clickhouse.Client {
	t.Helper()
	c := clickhouse.DefaultConfiguration()
	c.DSN = dsn
	client, err := clickhouse.New(c, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}
