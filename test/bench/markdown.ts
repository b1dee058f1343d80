import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openMarkdownView } from '../../src/cli/markdown/view.ts'
import { openScreen } from '../cli/markdown/screen.ts'

/** The length of an answer in characters, and of a token. */
const longest = 20_000
const token = 4

/** The CPU time per token of answers that are rendered at a terminal: drawn as a user sees them, and after every token. */
export async function bench(): Promise<void> {
  const readme = readFileSync(fileURLToPath(new URL('./README.md', import.meta.resolve('#package'))), 'utf8')
  const texts = {
    'a document': readme,
    'one paragraph': 'word *and* more `code` ',
    'a block of code': `\`\`\`js\n${'const a = "x" + f(1) // one\n'.repeat(1_000)}`,
    'a list': '1. An item of a list.\n',
    'a table': `|a|b|c|\n|-|-|-|\n${'| x | y | zzzz |\n'.repeat(1_500)}`,
    'brackets that never close': '![[',
    Chinese: '日本語の文章',
  }
  for (const [name, text] of Object.entries(texts)) {
    const answer = text.repeat(Math.ceil(longest / text.length)).slice(0, longest)
    for (const frame of [undefined, 0]) {
      const { cpu, worst } = await measured(answer, frame)
      const drawn = frame === 0 ? 'after every token' : 'in frames'
      process.stdout.write(
        `${name.padEnd(28)} drawn ${drawn.padEnd(18)} ${cpu.toFixed(3).padStart(8)} ms of CPU per token, longest ${worst.toFixed(0).padStart(4)} ms\n`,
      )
    }
  }
}

async function measured(answer: string, frame: number | undefined) {
  const { io } = openScreen(80, 24)
  const view = await openMarkdownView({ io: { ...io, columns: 80, rows: 24, out: async () => {} } }, frame)
  const tokens = answer.match(new RegExp(`[^]{1,${token}}`, 'gu'))!
  let worst = 0
  const before = process.cpuUsage()
  for (const text of tokens) {
    const begun = performance.now()
    await view.write(text)
    worst = Math.max(worst, performance.now() - begun)
  }
  await view.end()
  const { user, system } = process.cpuUsage(before)
  return { cpu: (user + system) / 1e3 / tokens.length, worst }
}
