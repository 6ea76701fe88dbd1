"""Reads blocks, and lone transactions, with pytoniq-core.

A line of standard input is `path` or `path TAB offset TAB length`: a BoC in a
file. Each gives one line of JSON in the form of form_test.go, or {"error"}. With
the argument --whole pytoniq-core also reads what is in no record: value flow,
state update, envelopes, shards and configuration.

All fields come from pytoniq-core's objects. They keep no cells of messages, so
the hashes of messages are taken from the cells of the transaction.
"""

import json
import sys
import traceback

from pytoniq_core import Address, Block, BlockInfo, Cell, CurrencyCollection, ExternalAddress, Transaction, begin_cell
from pytoniq_core.tlb.account import AccountBlock
from pytoniq_core.tlb.transaction import ImportFees

BLOCK = '11ef55aa'

# Constructors of InMsg and OutMsg whose transaction, the second reference, took
# or made the message in this block.
IMPORTED = ('000', '010', '011', '100', '00100')  # ext, ihr, imm, fin, deferred_fin
CREATED = ('000', '010', '001', '10100')  # ext, imm, new, new_defer

STATUS = {'uninitialized': 'uninit'}
TYPE = {'ordinary': 'ord'}
BOUNCE = {'negfunds': 'neg_funds', 'nofunds': 'no_funds'}


def read(boc, whole):
    root = Cell.one_from_boc(boc)
    if root.bits[:32].tobytes().hex() == BLOCK:
        return block(root, whole)
    t = Transaction.deserialize(root.begin_parse())
    return {'root_hash': root.hash.hex(), 'transactions': [transaction(t, 0)]}


def block(root, whole):
    info = BlockInfo.deserialize(root.refs[0].begin_parse())
    extra = root.refs[3].begin_parse()
    extra.load_uint(32)
    parts = [extra.load_ref().begin_parse() for _ in range(3)]
    if whole:
        b = Block.deserialize(root.begin_parse())
        imported, created = [{h: m.transaction and m.transaction.cell for h, m in part[0].items()}
                             for part in (b.extra.in_msg_descr, b.extra.out_msg_descr)]
        accounts = b.extra.account_blocks[0]
    else:
        imported = parts[0].load_hashmap_aug_e(256, lambda s: second(s, IMPORTED), ImportFees.deserialize)[0]
        created = parts[1].load_hashmap_aug_e(256, lambda s: second(s, CREATED), CurrencyCollection.deserialize)[0]
        accounts = parts[2].load_hashmap_aug_e(256, AccountBlock.deserialize, CurrencyCollection.deserialize)[0]
    return {
        'root_hash': root.hash.hex(),
        'header': {
            **header(root, info),
            'rand_seed': extra.load_bytes(32).hex(),
            'created_by': extra.load_bytes(32).hex(),
        },
        'transactions': list(transactions(accounts, info.shard.workchain_id)),
        'imported': hashes(imported),
        'created': hashes(created),
    }


def second(s, constructors):
    """The transaction of an InMsg or OutMsg of one of the constructors."""
    tag = s.preload_bits(5).to01()
    return s.preload_ref(1) if tag.startswith(constructors) else None


def hashes(cells):
    return {f'{h:064x}': c.hash.hex() for h, c in cells.items() if c is not None}


