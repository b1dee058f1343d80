// Lets a build import past the doors of the rooms (`src/chat/chat.ts` and its like, which hand out names of the files behind
// them): a file that asks a door for one name would otherwise load the whole room, and esbuild places it in a bundle so.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'

/** An import, or a re-export, as biome formats it: `type`, the names, the file. */
const statement = /^(import|export) (type )?\{([^}]*)\} from '(\.[^']+)'$/gm

/** Replaces each import from a door by imports from the files behind it, in the bundle and in the modules of the tests. */
export function pastDoors(root) {
  return {
    name: 'past-doors',
    setup({ onLoad }) {
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        if (path.includes(`${sep}node_modules${sep}`)) return undefined
        return { contents: direct(root, path), loader: path.endsWith('x') ? 'tsx' : 'ts' }
      })
    },
  }
}

/** The text of a source whose imports go past the doors. Each takes as many lines as the one that it replaces, for source maps. */
export function direct(root, path) {
  const text = readFileSync(path, 'utf8')
  if (isDoor(root, path)) return text
  return text.replace(statement, (line, keyword, type = '', names, from) => {
    const door = join(dirname(path), from)
    if (!isDoor(root, door)) return line
    const files = filesBehind(door)
    const parts = namesOf(names).map(({ name, written }) => {
      const file = files.get(name)
      if (!file) throw new Error(`${relative(root, door)} hands out no ${name}, which ${relative(root, path)} imports`)
      const to = relative(dirname(path), file)
      const [, ofName = type, binding] = /^(type )?(.*)$/.exec(written)
      return `${keyword} ${ofName}{ ${binding} } from '${to.startsWith('.') ? to : `./${to}`}'`
    })
    return parts.join('; ') + '\n'.repeat(line.split('\n').length - 1)
  })
}

/** Whether a file is the door of its room: named after it, in a folder right below `src`, or `speech`. */
function isDoor(root, path) {
  const room = dirname(relative(root, path))
  return basename(path, '.ts') === basename(room) && /^(?:src[\\/][^\\/]+|speech)$/.test(room) && existsSync(path)
}

const known = new Map()

/** The file behind a door for each of its names. */
function filesBehind(door) {
  if (!known.has(door)) {
    const lines = readFileSync(door, 'utf8').matchAll(statement)
    const files = [...lines].flatMap(([, , , names, from]) =>
      namesOf(names).map(({ exported }) => [exported, join(dirname(door), from)]),
    )
    known.set(door, new Map(files))
  }
  return known.get(door)
}

function namesOf(list) {
  return list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((written) => {
      const [, name, exported = name] = /^(?:type )?(\w+)(?: as (\w+))?$/.exec(written)
      return { written, name, exported }
    })
}
