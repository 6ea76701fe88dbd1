package tvm_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// hostile is code that never ends by itself.
func hostile(t testing.TB) map[string]*cell.Cell {
	t.Helper()
	return map[string]*cell.Cell{
		// { } PUSHCONT, AGAIN
		"empty loop": assembly(t, "3090EA"),
		// { INC } AGAIN
		"counting loop": assembly(t, "91A4EA"),
		// { DUP } AGAIN: the stack grows
		"growing stack": assembly(t, "9120EA"),
		// { DUP; EXECUTE }, DUP, EXECUTE: a call inside a call
		"recursion": assembly(t, "309320D89120D8"),
		// { 1 TUPLE } AGAIN: a tuple in a tuple in a tuple
		"nested tuples": assembly(t, "926F01EA"),
		// { DUP; 2 TUPLE } AGAIN: 2^n values
		"doubling tuples": assembly(t, "93206F02EA"),
		// { NEWC; STREF; ENDC } AGAIN on a cell: cells as deep as may be
		"deep cells": assembly(t, "30C8C993C8CCC9EA"),
	}
}

// finite ends with a result that unfolds to more than memory holds.
func doubled(t testing.TB, times int) *cell.Cell {
	t.Helper()
	text := "30C8"
	for range times {
		text += "206F02"
	}
	return assembly(t, text)
}

func emptyConfig(t testing.TB) *tvm.Config {
	t.Helper()
	root := cell.NewDict(32)
	key := cell.BeginCell().MustStoreUInt(8, 32).EndCell()
	version := cell.BeginCell().MustStoreUInt(0xc4, 8).MustStoreUInt(12, 32).MustStoreUInt(46, 64).EndCell()
	if err := root.Set(key, cell.BeginCell().MustStoreRef(version).EndCell()); err != nil {
		t.Fatal(err)
	}
	return prepared(t, root.AsCell())
}

func hostileInput(t testing.TB, code *cell.Cell, gas int64) tvm.Input {
	t.Helper()
	return tvm.Input{
		Context: tvm.Context{Config: emptyConfig(t), Now: 1_750_000_000},
		Address: address.NewAddress(0, 0, make([]byte, 32)), Code: code, Balance: big.NewInt(1), GasLimit: gas,
	}
}

func TestCodeThatNeverEndsIsStoppedByItsGas(t *testing.T) {
	for name, code := range hostile(t) {
		result, err := tvm.Run(t.Context(), hostileInput(t, code, 1_000_000))
		if err != nil {
			if !errors.Is(err, tvm.ErrStackTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if result.OK() {
			t.Errorf("%s: ended with exit code %d after %d gas", name, result.ExitCode, result.GasUsed)
		}
		t.Logf("%s: exit code %d, %d gas, %d steps", name, result.ExitCode, result.GasUsed, result.Steps)
	}
}

func TestCodeThatNeverEndsIsStoppedByTheContext(t *testing.T) {
	for name, code := range hostile(t) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := tvm.Run(ctx, hostileInput(t, code, 1<<50))
		cancel()
		// Some end by themselves before: the stack or a cell is full.
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, tvm.ErrStackTooLarge) {
			t.Errorf("%s: %v, want %v", name, err, context.DeadlineExceeded)
		}
		if err == nil && (name == "empty loop" || name == "counting loop") {
			t.Errorf("%s: ended, want %v", name, context.DeadlineExceeded)
		}
	}
}

// Hashes of slices make cells: with 500 gas each, most runs end in one where they are
// given more gas and start over.
func TestCodeThatHasNoGasForACellRunsOutOfGas(t *testing.T) {
	slice := func(text string) *cell.Cell {
		return assembly(t, text).ToBuilder().MustStoreRef(assembly(t, "AB")).EndCell()
	}
	// code, 3,000 times { DUP, HASHSU, DROP }, and without end
	many, endless := slice("3089"+"810BB8"+"94"+"20F90130"+"E4"), slice("3089"+"94"+"20F90130"+"EA")
	if result, err := tvm.Run(t.Context(), hostileInput(t, many, 4_000_000)); err != nil || !result.OK() || result.GasUsed < 1_000_000 {
		t.Errorf("3,000 hashes: exit code %d after %d gas, %v", result.ExitCode, result.GasUsed, err)
	}
	if result, err := tvm.Run(t.Context(), hostileInput(t, endless, 4_000_000)); err != nil || result.ExitCode != -14 {
		t.Errorf("hashes without end: exit code %d after %d gas, %v, want -14", result.ExitCode, result.GasUsed, err)
	}
}