def header(root, i):
    prev = [i.prev_ref.prev1, i.prev_ref.prev2] if i.after_merge else [i.prev_ref.prev]
    return {
        'global_id': root.begin_parse().skip_bits(32).load_int(32),
        'workchain': i.shard.workchain_id,
        'shard': f'{i.shard.calculate_shard():016x}',
        'seqno': i.seqno,
        'version': i.version,
        'after_merge': bool(i.after_merge),
        'before_split': bool(i.before_split),
        'after_split': bool(i.after_split),
        'want_merge': i.want_merge,
        'want_split': i.want_split,
        'key_block': i.key_block,
        'vert_seqno_incr': bool(i.vert_seqno_incr),
        'flags': i.flags,
        'gen_utime': i.gen_utime,
        'start_lt': i.start_lt,
        'end_lt': i.end_lt,
        'validator_list_hash_short': i.gen_validator_list_hash_short,
        'gen_catchain_seqno': i.gen_catchain_seqno,
        'min_ref_mc_seqno': i.min_ref_mc_seqno,
        'prev_key_block_seqno': i.prev_key_block_seqno,
        'vert_seqno': i.vert_seqno,
        'gen_software_version': i.gen_software.version if i.gen_software else 0,
        'gen_software_capabilities': i.gen_software.capabilities if i.gen_software else 0,
        'master_ref_seqno': i.master_ref.master.seqno if i.master_ref else 0,
        'prev_blocks': [{'seqno': p.seqno, 'root_hash': p.root_hash.hex(), 'file_hash': p.file_hash.hex()} for p in prev],
    }


def transactions(accounts, workchain):
    for account, b in accounts.items():
        for lt, t in b.transactions[0].items():
            if (account, lt) != (int(t.account_addr_hex, 16), t.lt) or account != int(b.account_addr, 16):
                raise ValueError(f'account {account:x} lt {lt}: holds account {t.account_addr_hex} lt {t.lt}')
            yield transaction(t, workchain)


def transaction(t, workchain):
    cells = t.cell.refs[0].begin_parse()
    in_msg = message(t.in_msg, cells.load_ref()) if cells.load_bit() else None
    out_cells = cells.load_dict(15, value_deserializer=lambda s: s.load_ref()) or {}
    if len(out_cells) != len(t.out_msgs) or t.outmsg_cnt != len(t.out_msgs):
        raise ValueError(f'{len(out_cells)} cells, {len(t.out_msgs)} out messages, outmsg_cnt {t.outmsg_cnt}')
    return {
        'account': f'{workchain}:{t.account_addr_hex}',
        'lt': t.lt,
        'hash': t.cell.hash.hex(),
        'prev_trans_hash': t.prev_trans_hash.hex(),
        'prev_trans_lt': t.prev_trans_lt,
        'now': t.now,
        'orig_status': STATUS.get(t.orig_status.type_, t.orig_status.type_),
        'end_status': STATUS.get(t.end_status.type_, t.end_status.type_),
        'total_fees': currencies(t.total_fees),
        'state_hash_before': t.state_update.old_hash.hex(),
        'state_hash_after': t.state_update.new_hash.hex(),
        'in_msg': in_msg,
        'out_msgs': [message(m, out_cells[i]) for m, i in zip(t.out_msgs, sorted(out_cells))],
        **description(t.description),
    }


def description(d):
    return {
        'type': TYPE.get(d.type_, d.type_),
        'aborted': getattr(d, 'aborted', False),
        'destroyed': getattr(d, 'destroyed', False),
        'credit_first': getattr(d, 'credit_first', False),
        'is_tock': getattr(d, 'is_tock', False),
        'storage': phase(d, 'storage_ph', storage),
        'credit': phase(d, 'credit_ph', credit),
        'compute': phase(d, 'compute_ph', compute),
        'action': phase(d, 'action', action),
        'bounce': phase(d, 'bounce', bounce),
    }


def phase(d, name, form):
    p = getattr(d, name, None)
    return form(p) if p is not None else None


def storage(p):
    return {
        'fees_collected': p.storage_fees_collected,
        'fees_due': p.storage_fees_due,
        'status_change': p.status_change.type_,
    }


def credit(p):
    return {'due_fees_collected': p.due_fees_collected, 'credit': currencies(p.credit)}


