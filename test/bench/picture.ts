/**
 * Makes the picture of README, `man/first-hour.svg`, and its recording, `man/first-hour.cast` (`asciinema play FILE`): a person
 * goes from an empty home to an answer at a terminal. A stand-in takes the provider's place, so the answer is ours.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import xterm from '@xterm/headless'
import { goodKey, openScene, speaksOpenAi } from '../cli/setup/scene.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { openTerminalHere } from '../helpers/program/terminal.ts'
import { completionEvents } from '../helpers/providers/fake-provider.ts'
import { print } from './parts/figures.ts'

const size = [84, 22] as const
const answer = 'Rain drums on the roof,\na cat, unmoved by thunder,\nturns over. Sleeps on.\n'

/** Milliseconds: between two keys, between two pieces of the answer, and while a person reads. */
const [typing, streaming, reading] = [55, 90, 1200]

const steps = [
  [/Who shall answer\?[\s\S]*provider that I have a key for/, '\r'],
  [/Paste the key/, `${goodKey}\r`],
  [/Which model answers\?[\s\S]*gpt-4o/, '\r'],
  [/Ask something[\s\S]*> /, 'a haiku about my cat, who fears no thunder\r'],
  [/Sleeps on[\s\S]*> /, '\x04'],
] as const

export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  process.env['AICHAT_TEST_RECORDINGS'] = folder
  const speaks = speaksOpenAi(goodKey)
  await using scene = await openScene((request, response) => {
    if (request.url !== '/v1/chat/completions') return speaks(request, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = completionEvents(answer.split(/(?<= )/), 'gpt-4.1-mini')
    void (async () => {
      for (const event of events) {
        await setTimeout(streaming)
        response.write(event)
      }
      response.end()
    })()
  })
  const terminal = openTerminalHere([], { ...scene.environment, TERM: 'xterm-256color' }, { size })
  for (const [shown, keys] of steps) {
    await terminal.shows(shown)
    await setTimeout(reading)
    for (const key of keys) {
      terminal.type(key)
      await setTimeout(keys.startsWith(goodKey) ? 2 : typing)
    }
  }
  await terminal.ended()
  const recorded = readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8')
  const cast = recorded.replaceAll(scene.home, '/home/ada/.config/aichat')
  writeFileSync('man/first-hour.cast', cast)
  writeFileSync('man/first-hour.svg', await pictureOf(cast))
  print(`man/first-hour.cast and man/first-hour.svg: ${cast.split('\n').length - 2} outputs`)
}

const cell = { width: 8.4, height: 18 } as const
const margin = 14

/** The screen at the end of a recording, with what scrolled out of it. */
async function pictureOf(cast: string): Promise<string> {
  const screen = new xterm.Terminal({ cols: size[0], rows: size[1], scrollback: 1000, allowProposedApi: true })
  for (const line of cast.trim().split('\n').slice(1))
    await new Promise<void>((resolve) => screen.write((JSON.parse(line) as [number, string, string])[2], resolve))
  const { active } = screen.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)!.translateToString(true))
  while (lines.at(-1) === '') lines.pop()
  const [width, height] = [size[0] * cell.width + 2 * margin, lines.length * cell.height + 2 * margin]
  const texts = lines.map((line, row) => {
    const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return `<text x="${margin}" y="${margin + 13 + row * cell.height}" textLength="${line.length * cell.width}">${escaped}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" xml:space="preserve" role="img">
<title>aichat at a terminal: from an empty home to an answer</title>
<rect width="100%" height="100%" rx="8" fill="#16191f"/>
<g fill="#d7dae0">
${texts.join('\n')}
</g>
</svg>
`
}
