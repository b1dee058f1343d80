import { askRunner } from '../../runner/question.ts'
import { suite } from '../suite.ts'
import { type Databases, databasesOf, type ServerPlace } from './databases.ts'
import { havePostgres, openPostgres, type PostgresOptions, type PostgresServer } from './server.ts'

/** A suite on PostgreSQL: `test` skips where there is none. A file ends with `run()`. */
export interface PostgresSuite<S> {
  readonly test: (title: string, handler: () => void | Promise<void>) => void
  /** The server, within tests. */
  readonly server: () => S
  readonly run: () => void
}

/** A suite with databases of its own on the server of the run; `hasOthers` tells whether its other requirements are met. */
export function postgresSuite(name: string, hasOthers = true): PostgresSuite<Databases> {
  return suiteOn(name, hasOthers, async () => {
    const shared = await askRunner<ServerPlace>('postgres server')
    if (shared) {
      const databases = databasesOf(shared)
      return { opened: databases, close: () => databases.drop() }
    }
    const server = await openPostgres()
    return { opened: server, close: () => server.close() }
  })
}

/** A suite with a server of its own, for tests that stop, change or read the log of one. */
export function ownPostgresSuite(
  name: string,
  options?: PostgresOptions,
  hasOthers = true,
): PostgresSuite<PostgresServer> {
  return suiteOn(name, hasOthers, async () => {
    const server = await openPostgres(options)
    return { opened: server, close: () => server.close() }
  })
}

function suiteOn<S>(
  name: string,
  hasOthers: boolean,
  open: () => Promise<{ readonly opened: S; close(): Promise<void> }>,
): PostgresSuite<S> {
  const inner = suite(name)
  let use: Awaited<ReturnType<typeof open>> | undefined
  const isThere = havePostgres() && hasOthers
  if (isThere) {
    inner.before(async () => {
      use = await open()
    })
    inner.after(() => use?.close())
  }
  return { test: isThere ? inner : inner.skip, server: () => use!.opened, run: () => inner.run() }
}
