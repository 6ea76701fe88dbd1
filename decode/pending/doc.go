// Package pending foresees what a message from outside will do. In come the message,
// the chain as it is now (World) and limits; out come the transactions that it and
// the messages behind it would make, as records like those of blocks, and, with what
// blocks have of them by now, one tree (Merge). The package is a library: it knows
// no log, no database and no configuration, and asks for states through World only.
// What strangers send must never cost more than the limits say.
package pending
