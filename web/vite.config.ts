import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/dashboard/',
  plugins: [vue()],
  build: {
    outDir: 'site/built',
    emptyOutDir: true,
    // Browsers that know light-dark(), which the colours are written with.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0, // the page's policy refuses data: addresses
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } }, // which speaks up when the machine is busy
  },
  // `npm run dev` beside a running tonscribe.
  server: { proxy: { '/api': 'http://127.0.0.1:8081' } },
})
