import { ref } from 'vue'

/** What was done just now, for those who see the page and those who hear it. */
export const announcement = ref('')

let timer: ReturnType<typeof setTimeout> | undefined

const shownMS = 5000

export function announce(text: string): void {
  clearTimeout(timer)
  announcement.value = text
  timer = setTimeout(() => {
    announcement.value = ''
  }, shownMS)
}
