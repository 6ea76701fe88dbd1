"""Reads a chain's blocks with pytoniq-core and applies their state updates.

In come lines `state PATH`, a bag of cells that begins a shard, and `block PATH`.
For each block out comes `OK root new_hash transactions`, or what is wrong: the
update's old side is not the state of one of the blocks before it, a part that it
leaves out is not in there, or what it makes has another hash.
"""

import sys

from pytoniq_core import Block, Cell, CellTypes

states = {}  # root hash → every cell of the state, by hash


def cells(root):
    found, todo = {}, [root]
    while todo:
        cell = todo.pop()
        if cell.hash not in found:
            found[cell.hash] = cell
            todo += cell.refs
    return found


def fill(cell, known, made):
    """The cell with everything that the update leaves out."""
    if cell.type_ == CellTypes.pruned_branch:
        # Level 1: type, mask, one hash, one depth.
        return known[cell.bits[16:16 + 256].tobytes()]
    if cell.hash in made:
        return made[cell.hash]
    refs = [fill(r, known, made) for r in cell.refs]
    made[cell.hash] = Cell(cell.bits, refs, cell.type_)
    return made[cell.hash]


def apply(update):
    bits = update.bits
    old, new = bits[8:264].tobytes(), bits[264:520].tobytes()
    before = states.get(old)
    if before is None:  # after a merge two states, below a new root
        pair = [r for r in update.refs[0].refs]
        before = {}
        for part in pair:
            before |= states[fill_hash(part)]
    elif old not in before:
        raise ValueError('the old side is another state')
    after = fill(update.refs[1], before, {})
    if after.hash != new:
        raise ValueError(f'the update makes {after.hash.hex()}, it says {new.hex()}')
    states[new] = cells(after)
    return new


def fill_hash(cell):
    return cell.bits[16:16 + 256].tobytes() if cell.type_ == CellTypes.pruned_branch else cell.get_hash(0)


def block(root):
    new = apply(root.refs[2])
    b = Block.deserialize(root.begin_parse())
    count = sum(len(a.transactions[0]) for a in b.extra.account_blocks[0].values())
    return f'OK {root.hash.hex()} {new.hex()} {count}'


def main():
    sys.setrecursionlimit(10000)
    for line in sys.stdin:
        kind, path = line.rstrip('\n').split(' ', 1)
        with open(path, 'rb') as f:
            root = Cell.one_from_boc(f.read())
        try:
            if kind == 'state':
                states[root.hash] = cells(root)
                print(f'OK {root.hash.hex()}')
            else:
                print(block(root))
        except Exception as e:
            print(f'{path}: {type(e).__name__}: {e}')


main()
