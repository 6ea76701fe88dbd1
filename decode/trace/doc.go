// Package trace puts transactions together to traces: trees in which every
// transaction but the root was caused by a message of another one. In come
// transactions as records; out come traces with their counters and states, and
// trees. The package must never ask what a transaction means, and reads no store
// but the one that it is given.
package trace
