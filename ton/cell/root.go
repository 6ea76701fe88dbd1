// Package cell reads and counts the cells of strangers within bounds. In come
// cells of tonutils-go out of contracts, messages and get-methods; out come
// their sizes and what they hold. Cells share parts: sixty cells that each refer
// twice to the next are 2^60 as a tree. Sizes take time and memory for the
// distinct cells only; whatever follows references otherwise has a budget. The
// package must never change a cell.
package cell
