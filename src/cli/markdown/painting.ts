import type { Highlighter } from './code.ts'
import type { Definitions } from './parse.ts'
import type { Ruler } from './styled.ts'

/** What blocks are painted with. */
export interface Painting {
  /** The columns of a line. */
  readonly width: number
  readonly ruler: Ruler
  readonly known: Definitions
  readonly highlighter: Highlighter | undefined
}
