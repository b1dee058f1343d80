import type { Io } from './io.ts'

/** Select Graphic Rendition parameters (ECMA-48, 8.3.117) that switch a look on and off. */
const looks = { bold: [1, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

export type TextStyle = keyof typeof looks

/** Where a text is written, and whether colours are wanted there: what a look needs to know of the command line. */
interface Painter {
  readonly io: Io
  globals(): { readonly color: 'auto' | 'always' | 'never' }
}

/** The text in a look, or as it is where colours are not wanted on that stream. */
export function coloured(cli: Painter, stream: 'stdout' | 'stderr', look: TextStyle, text: string): string {
  if (text === '' || !wantsColour(cli.io, cli.globals().color, stream)) return text
  const [on, off] = looks[look]
  return `\x1b[${on}m${text}\x1b[${off}m`
}

/** The flag goes before NO_COLOR (no-color.org), that before FORCE_COLOR, and that before whether it is a terminal. */
function wantsColour(io: Io, flag: 'auto' | 'always' | 'never', stream: 'stdout' | 'stderr'): boolean {
  if (flag !== 'auto') return flag === 'always'
  const { NO_COLOR, FORCE_COLOR, TERM } = io.environment
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return TERM !== 'dumb' && (stream === 'stdout' ? io.stdoutIsTerminal : io.stderrIsTerminal)
}

const ours = new RegExp(`(\\x1b\\[(?:${Object.values(looks).flat().join('|')})m)`)

/** Changes a text, but not the looks in it. */
export function keepStyles(text: string, change: (text: string) => string): string {
  return text
    .split(ours)
    .map((piece, at) => (at % 2 === 1 ? piece : change(piece)))
    .join('')
}
