/**
 * The PostgreSQL of a run: started for the first test file that asks for it, and ended with the run. A file that stops or
 * reconfigures its server asks for the data of a new one instead, and starts a copy.
 */
export interface SharedPostgres {
  /** Answers a question of a test process; undefined for one that is not about PostgreSQL. */
  answer(question: string): Promise<unknown>
  /** Ends the server and removes its data. */
  close(): Promise<void>
}

/** Starts nothing until it is asked; keeps its data below a folder. */
export function sharedPostgres(scratch: string): SharedPostgres {
  const helpers = () => import('../helpers/postgres/server.ts')
  type Helpers = Awaited<ReturnType<typeof helpers>>
  let data: ReturnType<Helpers['makeData']> | undefined
  let server: ReturnType<Helpers['openPostgres']> | undefined
  const madeData = () => {
    data ??= helpers().then(({ makeData }) => makeData(scratch))
    return data
  }
  return {
    async answer(question) {
      if (question === 'postgres data') return (await madeData()).folder
      if (question !== 'postgres server') return undefined
      server ??= Promise.all([helpers(), madeData()]).then(([{ openPostgres, sharedSettings }, { folder }]) =>
        openPostgres({ settings: sharedSettings, data: folder, scratch }),
      )
      const { port, version, hasVector } = await server
      return { port, version, hasVector }
    },
    async close() {
      await (await server)?.close()
      ;(await data)?.remove()
    },
  }
}
