//go:build !linux

package kafkatest

import "os/exec"

// startDying starts a process; only Linux can tie its life to ours.
func startDying(cmd *exec.Cmd) error { return cmd.Start() }
