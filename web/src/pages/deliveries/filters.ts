/** What deliveries are searched by, as the API names it. */
export const filterNames = ['state', 'reference', 'txHash', 'traceId', 'event', 'bodyHash', 'code', 'class', 'from', 'to', 'test'] as const

export type FilterName = (typeof filterNames)[number]

/** Those that are an id, of which a search has one. */
export const idNames = { reference: 'Reference', txHash: 'Transaction', traceId: 'Trace', event: 'Event', bodyHash: 'Body hash' } as const

export type IDName = keyof typeof idNames

export const classes = ['dns', 'connect', 'tls', 'timeout', 'network', 'status', 'blocked']
