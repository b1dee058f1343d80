import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the neural runtime beside the program')

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

/** A project with our onnxruntime-node. */
const folder = temporaryFolder()
mkdirSync(join(folder, 'node_modules'))
for (const name of ['onnxruntime-node', 'onnxruntime-common'])
  symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
writeFileSync(join(folder, 'package.json'), '{"name":"project"}')
function place(platforms?: readonly string[]): string {
  const script = `import { placeRuntime } from ${JSON.stringify(join(root, 'bin', 'runtime.mjs'))}
    placeRuntime(${JSON.stringify(folder)}, ${JSON.stringify(platforms)})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.is(status, 0, stderr)
  return join(folder, 'dist', 'onnxruntime-node')
}

test('has no install script, names its licence, and computes', () => {
  const placed = place()
  const { scripts, license } = JSON.parse(readFileSync(join(placed, 'package.json'), 'utf8')) as Record<string, unknown>
  assert.is(scripts, undefined)
  assert.is(license, 'MIT')
  assert.match(readFileSync(join(placed, 'LICENSE'), 'utf8'), 'Copyright (c) Microsoft Corporation')
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '-e',
      `console.log(require(${JSON.stringify(placed)}).listSupportedBackends().map((each) => each.name).join(' '))`,
    ],
    { encoding: 'utf8' },
  )
  assert.match(stdout, /\bcpu\b/, stderr)
})

test('holds the libraries of the platforms that are asked for, and passes over one that there is none for', () => {
  const placed = place(['linux/x64', 'darwin/arm64', 'plan9/x64'])
  assert.equal(readdirSync(join(placed, 'bin', 'napi-v6')).sort(), ['darwin', 'linux'])
  assert.equal(readdirSync(join(placed, 'bin', 'napi-v6', 'linux')), ['x64'])
})

test('the published package names no dependency that runs an install script, but for the database and the optional keychain', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; hasInstallScript?: boolean }>
  }
  const scripted = Object.entries(packages).filter(
    ([path, { dev, hasInstallScript }]) => path !== '' && !dev && hasInstallScript,
  )
  // bcrypt looks for the prebuilt library that its npm file holds.
  assert.equal(scripted.map(([path]) => path.slice('node_modules/'.length)).sort(), [
    'bcrypt',
    'better-sqlite3',
    'keytar',
  ])
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const name of ['preinstall', 'install', 'postinstall']) assert.is(scripts[name], undefined)
})

test.run()
