import { onUnmounted, ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { announce } from './announce'
import { failureOf, type Failure } from './api'

export interface Load<T> {
  value: ShallowRef<T | undefined>
  failure: ShallowRef<Failure | undefined>
  loading: Ref<boolean>
  load: () => Promise<void>
}

/** useLoad asks for something again and again; the answer to the newest request counts. */
export function useLoad<T>(ask: (signal: AbortSignal) => Promise<T>): Load<T> {
  const value = shallowRef<T>()
  const failure = shallowRef<Failure>()
  const loading = ref(false)
  let newest: AbortController | undefined
  async function load(): Promise<void> {
    newest?.abort()
    const mine = (newest = new AbortController())
    loading.value = true
    try {
      const answer = await ask(mine.signal)
      if (mine !== newest) return
      value.value = answer
      failure.value = undefined
    } catch (e) {
      if (mine === newest) failure.value = failureOf(e)
    } finally {
      if (mine === newest) loading.value = false
    }
  }
  onUnmounted(() => {
    newest?.abort()
    newest = undefined
  })
  return { value, failure, loading, load }
}

export interface Action {
  busy: Ref<boolean>
  failure: ShallowRef<Failure | undefined>
  run: (work: () => Promise<void>) => Promise<void>
}

/** useAction is what a button starts: not twice at a time, and its failure is shown. What was
 * said of the one before is not said of this one. */
export function useAction(): Action {
  const busy = ref(false)
  const failure = shallowRef<Failure>()
  async function run(work: () => Promise<void>): Promise<void> {
    if (busy.value) return
    busy.value = true
    failure.value = undefined
    announce('')
    try {
      await work()
    } catch (e) {
      failure.value = failureOf(e)
    } finally {
      busy.value = false
    }
  }
  return { busy, failure, run }
}

/** useEvery loads again and again while the page is looked at and something is wanted; a
 * request that takes longer is waited for. */
export function useEvery(ms: number, of: { loading: Ref<boolean> }, load: () => Promise<void>, wanted = () => true): void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible' && !of.loading.value && wanted()) void load()
  }, ms)
  onUnmounted(() => clearInterval(timer))
}
