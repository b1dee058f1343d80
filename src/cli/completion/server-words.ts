import type { z } from 'zod'
import type { Operation } from '../../operations/operations.ts'
import type { WordCli } from '../terminal/cli.ts'
import { aliases } from './word-cli.ts'

/**
 * How long a server may take for a completion, in milliseconds: one on this machine or its network answers in less, and a
 * shell that stands still for a far one is worse than no words.
 */
const patienceMs = 150

/** Words of a kind from the server that commands go to. Throws where it does not answer in time. */
export async function serverWords(cli: WordCli, kind: string, context: string): Promise<readonly string[]> {
  const ask = <I extends z.ZodType, O extends z.ZodType>(operation: Operation<I, O>, input: z.input<I>) =>
    cli.ask(operation, input, AbortSignal.timeout(patienceMs))
  return Object.hasOwn(sources, kind) ? sources[kind]!(ask, context, cli) : []
}

type Ask = <I extends z.ZodType, O extends z.ZodType>(
  operation: Operation<I, O>,
  input: z.input<I>,
) => Promise<z.output<O>>

const sources: Readonly<Record<string, (ask: Ask, context: string, cli: WordCli) => Promise<readonly string[]>>> = {
  'api-keys': async (ask) => {
    const { listKeys } = await import('../../operations/keys.ts')
    return (await ask(listKeys, { limit: 1000 })).keys.map(({ id }) => id)
  },
  backups: async (ask, id) => {
    const { listBackups } = await import('../../operations/packages.ts')
    return (await ask(listBackups, { id })).backups.map(({ backup_id }) => backup_id)
  },
  keys: async (ask) => (await plugins(ask)).map(({ auth }) => auth.key_env),
  memories: async (ask, id) => {
    const { listMemories } = await import('../../operations/memories.ts')
    return (await ask(listMemories, { id, limit: 1000 })).memories.map((memory) => memory.id)
  },
  models: async (ask, _, cli) => {
    const { listModels } = await import('../../operations/models.ts')
    return [...(await aliases(cli)), ...(await ask(listModels, {})).models.map(({ name }) => name)]
  },
  personas: async (ask) => {
    const { listPersonas } = await import('../../operations/personas.ts')
    return (await ask(listPersonas, {})).personas.map(({ name }) => name)
  },
  plugins: async (ask) => (await plugins(ask)).map(({ id }) => id),
  'pulled-models': async (ask) => {
    const { listModels } = await import('../../operations/models.ts')
    const { models } = await ask(listModels, { installed: true })
    return models.filter(({ runner }) => runner !== 'ollama').map(({ id }) => id)
  },
  sessions: async (ask) => {
    const { listSessions } = await import('../../operations/sessions.ts')
    return (await ask(listSessions, {})).sessions.map(({ name }) => name)
  },
  users: async (ask) => {
    const { listUsers } = await import('../../operations/users.ts')
    return (await ask(listUsers, {})).users.map(({ username }) => username)
  },
}

async function plugins(ask: Ask) {
  const { listPlugins } = await import('../../operations/plugins.ts')
  return (await ask(listPlugins, {})).plugins
}
