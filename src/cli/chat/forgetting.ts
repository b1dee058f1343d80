import { counted } from '../../formats/formats.ts'
import { removeMemory } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { askTerminal, canAsk } from '../terminal/prompts.ts'
import type { Recall } from './conversation/recall.ts'

/** Asks at a terminal whether the memories that a wish to forget means may go; they were named with the answer. */
export async function offerForgetting(cli: Cli, { persona, forget }: Recall): Promise<void> {
  if (forget.length === 0 || !(await canAsk(cli))) return
  const message = `Forget ${counted(forget.length, 'memory', 'memories')} for good?`
  if (!cli.globals().yes && !(await askTerminal<boolean>(cli, { type: 'confirm', message, default: false }))) return
  for (const memory_id of forget) await cli.ask(removeMemory, { id: persona, memory_id })
  note(cli, `aichat: ${counted(forget.length, 'memory', 'memories')} forgotten`)
}
