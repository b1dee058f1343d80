import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

/** package.json */
export const manifest: {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The TypeScript files of the product and of the tests, as paths below the repository. */
export const sources: readonly string[] = ['src', 'speech', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file)),
)

/** The same without the tests. */
export const product: readonly string[] = sources.filter((file) => !file.startsWith('test'))

/** The layers of the product, top first: a file imports from its own layer and from those below it. */
const layers: readonly (readonly string[])[] = [
  ['src/cli', 'src/server', 'src/console'],
  ['src/mcp-server'],
  ['src/operations'],
  ['src/app'],
  [
    'src/storage',
    'src/backup',
    'src/runners',
    'src/http-client',
    'src/model-hub',
    'src/keychain',
    'src/mcp-client',
    'src/word-vectors',
    'src/settings',
    'src/otlp',
  ],
  ['src/plugins', 'src/chat', 'src/accounts', 'src/personas', 'src/usage', 'speech'],
  ['src/formats', 'src/process', 'src/http', 'src/inference', 'src/metrics', 'src'],
]

export interface Import {
  readonly from: string
  /** A file of the repository, or the name as written: `zod`, `node:fs`, `#package`. */
  readonly to: string
  /** Whether it is for types alone, which bind nothing at run time. */
  readonly types: boolean
  /** Whether it is an `import()`. */
  readonly onDemand: boolean
}

const texts = new Map<string, string>()

/** The text of a source. */
export function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8')
  texts.set(file, text)
  return text
}

/** The text of a source without comments that begin a line. */
export function codeOf(file: string): string {
  return textOf(file)
    .replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, '')
    .replace(/^\s*\/\/.*$/gm, '')
}

/** The imports of a source, read from the text; biome's formatting is taken for granted. */
export function importsOf(file: string): readonly Import[] {
  const found = codeOf(file).matchAll(
    /^(?:import|export) (type )?(?:[^'\n;]|\n(?! *['/]))*? from '([^']+)'|^import '([^']+)'|\bimport\(\s*'([^']+)'/gm,
  )
  return [...found].map(([, types, from, bare, dynamic]) => {
    const name = (from ?? bare ?? dynamic)!
    return {
      from: file,
      to: name.startsWith('.') ? join(dirname(file), name) : name,
      types: types !== undefined,
      onDemand: dynamic !== undefined,
    }
  })
}

/** The library of an import: `h3` of `h3/node`, `@scope/name` of its files; undefined for our own files and Node's modules. */
export function libraryOf(to: string): string | undefined {
  if (to.startsWith('node:') || to.startsWith('#') || /^src\/.*\.(?:css|json)$/.test(to) || sources.includes(to))
    return undefined
  return to
    .split('/')
    .slice(0, to.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Whether a file is one of these files or below one of these folders. */
export function within(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file === folder || file.startsWith(`${folder}/`))
}

/** The room of a file: `speech`, a folder right below `src`, or `src` itself for the files there. */
export function roomOf(file: string): string {
  return file
    .split('/')
    .slice(0, -1)
    .slice(0, file.startsWith('src/') ? 2 : 1)
    .join('/')
}

/** The door of a room: the file named after it, from which other rooms import. */
export function doorOf(room: string): string {
  return `${room}/${room.slice(room.lastIndexOf('/') + 1)}.ts`
}

/** Whether an import enters another room elsewhere than at its door. The files right below `src` are a door each. */
export function isPastDoor({ from, to }: Import): boolean {
  const room = roomOf(to)
  return product.includes(to) && room !== roomOf(from) && room !== 'src' && to !== doorOf(room)
}

function layerOf(file: string): number {
  return layers.findIndex((rooms) => rooms.includes(roomOf(file)))
}

/**
 * The arrows between groups of product files, such as their folders: from each group to the others it imports. What a door hands
 * out is no arrow of its folder.
 */
export function arrowsBetween(groupOf: (file: string) => string): ReadonlyMap<string, ReadonlySet<string>> {
  const arrows = new Map<string, Set<string>>(product.map((file) => [groupOf(file), new Set()]))
  for (const file of product.filter((file) => file !== doorOf(roomOf(file))))
    for (const { to } of importsOf(file))
      if (product.includes(to) && groupOf(to) !== groupOf(file)) arrows.get(groupOf(file))!.add(groupOf(to))
  return arrows
}

/** The nodes that lead back to themselves. */
export function inCircles(arrows: ReadonlyMap<string, Iterable<string>>): readonly string[] {
  const reach = (from: string): ReadonlySet<string> => {
    const seen = new Set<string>()
    const follow = (node: string): void => {
      for (const next of arrows.get(node) ?? []) {
        if (seen.has(next)) continue
        seen.add(next)
        follow(next)
      }
    }
    follow(from)
    return seen
  }
  return [...arrows.keys()].filter((node) => reach(node).has(node))
}

/** The imports that run from a layer to one above it. */
export function upwardImports(): readonly Import[] {
  return product.flatMap(importsOf).filter(({ from, to }) => product.includes(to) && layerOf(to) < layerOf(from))
}
