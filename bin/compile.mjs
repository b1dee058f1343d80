// Writes the sources and the tests to `dist`, one module for each: types are taken away, and `.ts` in the names of imported
// files becomes `.js`. Types are checked by `npm run check` alone: here that would be most of the time.
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { englishErrors } from './bundle.mjs'
import { pastDoors } from './doors.mjs'

const folders = ['src', 'speech', 'test']

/** Compiles all modules below `root`, and removes the output of those that are gone. Throws where one has a syntax error. */
export async function compileModules(root) {
  const { build, stop } = createRequire(join(root, 'package.json'))('esbuild')
  const sources = folders.flatMap((folder) => modulesIn(root, folder))
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: sources,
    outbase: root,
    outdir: join(root, 'dist'),
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [pastDoors(root)],
    tsconfigRaw: '{ "compilerOptions": { "verbatimModuleSyntax": true } }',
    logLevel: 'warning',
  })
  const made = new Set()
  const places = new Set(outputFiles.map(({ path }) => dirname(path)))
  for (const place of places) mkdirSync(place, { recursive: true })
  for (const { path, text } of outputFiles) {
    made.add(relative(join(root, 'dist'), path))
    writeFileSync(path, path.endsWith('.js') ? text.replace(importOfSource, '$1.js"') : text)
  }
  await joinZod(build, root)
  // Its process keeps a gigabyte while it lives, and would live as long as the tests.
  await stop()
  for (const folder of folders) removeOthers(join(root, 'dist'), folder, made)
}

/**
 * Writes zod as one file where the modules find it first: its hundred files, half of them languages, cost each process that
 * loads them 0.15 s of a core.
 */
async function joinZod(build, root) {
  const folder = join(root, 'dist', 'node_modules', 'zod')
  await build({
    stdin: { contents: "export * from 'zod'", resolveDir: root },
    outfile: join(folder, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    plugins: [englishErrors],
  })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "exports": "./index.js" }\n')
}

/** The name of a source in an import or an export, as esbuild writes them: in a line of its own, or called in one. */
const importOfSource = /((?:^(?:import|export|\}).*? from |^import |\bimport\()"\.{1,2}\/[^"\n]+)\.ts"/gm

/** The console is bundled for browsers and has no module here. */
function modulesIn(root, folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((entry) => entry.endsWith('.ts') && !entry.endsWith('.d.ts'))
    .map((entry) => join(folder, entry))
    .filter((path) => !path.startsWith(join('src', 'console')))
}

/** Removes the output of moved and removed sources, since tests among it would still run. */
function removeOthers(dist, folder, made) {
  if (!existsSync(join(dist, folder))) return
  for (const entry of readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, entry)
    if (/\.js(?:\.map)?$/.test(path) && !made.has(path)) rmSync(join(dist, path))
  }
}
