import * as assert from 'uvu/assert'
import { fixture } from './helpers/fixture.ts'
import {
  arrowsBetween,
  codeOf,
  doorOf,
  type Import,
  importsOf,
  inCircles,
  isPastDoor,
  libraryOf,
  manifest,
  product,
  roomOf,
  sources,
  textOf,
  upwardImports,
  within,
} from './helpers/source-tree.ts'
import { suite } from './helpers/suite.ts'
import { reasonOf } from './runner/tiers.ts'

const areas = ['src/plugins', 'src/chat', 'src/accounts', 'src/personas', 'src/usage', 'speech']
const edge = [
  'src/storage',
  'src/backup',
  'src/runners',
  'src/http-client',
  'src/model-hub',
  'src/keychain',
  'src/mcp-client',
]
const faces = ['src/cli', 'src/server', 'src/mcp-server', 'src/console']

/**
 * `places`: the files and folders that may import each library; the command line's commands and the schemas are spread on purpose.
 * Each with its reason: `edgeInFaces`, files of the faces that import the edge; `filesInAreas`, files and folders of areas that use
 * files or child processes; `sideDoors`, files that other rooms `import()` past the door, since that would load too early.
 */
const { places, edgeInFaces, filesInAreas, sideDoors } = fixture<{
  readonly places: Readonly<Record<string, readonly string[]>>
  readonly edgeInFaces: Readonly<Record<string, string>>
  readonly filesInAreas: Readonly<Record<string, string>>
  readonly sideDoors: Readonly<Record<string, string>>
}>('architecture.json')

/** The names that doors may hand out: fewer at every change. */
const mostNames = 1013

const fileModules = ['node:fs', 'node:fs/promises', 'node:child_process']

const test = suite('the house')

test('an area imports no face, no operation and no edge', () => {
  const wrong = runtimeImportsOf(areas).filter(({ to }) => within(to, [...faces, ...edge, 'src/operations', 'src/app']))
  assert.equal(shown(wrong), [])
})

test('operations import no face and no edge', () => {
  assert.equal(shown(runtimeImportsOf(['src/operations']).filter(({ to }) => within(to, [...faces, ...edge]))), [])
})

test('the edge imports no face and no operation', () => {
  const wrong = runtimeImportsOf(edge).filter(({ to }) => within(to, [...faces, 'src/operations', 'src/app']))
  assert.equal(shown(wrong), [])
})

test('the server does not import the command line', () => {
  assert.equal(shown(runtimeImportsOf(['src/server']).filter(({ to }) => within(to, ['src/cli']))), [])
})

test('the console is a page: of the core it knows types alone, and nothing imports it', () => {
  const outward = runtimeImportsOf(['src/console']).filter(
    ({ to }) => !within(to, ['src/console']) && libraryOf(to) === undefined,
  )
  assert.equal(shown(outward), [])
  const inward = product
    .flatMap(importsOf)
    .filter(({ from, to }) => within(to, ['src/console']) && !within(from, ['src/console']))
  assert.equal(shown(inward), [])
})

test('faces do not import the edge, but for listed files', () => {
  const wrong = runtimeImportsOf(faces).filter(({ from, to }) => within(to, edge) && !(from in edgeInFaces))
  assert.equal(shown(wrong), [])
})

test('areas use no files and no child processes themselves, but for listed places', () => {
  const wrong = runtimeImportsOf(areas).filter(
    ({ from, to }) => fileModules.includes(to) && !within(from, Object.keys(filesInAreas)),
  )
  assert.equal(shown(wrong), [])
})

test('every listed exception is still needed', () => {
  const fromFaces = runtimeImportsOf(faces).filter(({ to }) => within(to, edge))
  const fromAreas = runtimeImportsOf(areas).filter(({ to }) => fileModules.includes(to))
  const stale = [
    ...Object.keys(edgeInFaces).filter((file) => !fromFaces.some(({ from }) => from === file)),
    ...Object.keys(filesInAreas).filter((place) => !fromAreas.some(({ from }) => within(from, [place]))),
  ]
  assert.equal(stale, [])
})

test('imports run down the layers, also for types', () => {
  assert.equal(shown(upwardImports()), [])
})

test('no file leads back to itself, not even for a type', () => {
  const arrows = new Map(
    sources.map((file) => [
      file,
      importsOf(file)
        .map(({ to }) => to)
        .filter((to) => sources.includes(to)),
    ]),
  )
  assert.equal(inCircles(arrows), [])
})

test('no folder leads back to itself: rooms import one way', () => {
  assert.equal(inCircles(arrowsBetween(folderOf)), [])
  assert.equal(inCircles(arrowsBetween(roomOf)), [])
})

test('a room is entered by its door, and on demand by its side doors', () => {
  const wrong = product
    .flatMap(importsOf)
    .filter((found) => isPastDoor(found) && !(found.onDemand && found.to in sideDoors))
  assert.equal(shown(wrong), [])
  const deep = { from: 'src/cli/chat/actions.ts', to: 'src/chat/router.ts', types: true, onDemand: false }
  assert.ok(isPastDoor(deep), 'a deep import is found')
  assert.not.ok(isPastDoor({ ...deep, to: 'src/chat/chat.ts' }))
})