func TestResultsThatUnfoldWithoutEndAreRefused(t *testing.T) {
	if result, err := tvm.Run(t.Context(), hostileInput(t, doubled(t, 10), 1_000_000)); err != nil || !result.OK() || result.StackCell() == nil {
		t.Errorf("2^10 values: exit code %d, %v", result.ExitCode, err)
	}
	if _, err := tvm.Run(t.Context(), hostileInput(t, doubled(t, 40), 1_000_000)); !errors.Is(err, tvm.ErrStackTooLarge) {
		t.Errorf("2^40 values: %v, want %v", err, tvm.ErrStackTooLarge)
	}
}

// repeated is code that does a step so many times, beginning with null.
func repeated(t testing.TB, times int, step string) *cell.Cell {
	t.Helper()
	// DROP, NULL, times PUSHINT, { step } PUSHCONT, REPEAT
	return assembly(t, fmt.Sprintf("306D81%04X9%X%sE4", times, len(step)/2, step))
}

func TestListsAreReadWhateverTheirLength(t *testing.T) {
	const length = 3000
	// ZERO SWAP PAIR: an element and the list so far
	result, err := tvm.Run(t.Context(), hostileInput(t, repeated(t, length, "70016F02"), 1_000_000))
	if err != nil || !result.OK() || len(result.Stack) != 1 {
		t.Fatalf("exit code %d, stack of %d, %v, want one list", result.ExitCode, len(result.Stack), err)
	}
	elements := 0
	for rest := result.Stack[0]; rest != nil; elements++ {
		pair, ok := rest.(tvm.Tuple)
		if n, number := pair[0].(*big.Int); !ok || len(pair) != 2 || !number || n.Sign() != 0 {
			t.Fatalf("element %d is %v, want a pair of 0 and the rest", elements, rest)
		}
		rest = pair[1]
	}
	if elements != length {
		t.Errorf("%d elements, want %d", elements, length)
	}
}

func TestNestingIsReadAsDeepAsInTheNode(t *testing.T) {
	for depth, want := range map[int]error{1024: nil, 1025: tvm.ErrStackTooDeep} {
		// SINGLE: a tuple of one around what is there
		if _, err := tvm.Run(t.Context(), hostileInput(t, repeated(t, depth, "6F01"), 1_000_000)); !errors.Is(err, want) {
			t.Errorf("%d tuples, each in the next: %v, want %v", depth, err, want)
		}
	}
}

func TestContinuationsAreNamedButNotSerialized(t *testing.T) {
	result, err := tvm.Run(t.Context(), hostileInput(t, assembly(t, "309120"), 1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := result.Stack[0].(tvm.Continuation); !ok || result.StackCell() != nil {
		t.Errorf("stack %v, cell %v, want a continuation without a cell", result.Stack, result.StackCell())
	}
}

func TestAnAccountWithoutCodeHasNoMethods(t *testing.T) {
	in := hostileInput(t, nil, 0)
	in.Account = cell.BeginCell().MustStoreBoolBit(false).EndCell()
	result, err := tvm.Run(t.Context(), in)
	if err != nil || result.ExitCode != tvm.ExitNotActive {
		t.Errorf("exit code %d, %v, want %d", result.ExitCode, err, tvm.ExitNotActive)
	}
}

func TestBadStacksAreRefused(t *testing.T) {
	for name, c := range map[string]*cell.Cell{
		"empty cell":      cell.BeginCell().EndCell(),
		"depth too large": cell.BeginCell().MustStoreUInt(1<<24-1, 24).EndCell(),
		"no value":        cell.BeginCell().MustStoreUInt(1, 24).EndCell(),
		"unknown tag":     cell.BeginCell().MustStoreUInt(1, 24).MustStoreRef(cell.BeginCell().EndCell()).MustStoreUInt(0x99, 8).EndCell(),
		"long tuple":      cell.BeginCell().MustStoreUInt(1, 24).MustStoreRef(cell.BeginCell().EndCell()).MustStoreUInt(0x07ffff, 24).EndCell(),
	} {
		if stack, err := tvm.DecodeStack(c); err == nil {
			t.Errorf("%s: read as %v", name, stack)
		}
	}
}
