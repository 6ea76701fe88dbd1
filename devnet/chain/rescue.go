package chain

import "runtime"

// The chain reads and writes cells of its own making. Where one does not have its
// form after all, what handles it panics with an error, which rescue turns into
// the error of a call from outside.

func sure[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func rescue(err *error) {
	switch broken := recover().(type) {
	case nil:
	case runtime.Error:
		panic(broken)
	case error:
		*err = broken
	default:
		panic(broken)
	}
}
