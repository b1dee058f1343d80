import type { Highlighter } from './code.ts'
import type { Definitions } from './parse.ts'
import type { Ruler } from './styled.ts'

/** The measures, definitions and highlighter for painting blocks. */
export interface Painting {
  /** The columns of a line. */
  readonly width: number
  readonly ruler: Ruler
  readonly known: Definitions
  readonly highlighter: Highlighter | undefined
}
