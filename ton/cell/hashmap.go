package cell

import "fmt"

// Key is the key of a hashmap, at most 256 bits, left-aligned.
type Key = [4]uint64

// Hashmap calls leaf with every key of n bits and what follows it, in the order of
// the keys, of the Hashmap or HashmapAug (hashmap.tlb) whose root s reads. Cells
// can be shared, so that a small bag stands for an endless hashmap: each node
// takes one from the budget, and ErrLimit ends it. With pruned, what lies behind
// pruned branches is passed; without, they are an error.
func (s Slice) Hashmap(n int, budget *int, pruned bool, leaf func(key Key, s Slice) error) error {
	return s.hashmap(Key{}, 0, n, budget, pruned, leaf)
}

// hashmap reads a node behind the first at bits of the key.
func (s Slice) hashmap(key Key, at, n int, budget *int, pruned bool, leaf func(key Key, s Slice) error) error {
	if *budget--; *budget < 0 {
		return fmt.Errorf("%w: dictionaries with too many nodes", ErrLimit)
	}
	label, length := s.Label(n - at)
	for i, shift := at/64, uint(at%64); 64*i < n; i++ {
		word := label[i-at/64]
		key[i] |= word >> shift
		if shift != 0 && 64*(i+1) < n {
			key[i+1] |= word << (64 - shift)
		}
	}
	if at += length; at == n {
		return leaf(key, s)
	}
	left, right := s.Ref(), s.Ref()
	if s.Failed() {
		return s.Err()
	}
	for _, side := range [2]Cell{left, right} {
		if !pruned || side.Kind() != PrunedBranch {
			if err := side.Slice().hashmap(key, at+1, n, budget, pruned, leaf); err != nil {
				return err
			}
		}
		key[at/64] |= 1 << (63 - at%64)
	}
	return nil
}
