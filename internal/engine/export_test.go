package engine

// RestartAtOnce lets an engine that ends be started again without longer and longer pauses,
// until the function that it returns is called.
func RestartAtOnce() (restore func()) {
	was := lastBackoff
	lastBackoff = firstBackoff
	return func() { lastBackoff = was }
}
