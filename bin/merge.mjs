// Joins files of a bundle that processes load together. esbuild puts modules into one file where the same entries reach them,
// and most of the 200 entries are imported on demand: a command would read 160 files, at 0.2 ms of processor time each.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const command = ['src/cli/main.ts', 'src/cli/run-command.ts']
const core = [...command, 'src/settings/read-settings.ts', 'src/cli/remote/backend.ts']
const stored = [
  ...core,
  ...['src/storage/sqlite/storage.ts', 'src/storage/stores/accounts.ts'],
  ...['src/app/accounts.ts', 'src/storage/files/settled-clock.ts'],
]
const persona = [...stored, 'src/app/personas.ts', 'src/app/models.ts']
const conversations = ['src/storage/stores/conversations.ts', 'src/storage/sqlite/conversations-text.ts']
const priced = ['src/app/usage.ts', 'src/app/prices.ts', 'src/storage/stores/prices.ts']
/** The words behind a Tab. */
const tab = [...command, 'src/cli/completion/complete.ts']
const hub = ['src/model-hub/known-models.ts', 'src/model-hub/record.ts']
const chat = [...stored, ...priced, 'src/app/chat.ts', 'src/app/models.ts']

/**
 * The loads of the most used commands (test/cli/most-used.ts), of the names behind a Tab, of the built-in voice and of the daemon: entries that are imported on demand. Files that the same
 * ones of them load are joined, so that none of them loads more than before; a list that misses an entry joins less.
 */
const loads = [
  command,
  [...core, 'src/cli/plugin/actions.ts'],
  [...core, 'src/cli/models/actions.ts'],
  [...stored, ...priced, 'src/storage/stores/ledger.ts', 'src/cli/usage/actions.ts'],
  [...persona, 'src/storage/stores/personas.ts', 'src/cli/persona/actions.ts'],
  [...persona, ...conversations, 'src/cli/session/actions.ts'],
  [...persona, 'src/storage/stores/personas.ts', 'src/storage/sqlite/memories.ts', 'src/cli/persona/memory.ts'],
  [...chat, 'src/usage/limits/area.ts', 'src/storage/stores/limits.ts', 'src/cli/service/status.ts'],
  [
    ...[...chat, ...conversations, 'src/chat/dialects/openai/request-reader.ts'],
    ...['src/chat/protocol/chunks.ts', 'src/personas/chat/conversation.ts', 'src/personas/chat/keep-exchange.ts'],
    'src/cli/chat/actions.ts',
  ],
  [...core, ...priced, 'src/storage/sqlite/storage.ts', 'src/app/speech.ts', 'src/cli/speech/actions.ts'],
  ['speech/engine-child.ts', 'speech/engines/flite/engine.ts'],
  [
    ...[...persona, ...chat, 'src/app/packages.ts', 'src/app/responses.ts', 'src/usage/limits/area.ts'],
    ...['personas', 'limits', 'responses'].map((name) => `src/storage/stores/${name}.ts`),
    ...['memories', 'persona-archive', 'responses-parts'].map((name) => `src/storage/sqlite/${name}.ts`),
    'src/cli/service/serve.ts',
  ],
  [...tab, 'speech/servers/manifest.ts'],
  [
    ...[...tab, ...hub, 'src/cli/completion/records.ts', 'src/cli/remote/backend.ts'],
    ...['src/cli/help/topics.ts', 'src/cli/help/overview.ts'],
  ],
  [...persona, ...tab, 'src/storage/stores/personas.ts', 'src/cli/completion/records.ts'],
]

/** Entries of processes that load little, which shall not load more. */
const isSmall = (entry) => /-child\.ts$|^src\/cli\/main\.ts$|verify-file\.ts$/.test(entry)

/**
 * Joins the files below `folder`, the output of `build` of esbuild with this metafile, in place. Files with an entry keep
 * their names. Throws where one of `loads` is no entry, or a file would not find a part.
 */
