import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  listBackups,
  listKeys,
  listMemories,
  listPersonas,
  listPlugins,
  listSessions,
  listUsers,
} from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'

/** The most names of one kind that are asked for: a shell lists no more. */
const limit = 100

/** The names or ids of this installation's records; `persona` is the owner of memories or backups. */
export const records: Readonly<Record<string, (cli: Cli, persona: string) => Promise<readonly string[]>>> = {
  'api-keys': async (cli) =>
    (await cli.ask(listKeys, { limit })).keys.flatMap(({ id, state }) => (state === 'revoked' ? [] : id)),
  backups: async (cli, id) => (await cli.ask(listBackups, { id })).backups.map(({ backup_id }) => backup_id),
  memories: async (cli, id) => (await cli.ask(listMemories, { id, limit })).memories.map((memory) => memory.id),
  async personas(cli) {
    const { personas } = await cli.ask(listPersonas, {})
    // A name that several personas have is no address: their ids are.
    const isAlone = (name: string) => personas.filter((each) => each.name === name).length === 1
    return personas.map(({ id, name }) => (isAlone(name) ? name : id))
  },
  sessions: async (cli) => (await cli.ask(listSessions, { limit })).sessions.map(({ name }) => name),
  users: async (cli) => (await cli.ask(listUsers, { limit })).users.map(({ username }) => username),
}

/** Whether anything is stored yet: a completion makes no database. */
export async function isStored(cli: Cli): Promise<boolean> {
  const { database, paths } = await cli.settings()
  return database !== undefined || existsSync(join(paths.data, 'aichat.db'))
}

/** The installed plugins, with their models and the variables of their keys. */
export async function installedPlugins(cli: Cli) {
  const { plugins } = await cli.ask(listPlugins, {})
  return plugins.map(({ id, model_map: models, auth }) => ({ id, models, key: auth.key_env }))
}
