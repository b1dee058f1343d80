/** What the tests of long texts share: texts, and a speech server whose engine waits where a test wants it to. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHome } from '../program/command.ts'
import { runMain } from '../program/terminal.ts'
import { openChanceServer } from '../speech/chance-server.ts'

export const sentences = (count: number, word = 'sun') =>
  Array.from(
    { length: count },
    (_, index) => `This is sentence number ${index}, and the north wind and the ${word} were disputing, yes. `,
  ).join('')

/** A home with texts of many parts, `book.txt` and `short.txt`, and a server that speaks them. */
export async function openLongTexts() {
  const home = openHome()
  const environment = { AICHAT_HOME: home.folder, HOME: home.folder }
  /** The engine's behaviour at a chunk: set by each test. */
  const engine = { atChunk: (_text: string): Promise<void> | void => {} }
  const usual = { ...engine }
  const server = await openChanceServer({
    wordTimes: 'measured',
    begin: (text) => engine.atChunk(text),
  })
  const path = (name: string) => join(home.folder, name)
  writeFileSync(path('book.txt'), sentences(520).slice(0, 40_000))
  writeFileSync(path('short.txt'), sentences(150))
  const words = (name: string, ...more: readonly string[]) => ['tts', '-i', path(name), '--server', server.url, ...more]

  return {
    environment,
    engine,
    path,
    words,
    run: (name: string, ...more: readonly string[]) => runMain(words(name, ...more), { environment }),
    /** Resolves when the engine has begun so many chunks; they wait from then on, until the test lets them go. */
    stopAt(count: number) {
      let begun = 0
      let go = () => {}
      const released = new Promise<void>((resolve) => {
        go = resolve
      })
      const reached = new Promise<void>((resolve) => {
        engine.atChunk = async () => {
          begun += 1
          if (begun === count) resolve()
          if (begun >= count) await released
        }
      })
      return { reached, go }
    },
    leftovers: () => readdirSync(home.folder).filter((name) => /\.(?:parts?|tmp)$/.test(name)),
    /** Before each test. */
    reset: () => void Object.assign(engine, usual),
    async close() {
      await server.close()
      home.remove()
    },
  }
}
