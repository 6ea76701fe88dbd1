import { computed, ref, watch } from 'vue'

export type Theme = 'system' | 'light' | 'dark'

const themeKey = 'tonscribe.theme'
const zoneKey = 'tonscribe.zone'

const stored = localStorage.getItem(themeKey)
export const theme = ref<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

/** Whether times are shown as the reader's clock has them, rather than in UTC. */
export const localTimes = ref(localStorage.getItem(zoneKey) === 'local')

/** What the times of a table are in. */
export const zone = computed(() => (localTimes.value ? 'local' : 'UTC'))

watch(
  theme,
  (t) => {
    if (t === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = t
    localStorage.setItem(themeKey, t)
  },
  { immediate: true },
)
watch(localTimes, (local) => localStorage.setItem(zoneKey, local ? 'local' : 'utc'))
