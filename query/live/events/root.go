// Package events makes the events of streams, and reads who wants which of them.
//
// In: bundles of the index and traces of messages that were sent (query/rows), and orders
// of clients. Out: events, each with its position in the sequence of the chain's events;
// subscriptions; what a subscription wants of an event, and the JSON of that, whose
// objects are those of the v3 layer. What several clients get alike is rendered once. A
// bundle has the same events with the same positions wherever it is read. The package
// knows no connection, waits for nobody, and keeps nothing beyond the events themselves.
package events
