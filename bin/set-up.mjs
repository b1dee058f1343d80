// Installs and builds what is missing or older than its sources, then runs aichat, the tests or the benches. Node built-ins
// only: runs before the installation.
//   set-up.mjs --run [ARG…]   runs aichat (no argument: `aichat serve`); word vectors are trained in the background
//   set-up.mjs --test [--all | WORD…] runs the first tier of the tests, all of them, or those with a WORD in their path
//   set-up.mjs --bench [NAME] runs the benches; --soak MINUTES and --chaos ROUNDS likewise
//   set-up.mjs --build        builds all of it anew
//   set-up.mjs --pack         the same, for the published package
//   set-up.mjs --vectors      trains the word vectors
// Messages go to stderr: stdout belongs to the program that runs next.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lock } from './lock.mjs'
import { prepareAll, prepareProgram, root, trainInBackground, trainVectors } from './steps.mjs'

const [mode = '--run', ...rest] = process.argv.slice(2)
const isWhole = mode !== '--run'

const code = requireNode() ?? (mode === '--vectors' ? await vectors() : await prepare())
if (code !== 0) process.exitCode = code
else if (mode === '--run') {
  process.argv = [process.argv[0], join(root, 'bin', 'aichat'), ...(rest.length > 0 ? rest : ['serve'])]
  await import('./aichat')
} else if (['--test', '--bench', '--soak', '--chaos'].includes(mode)) {
  const program = mode === '--test' ? ['run.js'] : [mode.slice(2), 'run.js']
  process.argv = [process.argv[0], join(root, 'dist', 'test', ...program), ...rest]
  await import(pathToFileURL(process.argv[1]))
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return undefined
  process.stderr.write(`aichat needs Node 20.19 or newer; this is ${process.versions.node}.\n`)
  return 78
}

/** Installs and builds for the chosen mode; returns an exit code. */
async function prepare() {
  const unlock = lock(join(root, '.set-up.lock'))
  if (!unlock) return 75
  try {
    const failed = isWhole
      ? await prepareAll({ anew: mode === '--build' || mode === '--pack', published: mode === '--pack' })
      : await prepareProgram()
    if (failed) return failed
  } finally {
    unlock()
  }
  if (isWhole) return vectors()
  trainInBackground()
  return 0
}

/** Trains the word vectors if their sources changed; one process at a time. */
async function vectors() {
  const unlock = lock(join(root, '.vectors.lock'))
  if (!unlock) return 75
  try {
    return await trainVectors()
  } finally {
    unlock()
  }
}
