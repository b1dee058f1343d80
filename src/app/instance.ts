import { hostname } from 'node:os'
import type { App } from './compose.ts'

/** This process among those on a shared database, such as `node-1:3001`: its machine, and the port of a service. */
export function instanceName({ ownPorts }: Pick<App, 'ownPorts'>): string {
  const [port] = ownPorts
  return port === undefined ? hostname() : `${hostname()}:${port}`
}

/** The database that instances share, for people and monitoring; undefined for the one of the data folder. */
export function databaseState({ database }: Pick<App, 'database'>): DatabaseState | undefined {
  return database && { name: database.name, reachable: !database.isAway() }
}

export interface DatabaseState {
  /** Without password. */
  readonly name: string
  readonly reachable: boolean
}