test('every side door is still needed', () => {
  const used = new Set(
    product
      .flatMap(importsOf)
      .filter(isPastDoor)
      .map(({ to }) => to),
  )
  assert.equal(
    Object.keys(sideDoors).filter((file) => !used.has(file)),
    [],
  )
})

test('a door only hands out what lies behind it, each name once, and not more names than before', () => {
  const doors = [...new Set(product.map(roomOf))].map(doorOf).filter((file) => product.includes(file))
  const names = doors.map((door) => {
    const code = codeOf(door)
    assert.equal(code.replace(/export (?:type )?\{[^}]*\} from '\.\/[^']+'/g, '').trim(), '', door)
    const handedOut = [...code.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) =>
      list!.split(',').map((name) => name.trim()),
    )
    const each = handedOut.filter((name) => name !== '')
    assert.is(new Set(each).size, each.length, door)
    return each.length
  })
  const sum = names.reduce((total, number) => total + number, 0)
  assert.ok(sum <= mostNames, `${sum} names`)
})

test('no file of a room imports its own door', () => {
  const wrong = product.flatMap(importsOf).filter(({ from, to }) => to === doorOf(roomOf(from)))
  assert.equal(shown(wrong), [])
})

test('plugins know nothing of chats', () => {
  const wrong = product.filter((file) => within(file, ['src/plugins'])).flatMap(importsOf)
  assert.equal(shown(wrong.filter(({ to }) => within(to, ['src/chat']))), [])
})

test('each library is imported in its place', () => {
  const wrong = product.flatMap(importsOf).filter(({ from, to }) => {
    const library = libraryOf(to)
    return library !== undefined && !within(from, places[library] ?? [])
  })
  assert.equal(shown(wrong), [])
})

test('every dependency has a place, and every place a dependency', () => {
  const { dependencies, optionalDependencies } = manifest
  const { 'onnxruntime-common': ofRuntime, ...imported } = dependencies
  assert.type(ofRuntime, 'string', 'the runtime in dist/onnxruntime-node imports it')
  // Development packages that a build puts into the program or beside it.
  const built = [
    '@bjorn3/browser_wasi_shim',
    ...['client', 'server'].map((name) => `@modelcontextprotocol/${name}`),
    ...['geist', 'geist-mono'].map((name) => `@fontsource-variable/${name}`),
    ...'@mozilla/readability age-encryption commander conf eld entities eventsource-parser fflate h3 inquirer'.split(
      ' ',
    ),
    ...'ipaddr.js jose ky linkedom listhen temml'.split(' '),
    ...['onnxruntime-node', 'pdfjs-dist', 'preact', 'prom-client', 'stemmer', 'string-width', 'undici', 'uplot', 'zod'],
  ]
  const expected = [...Object.keys({ ...imported, ...optionalDependencies }), ...built]
  assert.equal(Object.keys(places).sort(), expected.sort())
})

test('only the settings read the environment', () => {
  const allowed = ['src/settings/read-settings.ts', 'src/cli/terminal/io.ts']
  assert.equal(
    product.filter((file) => !allowed.includes(file) && /process\.env\b/.test(codeOf(file))),
    [],
  )
})

test('nothing ends the process by itself', () => {
  assert.equal(
    product.filter((file) => /process\.exit\(/.test(codeOf(file))),
    [],
  )
})

test('folders are made in one place, which ends where Node goes round for ever', () => {
  const makers = product.filter((file) =>
    /\bmkdir(?:Sync)?\((?:[^()\n]|\([^()\n]*\))*recursive: true/.test(codeOf(file)),
  )
  // This runs at a build alone.
  assert.equal([...makers].sort(), ['src/word-vectors/train.ts'])
})

test("every test file uses this project's suite, which reports our errors", () => {
  assert.equal(
    sources.filter((file) => file.endsWith('.test.ts') && /^import \{[^}]*\} from 'uvu'/m.test(codeOf(file))),
    [],
  )
})

test('property tests take their seed from one place, so that a suite that passed passes again', () => {
  const importers = sources.filter((file) => importsOf(file).some(({ to }) => to === 'fast-check'))
  assert.equal(importers, ['test/helpers/properties.ts'])
})

test('a file says why some of its tests run with --all only, and only where some do', () => {
  const wrong = sources.filter((file) => {
    if (!file.endsWith('.test.ts') || file === 'test/architecture.test.ts' || file === 'test/run.test.ts') return false
    const code = codeOf(file)
    const isSaid = reasonOf(textOf(file), 'tests') !== undefined
    const isDeclared = /\.whole(?:\(\s*['"`]| : |\)\()/.test(code)
    return isSaid ? !isDeclared && !/\bisWholeRun\b/.test(code) : isDeclared
  })
  assert.equal(wrong, [])
})

test.run()

/** The imports of the files in these folders that bind something at run time. */
function runtimeImportsOf(folders: readonly string[]): readonly Import[] {
  return sources
    .filter((file) => within(file, folders))
    .flatMap(importsOf)
    .filter(({ types }) => !types)
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}

function shown(imports: readonly Import[]): readonly string[] {
  return imports.map(({ from, to }) => `${from} → ${to}`)
}
