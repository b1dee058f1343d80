import { listPersonas } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { givenOrPicked } from '../terminal/picker.ts'

/** The persona that a command names, else the one that the user picks at a terminal, see givenOrPicked. */
export function namedPersona(cli: Cli, given: string | undefined): Promise<string> {
  return givenOrPicked(cli, 'persona', given, async () =>
    (await cli.ask(listPersonas, {})).personas.map(({ name }) => name),
  )
}
