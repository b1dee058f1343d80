import type { z } from 'zod'
import { printableLine } from '../formats/formats.ts'
import { type Ask, showMemoryOwner } from '../operations/operations.ts'

/** A persona and the client's access to its memory. */
export interface Seat {
  /** Runs operations as the caller, with the caller's rights. */
  readonly ask: Ask
  readonly persona: { readonly id: string; readonly name: string }
  /** Only tools that change nothing are offered. */
  readonly readOnly: boolean
}

/** The state of a persona as `showMemoryOwner` answers it. */
export type Owner = z.output<typeof showMemoryOwner.output>

/** Takes a persona's seat, by id or name. Throws as the operations do where it is not the caller's. */
export async function takeSeat(ask: Ask, persona: string, { readOnly }: Pick<Seat, 'readOnly'>): Promise<Seat> {
  const { id, name } = await ask(showMemoryOwner, { id: persona })
  return { ask, persona: { id, name }, readOnly }
}

/** The most characters of a client's name. */
const longestName = 80

/** The source of a memory that a client adds: `mcp:` and the name that it gives itself, or `mcp`. */
export function sourceOf(client: string | undefined): string {
  const name = printableLine(client ?? '')
    .trim()
    .slice(0, longestName)
  return name === '' ? 'mcp' : `mcp:${name}`
}
