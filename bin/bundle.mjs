// Bundles the program: each module that starts as a process of its own becomes a file of `dist/bundle`, beside the files that
// they share. A command then loads some sixty files in place of 240, and takes a fifth less CPU time.
import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'

/** zod is bundled, since it has a hundred files of its own; npm's other packages are imported from where npm put them. */
const bundled = ['zod']

/** Writes `dist/bundle` anew below `root`, from the sources. Throws where they do not compile. */
export async function bundle(root) {
  const { build } = compiler(root)
  const { dependencies, optionalDependencies, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const external = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !bundled.includes(name))
  const fresh = join(root, 'dist', 'bundle.new')
  rmSync(fresh, { recursive: true, force: true })
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: imports['#main'].development,
      complete: imports['#complete'].development,
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
    tsconfigRaw: '{}',
    external: external.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'warning',
  })
  for (const name of bundled) copyFileSync(join(root, 'node_modules', name, 'LICENSE'), join(fresh, `${name}.LICENSE`))
  const place = join(root, 'dist', 'bundle')
  rmSync(place, { recursive: true, force: true })
  renameSync(fresh, place)
}

/** Bundles again where a source was changed since. */
export async function bundleIfStale(root) {
  const made = statSync(join(root, 'dist', 'bundle', 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (sources(root).some((path) => statSync(path).mtimeMs > made)) await bundle(root)
}

/** The modules that run as processes of their own. */
function childEntries(root) {
  const children = sources(root).filter((path) => path.endsWith('-child.ts'))
  return Object.fromEntries(children.map((path) => [basename(path, '.ts'), path]))
}

function sources(root) {
  return ['src', 'speech'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((entry) => entry.endsWith('.ts'))
      .map((entry) => join(root, folder, entry)),
  )
}

/** esbuild, as tsx depends on it. */
function compiler(root) {
  const tsx = createRequire(join(root, 'package.json')).resolve('tsx/package.json')
  return createRequire(tsx)('esbuild')
}
