const two = (n: number) => String(n).padStart(2, '0')

/** utc writes a time as 2024-01-15 14:30:00 UTC, with milliseconds when they are wanted. */
export function utc(iso: string, fine = false): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  return `${at.toISOString().replace('T', ' ').slice(0, fine ? 23 : 19)} UTC`
}

/** local is utc by the reader's clock. */
export function local(iso: string, fine = false): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const offset = -at.getTimezoneOffset()
  const zone = `UTC${offset < 0 ? '−' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
  return `${day} ${clock}${fine ? `.${String(at.getMilliseconds()).padStart(3, '0')}` : ''} ${zone}`
}

/** isoOf reads what a datetime-local field has, as UTC. */
export function isoOf(field: string): string {
  if (!field) return ''
  const at = new Date(`${field}Z`)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

/** fieldOf is the reverse of isoOf. */
export function fieldOf(iso: string): string {
  const at = new Date(iso)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 19)
}

/** sentence begins what the API says as a sentence does. */
export function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')
}

export function short(text: string, front = 8, back = 6): string {
  return text.length <= front + back + 1 ? text : `${text.slice(0, front)}…${text.slice(-back)}`
}

export function milliseconds(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  return ms < 10 && !Number.isInteger(ms) ? `${ms.toFixed(1)} ms` : `${Math.round(ms).toLocaleString('en')} ms`
}

export function seconds(s: number | null | undefined): string {
  if (s === null || s === undefined) return '–'
  if (s < 120) return `${Math.round(s)} s`
  if (s < 7200) return `${Math.round(s / 60)} min`
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`
}

/** indented lays JSON out in lines and leaves every literal as it is written: parsing would
 * change numbers. Text that is no JSON comes back unchanged. */
export function indented(json: string): string {
  try {
    JSON.parse(json)
  } catch {
    return json
  }
  let depth = 0
  let out = ''
  let opened = false // a bracket that nothing stands in yet
  const line = () => `\n${'  '.repeat(depth)}`
  for (const token of json.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g) ?? []) {
    const closes = token === '}' || token === ']'
    if (closes) depth--
    if (opened !== closes) out += line() // but not within {}
    opened = token === '{' || token === '['
    if (opened) depth++
    out += token
    if (token === ':') out += ' '
    if (token === ',') out += line()
  }
  return out
}
