export interface Described {
  text: string
  tone: 'good' | 'bad' | 'wait' | 'warn' | 'none'
}

/** The states of deliveries. */
export const deliveryStates: Record<string, Described> = {
  pending: { text: 'waiting', tone: 'wait' },
  in_flight: { text: 'sending', tone: 'wait' },
  delivered: { text: 'delivered', tone: 'good' },
  exhausted: { text: 'not delivered', tone: 'bad' },
  ignored: { text: 'ignored', tone: 'warn' },
  cancelled: { text: 'cancelled', tone: 'none' },
}

/** The states of transfers. */
export const transferStates: Record<string, Described> = {
  pending: { text: 'pending', tone: 'wait' },
  success: { text: 'success', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
  duplicate: { text: 'paid twice', tone: 'warn' },
}
