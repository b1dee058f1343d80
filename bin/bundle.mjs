// Bundles the program: each module that starts as a process of its own becomes a file of `dist/bundle`, beside the files that
// they share, of which merge.mjs joins those that are loaded together. A command then loads some forty files in place of 240.
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { pastDoors } from './doors.mjs'
import { joinFiles, requireLine } from './merge.mjs'
import { searchableNgrams } from './ngrams.mjs'

/** Error texts of zod in English alone: its 50 languages are half of it. */
export const englishErrors = {
  name: 'english-errors',
  setup({ onLoad }) {
    const contents = "export { default as en } from './en.js'\n"
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents, loader: 'js' }))
  },
}

/**
 * Of undici the dispatcher alone: its index loads fetch, WebSocket, caches and mocks too, which is two thirds of it, and makes
 * Node load its own copy of them.
 */
const dispatcherAlone = {
  name: 'dispatcher-alone',
  setup({ onLoad }) {
    const contents = "exports.Agent = require('./lib/dispatcher/agent')\n"
    onLoad({ filter: /[\\/]node_modules[\\/]undici[\\/]index\.js$/ }, () => ({ contents, loader: 'js' }))
  },
}

/**
 * listhen without the parts that it is not asked for: its own certificates (node-forge), a tunnel, a clipboard, a page that it opens, and a
 * server for development. Each of them would fail to load.
 */
const listenerAlone = {
  name: 'listener-alone',
  setup({ onLoad, onResolve }) {
    const importer = /[\\/]node_modules[\\/]listhen[\\/]/
    onResolve({ filter: /^node-forge$/ }, (of) => importer.test(of.importer) && { path: of.path, namespace: 'absent' })
    onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'export default {}', loader: 'js' }))
    const unused = /^(?:untun|tinyclip|jiti|crossws\/adapters\/node|@parcel\/watcher(?:-wasm)?|.*\/xdg-open\.mjs)$/
    onResolve({ filter: unused }, (of) => importer.test(of.importer) && { path: of.path, external: true })
  },
}

/**
 * No exit handlers of conf's: they remove temporary files, and send a signal that comes to the process to it once more, which
 * reloads a service twice and ends one that still answers.
 */
const noExitHandlers = {
  name: 'no-exit-handlers',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]when-exit[\\/]dist[\\/]node[\\/]index\.js$/ }, () => ({
      contents: 'export default () => () => {}',
    }))
  },
}

/** OpenTelemetry at its use alone: prom-client asks it for exemplars, which are off here, and loads its forty files for that. */
const exemplarsOnDemand = {
  name: 'exemplars-on-demand',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]prom-client[\\/]lib[\\/]metrics[\\/]processCpuTotal\.js$/ }, ({ path }) => {
      const loading = "const OtelApi = require('@opentelemetry/api');"
      const text = readFileSync(path, 'utf8')
      if (!text.includes(loading)) throw new Error(`${path} loads OpenTelemetry in another way than before`)
      const contents = text.replace(loading, '').replaceAll('OtelApi.', "require('@opentelemetry/api').")
      return { contents, loader: 'js' }
    })
  },
}

/** markdown-it with the names of characters on demand: their table is a third of it, and few texts have any. */
const entitiesOnDemand = (root) => ({
  name: 'entities-on-demand',
  setup({ onResolve }) {
    const path = join(root, 'src', 'console', 'components', 'entities.ts')
    const importer = /[\\/]node_modules[\\/]markdown-it[\\/]/
    onResolve({ filter: /^entities$/ }, (of) => importer.test(of.importer) && { path })
  },
})

