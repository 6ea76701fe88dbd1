/** The replay that was begun last in this tab, so that it is shown after a reload too. */
const key = 'tonscribe.replay'

export const replayID = (): string | null => sessionStorage.getItem(key)

export function keepReplay(id: string | undefined): void {
  if (id) sessionStorage.setItem(key, id)
  else sessionStorage.removeItem(key)
}
