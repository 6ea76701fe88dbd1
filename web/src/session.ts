import { shallowRef } from 'vue'
import { Failure, failureOf, request } from './api'
import type { Session } from './shapes'

/** The merchant who is signed in. The cookie that proves it is out of the page's reach. */
export const session = shallowRef<Session>()

/** Whether the session ended while the page was in use. */
export const expired = shallowRef(false)

/** Why it is not known whether somebody is signed in, if it is not. */
export const unknown = shallowRef<Failure>()

export async function signIn(token: string): Promise<void> {
  session.value = await request<Session>('POST', 'session', { token })
  expired.value = false
  unknown.value = undefined
}

export async function signOut(): Promise<void> {
  await request('DELETE', 'session')
  session.value = undefined
  expired.value = false
}

/** renewed reports whether there is a session, after asking for it. */
export async function renewed(): Promise<boolean> {
  try {
    session.value = await request<Session>('GET', 'session')
  } catch (e) {
    if (!(e instanceof Failure) || (e.status !== 401 && e.status !== 403)) throw e
    session.value = undefined
  }
  return session.value !== undefined
}

/** restored asks whether there is a session from before, and reports whether that is known. */
export async function restored(): Promise<boolean> {
  try {
    await renewed()
    unknown.value = undefined
  } catch (e) {
    unknown.value = failureOf(e)
  }
  return !unknown.value
}

export function sessionEnded(): void {
  session.value = undefined
  expired.value = true
}
