// Installs and builds if needed, then runs aichat, the tests or the benches. Node built-ins only: runs before the installation.
//   set-up.mjs --run [ARG…]   runs aichat (no argument: `aichat serve`)
//   set-up.mjs --test [WORD…] runs the tests with a WORD in their path
//   set-up.mjs --bench [NAME] runs the benches
//   set-up.mjs --force        builds in any case
// Messages go to stderr: stdout belongs to the program that runs next.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'
import { recipeOf } from './recipe.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts) => join(root, ...parts)
const say = (text) => process.stderr.write(`${text}\n`)

const [mode = '--run', ...rest] = process.argv.slice(2)

const code = requireNode() ?? (await prepare())
if (code !== 0) process.exitCode = code
else if (mode === '--run') {
  process.argv = [process.argv[0], at('bin', 'aichat'), ...(rest.length > 0 ? rest : ['serve'])]
  await import('./aichat')
} else if (mode === '--test') {
  process.argv = [process.argv[0], at('dist', 'test', 'run.js'), ...rest]
  await import(pathToFileURL(process.argv[1]))
} else if (mode === '--bench') {
  process.argv = [process.argv[0], at('dist', 'test', 'bench', 'run.js'), ...rest]
  await import(pathToFileURL(process.argv[1]))
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return undefined
  say(`aichat needs Node 20.19 or newer; this is ${process.versions.node}.`)
  return 78
}

/** Installs and builds if sources changed; returns an exit code. */
async function prepare() {
  if (installed() && built() && mode !== '--force') return 0
  const unlock = lock()
  if (!unlock) return 75
  try {
    if (!installed()) {
      say('aichat: installing packages (compiling the database may take a minute) …')
      // onnxruntime-node would download GPU libraries; the package has the CPU library.
      const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip', ...nodeHeaders() }
      const failed = run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], env)
      if (failed) {
        say(
          'aichat: `npm ci` failed. It needs the npm registry and, without a prebuilt database, python3 and a C++ compiler.',
        )
        return failed
      }
      writeFileSync(at('node_modules', '.aichat-lock'), lockDigest())
    }
    if (!built() || mode === '--force') {
      say('aichat: building …')
      rmSync(at('dist', '.stamp'), { force: true })
      const failed =
        run(process.execPath, [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', root], process.env) ||
        (await bundled()) ||
        buildData()
      if (failed) {
        say('aichat: the build failed; see the lines above.')
        return failed
      }
      removeStaleOutput()
      writeFileSync(at('dist', '.stamp'), sourceDigest())
    }
    return 0
  } finally {
    unlock()
  }
}

/** Bundles the program; returns an exit code. */
async function bundled() {
  return bundle(root).then(
    () => 0,
    (reason) => {
      say(`aichat: ${reason.message}`)
      return 70
    },
  )
}

/** Removes the output of moved and removed sources, since tests among it would still run. */
function removeStaleOutput() {
  for (const folder of ['src', 'speech', 'test'])
    for (const entry of readdirSync(at('dist', folder), { recursive: true }))
      if (/\.js$/.test(entry) && !existsSync(at(folder, entry.replace(/\.js$/, '.ts'))))
        rmSync(at('dist', folder, entry))
}

/**
 * Trains the built-in word vectors from a development package, again when the package or a program of the training changes.
 */
function buildData() {
  const script = at('dist', 'src', 'word-vectors', 'train.js')
  const target = at('dist', 'data', 'word-vectors.bin')
  const stamp = `${target}.stamp`
  const recipe = recipeOf(root, 'src/word-vectors/train.ts').update(lockDigest()).digest('hex')
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === recipe) return 0
  const failed = run(process.execPath, [script, target], process.env)
  if (!failed) writeFileSync(stamp, recipe)
  return failed
}

function installed() {
  const stamp = at('node_modules', '.aichat-lock')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === lockDigest()
}

function built() {
  const stamp = at('dist', '.stamp')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceDigest()
}

function lockDigest() {
  return createHash('sha256')
    .update(readFileSync(at('package-lock.json')))
    .update(process.versions.modules)
    .digest('hex')
}

/** A digest of names, sizes and times of all sources: cheap, and different after every edit and checkout. */
function sourceDigest() {
  return digestOf(['src', 'speech', 'test'])
    .update(readFileSync(at('tsconfig.json')))
    .update(readFileSync(at('package.json')))
    .update(readFileSync(at('bin', 'bundle.mjs')))
    .digest('hex')
}

function digestOf(folders) {
  const hash = createHash('sha256')
  for (const folder of folders) {
    for (const entry of readdirSync(at(folder), { recursive: true }).sort()) {
      if (!entry.endsWith('.ts')) continue
      const { size, mtimeMs } = statSync(at(folder, entry))
      hash.update(`${folder}/${entry} ${size} ${mtimeMs}\n`)
    }
  }
  return hash
}

/** Locks the set-up: a second one waits up to ten minutes; the lock of a process that ended is taken over. */
function lock() {
  const path = at('.set-up.lock')
  for (let waited = 0; waited < 600; waited++) {
    try {
      mkdirSync(path)
      writeFileSync(join(path, 'pid'), String(process.pid))
      return () => rmSync(path, { recursive: true, force: true })
    } catch (reason) {
      if (reason.code !== 'EEXIST') throw reason
      if (!ownerLives(join(path, 'pid'))) rmSync(path, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
    }
  }
  say(`aichat: another set-up has held ${path} for ten minutes; remove it if none is running.`)
  return undefined
}

function ownerLives(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0)
    return true
  } catch (reason) {
    // The pid file may not be written yet: such a lock is stale after 2 s.
    return (
      reason.code === 'EPERM' ||
      (reason.code === 'ENOENT' &&
        Date.now() - (statSync(dirname(file), { throwIfNoEntry: false })?.mtimeMs ?? 0) < 2000)
    )
  }
}

/** Node's headers beside its binary, so that compiling the database downloads nothing. */
function nodeHeaders() {
  const prefix = dirname(dirname(process.execPath))
  return existsSync(join(prefix, 'include', 'node', 'node.h')) ? { npm_config_nodedir: prefix } : {}
}

function run(command, args, env) {
  const { status, signal, error } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 2, 2] })
  if (error) say(`aichat: could not run ${command}: ${error.message}`)
  return signal ? 128 + constants.signals[signal] : (status ?? 70)
}
