import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from './suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const sources = ['src', 'speech', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
)
const text = (file: string) => readFileSync(join(root, file), 'utf8')

const areas = ['src/plugins', 'src/chat', 'src/accounts', 'src/personas', 'speech']
const edge = ['src/storage', 'src/runners', 'src/http-client', 'src/model-hub', 'src/keychain']
const faces = ['src/cli', 'src/server']

/** Libraries of the edge: each is imported in the one room that keeps it. */
const libraries: Record<string, readonly string[]> = {
  'better-sqlite3': ['src/storage/sqlite/connection.ts', 'src/storage/sqlite/database.ts'],
  'sqlite-vec': ['src/storage/sqlite/database.ts'],
  'onnxruntime-node': ['src/inference/session.ts'],
  eld: ['speech/text/latin-languages.ts'],
  listhen: ['src/server/listen.ts'],
  h3: ['src/server/http-server.ts'],
  undici: ['src/http-client/agent.ts', 'src/http-client/response.ts'],
  conf: ['src/cli/config/file.ts'],
  'prom-client': ['src/server/metrics.ts'],
  keytar: ['src/keychain/keychain-child.ts'],
  bcrypt: ['src/accounts/passwords.ts'],
  jose: ['src/accounts/tokens.ts'],
}

const test = suite('the house')

test('an area imports no face, no operation and no edge', () => {
  const wrong = importsOf(areas).filter(({ to }) => within(to, [...faces, ...edge, 'src/operations', 'src/app']))
  assert.equal(shown(wrong), [])
})

test('operations import no face and no edge', () => {
  const wrong = importsOf(['src/operations']).filter(({ to }) => within(to, [...faces, ...edge]))
  assert.equal(shown(wrong), [])
})

test('the edge imports no face and no operation', () => {
  const wrong = importsOf(edge).filter(({ to }) => within(to, [...faces, 'src/operations', 'src/app']))
  assert.equal(shown(wrong), [])
})

test('the server does not import the command line', () => {
  assert.equal(shown(importsOf(['src/server']).filter(({ to }) => within(to, ['src/cli']))), [])
})

test('no file leads back to itself, not even for a type', () => {
  const links = new Map<string, readonly string[]>()
  for (const file of sources) links.set(file, leadsTo(file))
  const circles = new Set<string>()
  const done = new Set<string>()
  const follow = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) circles.add(path.slice(at).join(' → '))
    if (at >= 0 || done.has(file)) return
    for (const next of links.get(file) ?? []) follow(next, [...path, file])
    done.add(file)
  }
  for (const file of sources) follow(file, [])
  assert.equal([...circles], [])
})

test('no folder leads back to itself: rooms import one way', () => {
  const product = sources.filter((file) => !file.startsWith('test'))
  const arrows = new Map<string, Set<string>>()
  for (const file of product) {
    const from = arrows.get(dirname(file)) ?? new Set()
    for (const to of leadsTo(file)) if (dirname(to) !== dirname(file)) from.add(dirname(to))
    arrows.set(dirname(file), from)
  }
  const reach = (folder: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const next of arrows.get(folder) ?? [])
      if (!seen.has(next)) {
        seen.add(next)
        reach(next, seen)
      }
    return seen
  }
  assert.equal(
    [...arrows.keys()].filter((folder) => reach(folder).has(folder)),
    [],
  )
})

test('plugins know nothing of chats', () => {
  const wrong = sources
    .filter((file) => within(file, ['src/plugins']))
    .flatMap((file) => leadsTo(file).map((to) => ({ from: file, to })))
    .filter(({ to }) => within(to, ['src/chat']))
  assert.equal(shown(wrong), [])
})

test('each library of the edge is imported in one place', () => {
  for (const [library, allowed] of Object.entries(libraries)) {
    const importers = sources.filter(
      (file) =>
        !file.startsWith('test') && new RegExp(`(?:from|import\\()\\s*'${library}(?:/[^']*)?'`).test(text(file)),
    )
    assert.equal(
      importers.filter((file) => !allowed.includes(file)),
      [],
      `${library} is imported elsewhere`,
    )
  }
})

test('only the settings read the environment', () => {
  const readers = sources.filter((file) => !file.startsWith('test') && /process\.env\b/.test(stripComments(text(file))))
  const allowed = ['src/settings/settings.ts', 'src/cli/terminal/io.ts']
  assert.equal(
    readers.filter((file) => !allowed.includes(file)),
    [],
  )
})

test('nothing ends the process by itself', () => {
  assert.equal(
    sources.filter((file) => !file.startsWith('test') && /process\.exit\(/.test(stripComments(text(file)))),
    [],
  )
})

test('a test that throws one of our errors is told: every test file uses the suite of this project', () => {
  assert.equal(
    sources.filter((file) => file.endsWith('.test.ts') && /^import \{[^}]*\} from 'uvu'/m.test(text(file))),
    [],
  )
})

test('a suite that passed passes again: property tests take their seed from one place', () => {
  const importers = sources.filter((file) => /^import .* from 'fast-check'/m.test(text(file)))
  assert.equal(importers, ['test/properties.ts'])
})

test.run()

interface Import {
  readonly from: string
  readonly to: string
}

/** The import lines of the files in these folders that lead to code; types alone bind nothing at run time. */
function importsOf(folders: readonly string[]): readonly Import[] {
  return sources
    .filter((file) => within(file, folders))
    .flatMap((file) =>
      [
        ...stripComments(text(file)).matchAll(
          /(?:^|\n)\s*(?:import|export)\s+(?!type\b)[^'\n;]*?(?:from\s+)?'(\.[^']+)'|import\('(\.[^']+)'\)|\}\s+from\s+'(\.[^']+)'/g,
        ),
      ].map((match) => ({
        from: file,
        to: relative(root, join(root, dirname(file), (match[1] ?? match[2] ?? match[3])!)),
      })),
    )
    .filter(({ from, to }) => !onlyTypes(from, to))
}

/** The files of ours that a file names, also for their types alone. */
function leadsTo(file: string): readonly string[] {
  return [...stripComments(text(file)).matchAll(/(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g)]
    .map((match) => join(dirname(file), match[1]!))
    .filter((target) => sources.includes(target))
}

function onlyTypes(from: string, to: string): boolean {
  const path = relative(dirname(from), to)
  const spelled = path.startsWith('.') ? path : `./${path}`
  const lines =
    text(from).match(new RegExp(`import[^;]*?from '${spelled.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}'`, 'g')) ?? []
  return lines.length > 0 && lines.every((line) => /^import type\b/.test(line.slice(line.lastIndexOf('import'))))
}

function within(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file === folder || file.startsWith(`${folder}/`))
}

function shown(imports: readonly Import[]): readonly string[] {
  return imports.map(({ from, to }) => `${from} → ${to}`)
}

function stripComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}
