"""Follows a devnet with tonlib, the official C++ client, which trusts nothing but
the config's first block: argument 1 is the task of clients_test.go."""
import base64
import ctypes
import json
import platform
import sys
import time
from importlib import metadata

task = json.load(open(sys.argv[1]))
WHOLE = str(-(1 << 63))

# Only the library is wanted, not the package around it.
LIBRARY = f'pytonlib/distlib/linux/libtonlibjson.{platform.machine()}.so'
tonlib = ctypes.CDLL(str(metadata.distribution('pytonlib').locate_file(LIBRARY)))
tonlib.tonlib_client_set_verbosity_level(0)
tonlib.tonlib_client_json_create.restype = ctypes.c_void_p
tonlib.tonlib_client_json_send.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
tonlib.tonlib_client_json_receive.argtypes = [ctypes.c_void_p, ctypes.c_double]
tonlib.tonlib_client_json_receive.restype = ctypes.c_char_p
client = tonlib.tonlib_client_json_create()


class Failed(Exception):
    pass


def ask(kind, **fields):
    tonlib.tonlib_client_json_send(client, json.dumps({'@type': kind, '@extra': kind, **fields}).encode())
    end = time.monotonic() + 60
    while time.monotonic() < end:
        text = tonlib.tonlib_client_json_receive(client, 1.0)
        answer = json.loads(text) if text else {}
        if answer.get('@extra') == kind:
            if answer['@type'] == 'error':
                raise Failed(f'{kind}: {answer["message"]}')
            return answer
    raise Failed(f'{kind}: no answer')


def start(config):
    ask('init', options={
        '@type': 'options',
        'config': {'@type': 'config', 'config': json.dumps(config), 'use_callbacks_for_network': False,
                   'blockchain_name': '', 'ignore_cache': True},
        'keystore_type': {'@type': 'keyStoreTypeInMemory'},
    })


start(task['config'])
head = ask('sync')  # proven from the config's block to the newest one, or an error
assert head['@type'] == 'ton.blockIdExt' and head['seqno'] >= task['mc_seqno'], head

block = ask('blocks.lookupBlock', mode=1, lt=0, utime=0,
            id={'workchain': -1, 'shard': WHOLE, 'seqno': task['mc_seqno']})
assert block['seqno'] == task['mc_seqno'], block

signed = ask('blocks.getMasterchainBlockSignatures', seqno=task['mc_seqno'])
assert signed['@type'] == task['signatures']['@type'], signed
for key in ('session_id', 'slot', 'candidate'):
    assert signed.get(key) == task['signatures'].get(key), (key, signed)
mine = [s['signature'] for s in signed['signatures']]
assert mine == task['signatures']['signatures'], signed

account = ask('withBlock', id=block, function={
    '@type': 'raw.getAccountState', 'account_address': {'account_address': task['wallet']}})
assert account['balance'] == task['balance'], account
assert base64.b64decode(account['last_transaction_id']['hash']).hex() == task['last_hash'], account

reached = head['seqno']
while reached < task['mc_seqno'] + 20:
    now = ask('sync')['seqno']
    assert now >= reached, (now, reached)
    if now == reached:
        time.sleep(0.05)
    reached = now
print(f'tonlib: {task["mc_seqno"]} blocks proven, followed to {reached}, signed by {signed["@type"]}')