def compute(p):
    if p.type_ == 'skipped':
        return {'skip_reason': p.reason.type_}
    return {
        'success': p.success,
        'msg_state_used': p.msg_state_used,
        'account_activated': p.account_activated,
        'gas_fees': p.gas_fees,
        'gas_used': p.gas_used,
        'gas_limit': p.gas_limit,
        'gas_credit': p.gas_credit,
        'mode': p.mode,
        'exit_code': p.exit_code,
        'exit_arg': p.exit_arg,
        'vm_steps': p.vm_steps,
        'vm_init_state_hash': p.vm_init_state_hash.hex(),
        'vm_final_state_hash': p.vm_final_state_hash.hex(),
    }


def action(p):
    return {
        'success': p.success,
        'valid': p.valid,
        'no_funds': p.no_funds,
        'status_change': p.status_change.type_,
        'total_fwd_fees': p.total_fwd_fees,
        'total_action_fees': p.total_action_fees,
        'result_code': p.result_code,
        'result_arg': p.result_arg,
        'tot_actions': p.tot_actions,
        'spec_actions': p.spec_actions,
        'skipped_actions': p.skipped_actions,
        'msgs_created': p.msgs_created,
        'action_list_hash': p.action_list_hash.hex(),
        'tot_msg_cells': p.tot_msg_size.cells,
        'tot_msg_bits': p.tot_msg_size.bits,
    }


def bounce(p):
    form = {'kind': BOUNCE.get(p.type_, p.type_)}
    if p.type_ != 'negfunds':
        form.update(msg_cells=p.msg_size.cells, msg_bits=p.msg_size.bits)
    if p.type_ == 'nofunds':
        form.update(req_fwd_fees=p.req_fwd_fees)
    if p.type_ == 'ok':
        form.update(msg_fees=p.msg_fees, fwd_fees=p.fwd_fees)
    return form


def message(m, cell):
    i = m.info
    form = {
        'hash': cell.hash.hex(),
        'source': address(i.src),
        'destination': address(i.dest),
        'opcode': int(m.body.bits[:32].to01(), 2) if len(m.body.bits) >= 32 else None,
        'body_hash': m.body.hash.hex(),
        'init_state_hash': m.init.serialize().hash.hex() if m.init else '',
    }
    if m.is_external:
        form.update(kind='external_in', import_fee=i.import_fee, hash_norm=normalized(m))
        return form
    form.update(kind='external_out', created_lt=i.created_lt, created_at=i.created_at)
    if m.is_internal:
        form.update(kind='internal', ihr_disabled=i.ihr_disabled, bounce=i.bounce, bounced=i.bounced,
                    value=currencies(i.value), fwd_fee=i.fwd_fee, ihr_fee=i.ihr_fee)
    return form


def normalized(m):
    """hash_norm: nothing but the destination and, in a reference, the body."""
    return begin_cell().store_bits('1000').store_address(m.info.dest).store_coins(0) \
        .store_bits('01').store_ref(m.body).end_cell().hash.hex()


def currencies(c):
    return {'grams': c.grams, 'extra': {str(k): str(v) for k, v in (c.other.dict or {}).items()}}


def address(a):
    if isinstance(a, ExternalAddress):
        number = a.external_address or 0
        return f'external:{a.len}:' + (number << -a.len % 8).to_bytes((a.len + 7) // 8, 'big').hex()
    if not isinstance(a, Address):
        return ''
    account = int.from_bytes(a.hash_part, 'big')
    if a.anycast is not None:  # replaces the first bits
        rest = 256 - a.anycast.depth
        account = a.anycast.rewrite_pfx << rest | account & ((1 << rest) - 1)
    return f'{a.wc}:{account:064x}'


def main():
    whole = '--whole' in sys.argv[1:]
    for line in sys.stdin:
        path, *part = line.rstrip('\n').split('\t')
        try:
            with open(path, 'rb') as file:
                if part:
                    file.seek(int(part[0]))
                result = read(file.read(int(part[1]) if part else -1), whole)
        except Exception:  # whatever pytoniq-core raises is the answer
            result = {'error': traceback.format_exc()}
        print(json.dumps(result), flush=True)


main()