export async function joinFiles(build, folder, metafile) {
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]))
  const names = [...outputs.keys()].filter((name) => name.endsWith('.js'))
  const change = (name, alter) => {
    const path = join(folder, name)
    writeFileSync(path, alter(readFileSync(path, 'utf8')))
  }
  for (const name of names) change(name, withoutUnusedRequire)
  const fileOf = new Map(names.map((name) => [outputs.get(name).entryPoint, name]))
  const importsOf = (name) =>
    outputs
      .get(name)
      .imports.filter(({ kind, external }) => kind === 'import-statement' && !external)
      .map(({ path }) => basename(path))
  const reachedFrom = (starts) => {
    const reached = new Set(starts)
    for (const name of reached) for (const next of importsOf(name)) reached.add(next)
    return reached
  }
  const entryOf = (entry) => {
    if (!fileOf.has(entry)) throw new Error(`bundle: ${entry} is no longer imported on demand: see ${import.meta.url}`)
    return fileOf.get(entry)
  }
  const loaded = loads.map((entries) => reachedFrom(entries.map(entryOf)))
  const loadedBySmall = names
    .filter((name) => isSmall(outputs.get(name).entryPoint ?? ''))
    .map((name) => reachedFrom([name]))
  const isEntry = (name) => outputs.get(name).entryPoint !== undefined
  const imported = new Set(names.flatMap(importsOf))
  const entriesBetween = names.filter((name) => isEntry(name) && imported.has(name)).map((name) => reachedFrom([name]))
  const groups = new Map()
  for (const name of names.filter((each) => !isEntry(each))) {
    // An entry that reaches a file reaches all that it imports, so that no group leads back to itself by way of another, or of an entry.
    const ofCommands = loaded.map((files) => Number(files.has(name)))
    const ofSmall = loadedBySmall.map((files) => Number(files.has(name)))
    // What no command loads is joined for each child by itself: for all of them together it would hold what one loads in front of
    // every other.
    const by = ofCommands.includes(1) ? [...ofCommands, Number(ofSmall.includes(1))] : [...ofCommands, ...ofSmall]
    const behind = entriesBetween.map((files) => Number(files.has(name)))
    const key = by.includes(1) ? [...by, ...behind].join('') : name
    groups.set(key, [...(groups.get(key) ?? []), name])
  }
  const places = new Map()
  for (const members of groups.values())
    if (members.length > 1) await joinGroup(build, folder, members, outputs, places)
  for (const name of places.keys()) rmSync(join(folder, name))
  const left = names.filter((name) => !places.has(name))
  const joined = new Set([...places.values()].map(({ file }) => file))
  for (const name of [...left, ...joined]) change(name, (text) => redirected(text, places))
}

/** Writes the file of a group, and notes for each member where its exports are now. */
async function joinGroup(build, folder, members, outputs, places) {
  // The members' names hold digests of their texts.
  const file = `joined-${createHash('sha256').update(members.join('\n')).digest('hex').slice(0, 8)}.js`
  const taken = new Set()
  const lines = members.map((member) => {
    const exported = new Map(
      outputs.get(member).exports.map((name) => {
        let free = name
        for (let count = 2; taken.has(free); count++) free = `${name}$${count}`
        taken.add(free)
        return [name, free]
      }),
    )
    places.set(member, { file, exported })
    const clauses = [...exported].map(([name, free]) => (name === free ? name : `${name} as ${free}`))
    return `export { ${clauses.join(', ')} } from './${member}'`
  })
  const { outputFiles } = await build({
    absWorkingDir: folder,
    stdin: { contents: lines.join('\n'), resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    legalComments: 'inline',
    tsconfigRaw: '{}',
    logLevel: 'warning',
    plugins: [{ name: 'members', setup: (hooks) => ofMembers(hooks, folder, members) }],
  })
  // The names of the modules, which are comments that stay; and not those of the members.
  const text = outputFiles[0].text.replace(/^\/\/ (?:chunk-[\w-]+\.js|<stdin>)\n/gm, '').replace(/^\/\/! /gm, '// ')
  writeFileSync(join(folder, file), text)
}

function ofMembers({ onResolve, onLoad }, folder, members) {
  onResolve({ filter: /.*/ }, ({ path, kind }) => {
    const name = kind === 'import-statement' && path.startsWith('./') ? path.slice(2) : ''
    return members.includes(name) ? { path: join(folder, name) } : { path, external: true }
  })
  onLoad({ filter: /.*/ }, ({ path }) => ({
    contents: readFileSync(path, 'utf8').replace(/^\/\/ (?=(?:src|speech|node_modules|bin)\/)/gm, '//! '),
    loader: 'js',
  }))
}

/** The text with imports from the files that groups are in now. */
function redirected(text, places) {
  const changed = text.replace(/^import (?:\{([^}]*)\} from )?"\.\/(chunk-[\w-]+\.js)";$/gm, (all, clauses, name) => {
    const place = places.get(name)
    if (!place) return all
    if (clauses === undefined) return `import "./${place.file}";`
    const moved = clauses.split(',').map((clause) => {
      const [imported, local = imported] = clause.trim().split(' as ')
      const free = place.exported.get(imported)
      return free === local ? local : `${free} as ${local}`
    })
    return `import {\n  ${moved.join(',\n  ')}\n} from "./${place.file}";`
  })
  const lost = [...changed.matchAll(/"\.\/(chunk-[\w-]+\.js)"/g)].find(([, name]) => places.has(name))
  if (lost) throw new Error(`bundle: a file imports ${lost[1]} in a way that cannot be redirected`)
  return changed
}

/** The line in front of each file that makes a `require`: gone where the file has no use for it. */
export const requireLine =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)"

function withoutUnusedRequire(text) {
  const rest = text.startsWith(requireLine) ? text.slice(requireLine.length) : undefined
  return rest === undefined || /\brequire\b/.test(rest) ? text : rest.trimStart()
}
