/** What deliveries are searched by, as the API names it. */
export const filterNames = ['state', 'reference', 'txHash', 'traceId', 'event', 'bodyHash', 'code', 'class', 'from', 'to', 'test'] as const

export type FilterName = (typeof filterNames)[number]

/** Those that are an id, of which a search has one. */
export const idNames = { reference: 'Reference', txHash: 'Transaction', traceId: 'Trace', event: 'Event', bodyHash: 'Body hash' } as const

export type IDName = keyof typeof idNames

/** The classes of failures, for a list to choose from. */
export const classes = ['status', 'timeout', 'address', 'dns', 'refused', 'reset', 'tls', 'tls_expired', 'tls_name', 'tls_issuer', 'tls_certificate', 'headers', 'protocol', 'network', 'interrupted']
