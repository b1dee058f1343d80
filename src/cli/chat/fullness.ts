import { AppError } from '../../errors.ts'
import { compactSession, showModel } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import type { Answer } from './answer.ts'
import { compactionText } from './saved/transcript.ts'

/** The share of the window from which a conversation counts as nearly full. */
const nearlyFull = 0.8

/**
 * Compares the tokens of the last request and its answer with the model's window, and says where they fill four fifths of it.
 * True where the conversation is to be summarised then, as `chat.compact=auto` wishes; `ask` names the command that does so.
 * Nothing is said where either number is unknown.
 */
export async function isToBeSummarised(cli: Cli, { by, size }: Answer, command: string): Promise<boolean> {
  const { compact: rule } = await cli.settings()
  if (rule === 'off' || by === undefined || size === undefined) return false
  const asked = cli.ask(showModel, { model: by.replace(/^\w+: /, 'local:') })
  const window = await asked.then(
    (shown) => shown.context_window,
    () => undefined,
  )
  if (window === undefined || size < window * nearlyFull) return false
  const advice = rule === 'ask' ? `; ${command} has it summarised` : ''
  note(cli, `aichat: the conversation fills ${Math.round((100 * size) / window)}% of the window of ${by}${advice}`)
  return rule === 'auto'
}

/** Says that a saved conversation is nearly full, and has it summarised where the settings wish so. */
export async function watchFullness(cli: Cli, session: string, answer: Answer): Promise<void> {
  if (!(await isToBeSummarised(cli, answer, `aichat session compact ${session}`))) return
  try {
    note(cli, compactionText(await cli.ask(compactSession, { id: session })))
  } catch (reason) {
    // The answer is there: the conversation goes on as it is.
    if (!(reason instanceof AppError)) throw reason
    note(cli, `aichat: not summarised: ${reason.message}`)
  }
}
