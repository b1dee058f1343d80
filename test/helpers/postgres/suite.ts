import { suite } from '../suite.ts'
import { havePostgres, openPostgres, type PostgresOptions, type PostgresServer } from './server.ts'

/** A suite with a PostgreSQL of its own: `test` skips where there is none. A file ends with `run()`. */
export interface PostgresSuite {
  readonly test: (title: string, handler: () => void | Promise<void>) => void
  /** The server, within tests. */
  readonly server: () => PostgresServer
  readonly run: () => void
}

/** A suite; `hasOthers` tells whether its other requirements are met. */
export function postgresSuite(name: string, options?: PostgresOptions, hasOthers = true): PostgresSuite {
  const inner = suite(name)
  let server: PostgresServer | undefined
  const isThere = havePostgres() && hasOthers
  if (isThere) {
    inner.before(async () => {
      server = await openPostgres(options)
    })
    inner.after(() => server?.close())
  }
  return { test: isThere ? inner : inner.skip, server: () => server!, run: () => inner.run() }
}
