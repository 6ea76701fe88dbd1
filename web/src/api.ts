import { renewed, session, sessionEnded } from './session'
import { sentence } from './text'

export const base = '/api/merchant/v1/'

/** An answer that is none: status 0 means that the server was not reached. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

export function failureOf(e: unknown): Failure {
  return e instanceof Failure ? e : new Failure(0, 'page', `The page made a mistake: ${String(e)}. Load it again.`)
}

const limitMS = 60_000

/** request asks the API. What changes something carries the session's token, which is asked
 * for again when another tab has signed in meanwhile. */
export async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const token = session.value?.csrf
  try {
    return await once<T>(method, path, body, signal)
  } catch (e) {
    if (e instanceof Failure && e.status === 403 && method !== 'GET' && token && (await renewed()) && session.value?.csrf !== token) {
      return once<T>(method, path, body, signal)
    }
    throw e
  }
}

async function once<T>(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = new Headers({ Accept: 'application/json' })
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  if (method !== 'GET' && session.value) headers.set('X-CSRF-Token', session.value.csrf)
  const limit = AbortSignal.timeout(limitMS)
  let response: Response
  let text: string
  try {
    response = await fetch(base + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      credentials: 'same-origin',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    text = await response.text()
  } catch {
    throw new Failure(0, 'unreachable', 'The server does not answer. Check the connection and try again.')
  }
  const answer = parsed(text)
  if (response.ok) return answer as T
  const error = (answer as { error?: { code?: string; message?: string } | string } | undefined)?.error
  const code = typeof error === 'object' ? (error.code ?? '') : ''
  const message = typeof error === 'object' ? error.message : error
  if (response.status === 401 && session.value) sessionEnded()
  throw new Failure(response.status, code, message ? sentence(message) : `The server answers with status ${response.status}.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** withQuery puts parameters behind a path; empty ones are left out. */
export function withQuery(path: string, parameters: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  const text = query.toString()
  return text ? `${path}?${text}` : path
}
