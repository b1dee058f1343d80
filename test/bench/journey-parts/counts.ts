import { type Profiler, Session } from 'node:inspector'

/** The functions of a loaded script with their calls; the first is the script itself. */
export type ScriptCounts = Profiler.ScriptCoverage

/** Counts the calls of all functions of this process. */
export interface Counts {
  /** The calls since the last time. */
  take(): readonly ScriptCounts[]
  close(): void
}

/** Begins to count. Functions of scripts that are loaded later are counted too. */
export function openCounts(): Counts {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    take() {
      let scripts: readonly ScriptCounts[] = []
      // The answer to a session in the same thread comes before `post` returns.
      session.post('Profiler.takePreciseCoverage', (error, { result }) => {
        if (error) throw error
        scripts = result
      })
      return scripts
    },
    close() {
      session.post('Profiler.stopPreciseCoverage')
      session.disconnect()
    },
  }
}
