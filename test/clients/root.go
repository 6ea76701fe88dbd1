// Package clients holds tests of the lite server with clients that know nothing
// of us, unchanged: tonlib (the official one, C++), ton-lite-client (TypeScript)
// and pytoniq (Python).
package clients
