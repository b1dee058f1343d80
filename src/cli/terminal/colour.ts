import type { Io } from './io.ts'

/** Select Graphic Rendition parameters (ECMA-48, 8.3.117) that switch a style on and off. */
const styles = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

export type TextStyle = keyof typeof styles

interface Painter {
  readonly io: Io
  globals(): { readonly color: 'auto' | 'always' | 'never'; readonly plain?: boolean }
}

/** Styles a text, unless colours are off on that stream. */
export function coloured(cli: Painter, stream: 'stdout' | 'stderr', style: TextStyle, text: string): string {
  if (text === '' || !wantsColour(cli.io, cli.globals().color, stream)) return text
  const [on, off] = styles[style]
  return `\x1b[${on}m${text}\x1b[${off}m`
}

/** Precedence: --color, NO_COLOR (no-color.org), FORCE_COLOR, then whether the stream is a terminal. */
function wantsColour(io: Io, option: 'auto' | 'always' | 'never', stream: 'stdout' | 'stderr'): boolean {
  if (option !== 'auto') return option === 'always'
  const { NO_COLOR, FORCE_COLOR, TERM } = io.environment
  if (NO_COLOR) return false
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return TERM !== 'dumb' && (stream === 'stdout' ? io.stdoutIsTerminal : io.stderrIsTerminal)
}

/** Whether answers are rendered: on a terminal that draws lines anew, in colour, and without --plain. */
export function rendersMarkdown(cli: Painter): boolean {
  const { plain, color } = cli.globals()
  const { stdoutIsTerminal, environment } = cli.io
  return stdoutIsTerminal && !plain && environment['TERM'] !== 'dumb' && wantsColour(cli.io, color, 'stdout')
}

const styleCodes = new RegExp(`(\\x1b\\[(?:${Object.values(styles).flat().join('|')})m)`)

/** Changes a text, but not the style codes in it. */
export function keepStyles(text: string, change: (text: string) => string): string {
  return text
    .split(styleCodes)
    .map((piece, at) => (at % 2 === 1 ? piece : change(piece)))
    .join('')
}
