//go:build !linux

package engine

import "errors"

// confinement is what a process may still do; Linux alone can confine it.
type confinement struct {
	paths   map[string]uint64
	listen  []int
	connect []int
}

const mayRead, mayWrite = 0, 0

func landlockVersion() int { return 0 }

func (confinement) apply() error { return errors.New("only Linux can confine the engine") }
