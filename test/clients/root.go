// Package clients holds tests of the lite server with clients that know nothing
// of us: ton-lite-client (TypeScript) and pytoniq (Python), unchanged.
package clients
