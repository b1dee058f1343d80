import type { Highlighter } from './code.ts'
import type { Definitions } from './parse.ts'
import type { Ruler } from './styled.ts'

/** The measures, definitions and highlighter for painting blocks. */
export interface Painting {
  readonly width: number
  /**
   * The columns of a line of code: those of the window while it is drawn again and again, and no bound once it is final. The
   * terminal then breaks it, and what is copied from there is what the model wrote.
   */
  readonly codeWidth: number
  readonly ruler: Ruler
  readonly known: Definitions
  readonly highlighter: Highlighter | undefined
}
