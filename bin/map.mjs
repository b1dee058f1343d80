// Writes the table of rooms in CONTRIBUTING.md from the first comment of each door: `npm run docs`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [begin, end] = ['<!-- rooms: npm run docs -->\n', '<!-- end of rooms -->\n']

/** CONTRIBUTING.md with the table of rooms as the doors below `root` say it. Throws where a door says nothing. */
export function withMap(root) {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const rows = roomsIn(root).map((room) => `| \`${room}\` | ${promiseOf(root, room)} |\n`)
  const [head, rest] = text.split(begin)
  const [, tail] = rest.split(end)
  return `${head}${begin}| room | what it promises, what it uses, where to begin |\n|---|---|\n${rows.join('')}${end}${tail}`
}

function roomsIn(root) {
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [...folders.map(({ name }) => `src/${name}`).sort(), 'speech']
}

/** The first comment of a room's door, or of the file at which its program starts, in one line. */
function promiseOf(root, room) {
  const files = [`${basename(room)}.ts`, 'main.ts', 'main.tsx'].map((name) => join(root, room, name))
  const comment = /\/\*\*\n([\s\S]*?)\n \*\//.exec(readFileSync(files.find(existsSync), 'utf8'))
  if (!comment) throw new Error(`The door of ${room} does not say what the room promises`)
  const lines = comment[1].split('\n').map((line) => line.replace(/^ \* ?/, ''))
  if (lines.length > 10) throw new Error(`The door of ${room} says more than ten lines`)
  return lines.join(' ')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  writeFileSync(join(root, 'CONTRIBUTING.md'), withMap(root))
}
