import { decimal } from '../../page/format.ts'

/** The changes of an adaptation record in words; those of other programs may have any shape and are left out. */
export function changesOf(changes: unknown): readonly string[] {
  if (!Array.isArray(changes)) return []
  return changes.flatMap((change: unknown) => {
    const { path, before, after, reason } = (change ?? {}) as Readonly<Record<string, unknown>>
    if (typeof path !== 'string') return []
    const name = path.split('/').slice(2).join('/').replaceAll('~1', '/').replaceAll('~0', '~')
    const why = typeof reason === 'string' ? ` – ${reason.replaceAll('_', ' ')}` : ''
    return [`${name}: ${shown(before)} → ${shown(after)}${why}`]
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'number') return decimal(value)
  if (typeof value === 'object' && 'value' in value) return shown(value.value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
