// What the merchant's API answers. Amounts are decimal text and stay it; times are ISO 8601
// in UTC; ids are lower-case hex.

export interface Session {
  merchant: { id: string; name: string }
  csrf: string
}

export type Signing = 'secret' | 'key'

// keyId is what attempts name that the secret has signed
export interface Masked {
  masked: string // empty until a URL is set
  keyId?: string
}

export interface Endpoint {
  url: string // empty until one is set
  enabled: boolean
  disabledReason?: string
  signing: Signing
  header: string
  keyId?: string // of the API key that signs
  secret: Masked & {
    next?: Masked & { switchAt: string }
    old?: Masked & { undoUntil: string }
  }
}

export interface Secrets {
  secret: string
  next?: string
  old?: string
}

export interface Health {
  state: 'ok' | 'failing' | 'disabled' | 'unset'
  successRate?: number | null // 0 to 1, none without attempts
  p50Ms?: number | null
  p95Ms?: number | null
  p99Ms?: number | null
  queued: number
  oldestUndeliveredSeconds?: number | null
  disabledReason?: string
  lastSuccess?: string | null
}

export type DeliveryState = 'pending' | 'in_flight' | 'delivered' | 'exhausted' | 'ignored' | 'cancelled'

export interface Delivery {
  event: string
  reference: string
  status: 'success' | 'failed'
  txHash: string
  traceId: string
  bodyBase64Hash: string
  state: DeliveryState
  reason?: string
  attempts: number
  lastCode?: number | null
  lastClass?: string
  happened: string
  due?: string | null
  test: boolean
}

export interface Deliveries {
  deliveries: Delivery[]
  nextCursor?: string | null
}

export type Headers = Record<string, string | string[]>

export interface Attempt {
  number: number
  kind: 'auto' | 'manual' | 'test' | 'interrupted'
  began: string
  ended?: string | null
  dnsMs?: number | null
  connectMs?: number | null
  tlsMs?: number | null
  firstByteMs?: number | null
  totalMs?: number | null
  remote?: string
  code?: number | null
  class?: string
  text?: string
  requestHeaders?: Headers | null
  requestBody?: string
  responseHeaders?: Headers | null
  responseBody?: string
  keyId?: string
}

export interface DeliveryDetail {
  delivery: Delivery
  body: string
  attempts: Attempt[]
}

export interface Replay {
  id: string
  state: 'running' | 'done' | 'failed' | 'cancelled'
  count: number
  sent: number
  delivered: number
}

export interface Key {
  id: string
  prefix: string
  name: string
  scopes: string[]
  created: string
  lastUsed?: string | null
  revoked?: string | null
}

export interface Transfer {
  reference: string
  state: 'pending' | 'success' | 'failed' | 'duplicate'
  asset: string
  ticker: string
  amount: string
  rawAmount: string
  senderAddr: string
  recipientAddr: string
  bodyBase64Hash: string
  txHash?: string
  traceId?: string
  created: string
}

export interface Transfers {
  transfers: Transfer[]
  nextCursor?: string | null
}

export interface Verdict {
  valid: boolean
  mistake?: string
}

export interface AuditEntry {
  at: string
  what: string
  who: string
  detail: string
}

export interface Audit {
  audit: AuditEntry[]
  nextCursor?: string | null
}