/** Writes `dist/bundle` anew below `root`, from the sources. Throws where they do not compile. */
export async function bundle(root) {
  const { build } = compiler(root)
  const { dependencies, optionalDependencies, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // Bundled are the development packages: those of JavaScript alone that a start loads, of which zod and undici have a hundred
  // files each, and Node reads each CommonJS module twice, first for the names that it exports; and inquirer, since later
  // versions of its parts ask for a newer Node. The others are imported from where npm put them.
  const external = Object.keys({ ...dependencies, ...optionalDependencies })
  const fresh = join(root, 'dist', 'bundle.new')
  rmSync(fresh, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: {
      main: imports['#main'].development,
      ...childEntries(root),
    },
    outdir: fresh,
    // All in one folder, so that the address of a file beside another is the same from the files that they share.
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    charset: 'utf8',
    legalComments: 'inline',
    // The CommonJS packages behind inquirer require modules of Node.
    banner: { js: requireLine },
    tsconfigRaw: '{}',
    plugins: [
      pastDoors(root),
      englishErrors,
      dispatcherAlone,
      listenerAlone,
      noExitHandlers,
      exemplarsOnDemand,
      searchableNgrams,
    ],
    external: ['#onnxruntime', 'onnxruntime-node', ...external.flatMap((name) => [name, `${name}/*`])],
    logLevel: 'warning',
  })
  await joinFiles(build, fresh, metafile)
  cpSync(join(root, 'node_modules', 'pdfjs-dist', 'cmaps'), join(fresh, 'cmaps'), { recursive: true })
  const ofConsole = await bundleConsole(root, join(fresh, 'console'))
  const packages = packagesOf([...Object.keys(metafile.inputs), ...ofConsole])
  writeFileSync(join(fresh, 'LICENSES'), licencesOf(root, packages))
  // For the SBOM of the published package.
  writeFileSync(join(fresh, 'packages.json'), `${JSON.stringify(packages)}\n`)
  const place = join(root, 'dist', 'bundle')
  rmSync(place, { recursive: true, force: true })
  renameSync(fresh, place)
}

/**
 * Bundles the web console for browsers into files named by the hash of their content, each compressed here once.
 * Returns the sources that went into the bundle.
 */
async function bundleConsole(root, folder) {
  const { metafile } = await compiler(root).build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: ['src/console/main.tsx', 'src/console/icon.svg'],
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy', '.woff2': 'file' },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    // Browsers of 2023 on: popovers, nested styles, and :has().
    target: ['chrome120', 'firefox121', 'safari17.2'],
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [entitiesOnDemand(root)],
    tsconfigRaw: '{}',
    logLevel: 'warning',
  })
  const outputs = Object.entries(metafile.outputs)
  const named = (pattern) => outputs.map(([path]) => basename(path)).find((name) => pattern.test(name))
  const [, main] = outputs.find(([, { entryPoint }]) => entryPoint === 'src/console/main.tsx')
  const shared = main.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path))
  const asset = (name) => `/console/assets/${name}`
  const page = readFileSync(join(root, 'src', 'console', 'index.html'), 'utf8')
    .replace('{{icon}}', asset(named(/^icon-.*\.svg$/)))
    .replace('{{font}}', asset(named(/^geist-latin-wght-normal-.*\.woff2$/)))
    .replace('{{style}}', asset(named(/^main-.*\.css$/)))
    .replace('{{script}}', asset(named(/^main-.*\.js$/)))
    .replace('{{preloads}}', shared.map((name) => `<link rel="modulepreload" href="${asset(name)}" />`).join('\n    '))
  writeFileSync(join(folder, 'index.html'), page)
  for (const name of readdirSync(folder)) {
    // A font is compressed already.
    if (name.endsWith('.woff2')) continue
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
  return Object.keys(metafile.inputs)
}

/** The npm packages with files in the bundle, as folders below `root`. */
function packagesOf(files) {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return [...new Set(folders)].sort()
}

function licencesOf(root, folders) {
  return folders
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
      const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry))
      const text = file ? readFileSync(join(root, folder, file), 'utf8') : `Licence: ${license}\n`
      return `${name} ${version}\n\n${text.trim()}\n`
    })
    .join('\n\n')
}

/** Writes a module with all that it imports from the sources as one file. Resolves with the files that went in, below `root`. */
export async function bundleModule(root, source, target) {
  const { metafile } = await compiler(root).build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: [source],
    outfile: target,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    plugins: [pastDoors(root)],
    tsconfigRaw: '{}',
    logLevel: 'warning',
  })
  return Object.keys(metafile.inputs)
}

/** The modules that run as processes of their own. */
function childEntries(root) {
  const children = sources(root).filter((path) => path.endsWith('-child.ts'))
  return Object.fromEntries(children.map((path) => [basename(path, '.ts'), path]))
}

function sources(root) {
  return ['src', 'speech'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((entry) => /\.(?:tsx?|css|html|svg)$/.test(entry))
      .map((entry) => join(root, folder, entry)),
  )
}

/** esbuild, as tsx depends on it. */
function compiler(root) {
  const tsx = createRequire(join(root, 'package.json')).resolve('tsx/package.json')
  return createRequire(tsx)('esbuild')
}
