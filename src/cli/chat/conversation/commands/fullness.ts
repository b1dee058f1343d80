import { AppError } from '../../../../errors.ts'
import { showModel } from '../../../../operations/model-details.ts'
import { note } from '../../../terminal/output.ts'
import type { Talk } from '../talk.ts'
import { compactTalk } from './keeping.ts'

/** The share of the window from which a conversation counts as nearly full. */
const nearlyFull = 0.8

/**
 * After each answer compares the tokens of the request and the answer with the model's window: once they fill four fifths of
 * it, `ask` says how to go on, and `auto` has the conversation summarised. Nothing is done where either number is unknown.
 */
export function watchFullness(rule: 'ask' | 'auto' | 'off') {
  const windows = new Map<string, Promise<number | undefined>>()
  return async (
    talk: Talk,
    { by, size }: { readonly by?: string | undefined; readonly size?: number },
  ): Promise<void> => {
    if (rule === 'off' || by === undefined || size === undefined) return
    const model = by.replace(/^\w+: /, 'local:')
    const known = windows.get(model) ?? windowOf(talk, model)
    windows.set(model, known)
    const window = await known
    if (window === undefined || size < window * nearlyFull) return
    const share = Math.round((100 * size) / window)
    note(
      talk.cli,
      `aichat: the conversation fills ${share}% of the window of ${by}${rule === 'ask' ? '; /compact has it summarised' : ''}`,
    )
    if (rule === 'ask') return
    await compactTalk(talk).catch((reason: unknown) => {
      if (!(reason instanceof AppError)) throw reason
      note(talk.cli, `aichat: not summarised: ${reason.message}`)
    })
  }
}

function windowOf({ cli }: Talk, model: string): Promise<number | undefined> {
  return cli.ask(showModel, { model }).then(
    ({ context_window: window }) => window,
    () => undefined,
  )
}
