import { nextTick, watch } from 'vue'
import { createRouter, createWebHistory } from 'vue-router'
import Audit from './pages/Audit.vue'
import Deliveries from './pages/Deliveries.vue'
import Delivery from './pages/Delivery.vue'
import Keys from './pages/Keys.vue'
import Missing from './pages/Missing.vue'
import SignIn from './pages/SignIn.vue'
import Transfers from './pages/Transfers.vue'
import Verify from './pages/Verify.vue'
import Webhooks from './pages/Webhooks.vue'
import { restored, session, unknown } from './session'

declare module 'vue-router' {
  interface RouteMeta {
    title: string
    open?: true // to whoever is not signed in
  }
}

export const router = createRouter({
  history: createWebHistory('/dashboard/'),
  routes: [
    { path: '/', redirect: '/webhooks' },
    { path: '/sign-in', component: SignIn, meta: { title: 'Sign in', open: true } },
    { path: '/webhooks', component: Webhooks, meta: { title: 'Webhooks' } },
    { path: '/deliveries', component: Deliveries, meta: { title: 'Deliveries' } },
    { path: '/deliveries/:event', component: Delivery, meta: { title: 'Delivery' } },
    { path: '/keys', component: Keys, meta: { title: 'API keys' } },
    { path: '/transfers', component: Transfers, meta: { title: 'Transfers' } },
    { path: '/verify', component: Verify, meta: { title: 'Verify' } },
    { path: '/audit', component: Audit, meta: { title: 'Audit' } },
    { path: '/:all(.*)', component: Missing, meta: { title: 'No such page', open: true } },
  ],
  scrollBehavior: (_to, _from, saved) => saved ?? { top: 0 },
})

let asked = false

router.beforeEach(async (to) => {
  // Where that is not known the sign-in page says why, and asks again.
  if (!asked && !(unknown.value && to.meta.open)) asked = await restored()
  if (!session.value && !to.meta.open) return { path: '/sign-in', query: { next: to.fullPath } }
  if (session.value && to.path === '/sign-in') return '/'
  return true
})

// Readers of the screen hear where they are; a page that only changed its filters keeps
// the focus.
router.afterEach((to, from) => {
  document.title = `${to.meta.title} · tonscribe payments`
  if (from.matched.length > 0 && to.path !== from.path) void nextTick(() => document.getElementById('main')?.focus())
})

watch(session, (now) => {
  const at = router.currentRoute.value
  if (!now && !at.meta.open) void router.push({ path: '/sign-in', query: { next: at.fullPath } })
})
