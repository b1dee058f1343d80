// With --all only: many processes.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the program with a Node of its own')

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const folder = temporaryFolder()
const files: string[] = []

const isLinux = process.platform === 'linux'
/** A namespace of processes, mounts and network; root alone may make one with another root. */
const apart = ['--mount', '--net', '--pid', '--fork', '--mount-proc']
const mayEnter = isLinux && process.getuid?.() === 0 && spawnSync('unshare', [...apart, 'true']).status === 0
const skipped = (what: string): void =>
  void process.stdout.write(`skipped: ${what} (needs root on Linux, with namespaces)\n`)

test.before(() => {
  if (!isLinux) return
  // The Node that runs this, and the fastest compression: what is packed is the same.
  const script = `import { execFileSync } from 'node:child_process'
    import { writePortable } from ${JSON.stringify(join(root, 'bin', 'portable.mjs'))}
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' })
    const [{ files }] = JSON.parse(listed)
    const options = { ownNode: true, level: 1 }
    const made = writePortable(${JSON.stringify(folder)}, files.map(({ path }) => path), options)
    process.stdout.write(JSON.stringify(made))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  })
  assert.is(status, 0, stderr)
  files.push(...(JSON.parse(stdout) as string[]))
})

/** Runs a script of the shell; returns its output. */
function shell(script: string, [program, ...args]: readonly [string, ...string[]] = ['sh', '-ec', script]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  assert.is(status, 0, `${stdout}${stderr}`)
  return stdout
}

test('is unpacked and runs where nothing is but a shell and the C library, without a network', () => {
  if (!mayEnter) return skipped('the archive in an empty system')
  const empty = join(folder, 'empty')
  const libraries = ['sh', process.execPath].flatMap((program) =>
    [...shell(`ldd "$(command -v ${program})"`).matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!),
  )
  for (const path of new Set([...libraries, '/bin/sh'])) {
    mkdirSync(join(empty, dirname(path)), { recursive: true })
    copyFileSync(path, join(empty, path))
  }
  for (const name of ['tmp', 'home', 'dev']) mkdirSync(join(empty, name))
  // Children are started with it.
  shell(`mknod -m 666 ${empty}/dev/null c 1 3`)
  shell(`tar -C ${empty} -xzf ${files[0]} && mv ${empty}/aichat-toolkit-* ${empty}/aichat`)
  const run = (line: string) =>
    shell('', ['unshare', ...apart.slice(0, -1), 'chroot', empty, '/bin/sh', '-ec', `export HOME=/home\n${line}`])
  assert.match(run('/aichat/bin/aichat --version'), /^aichat \d+\.\d+\.\d+ \(aichat-toolkit\)\n$/)
  // A database, a file of the package, a voice and the neural runtime, each with its native or compiled part.
  run('/aichat/bin/aichat persona create --name ada -m openai:gpt-4o --local')
  assert.match(run('/aichat/bin/aichat persona list --plain --local'), /ada/)
  assert.match(run('cd /aichat && bin/aichat help aichat-chat'), 'aichat-chat')
  run('/aichat/bin/aichat tts --voice ryan -o /tmp/hello.wav "Hello there."')
  assert.is(readFileSync(join(empty, 'tmp', 'hello.wav')).toString('latin1', 0, 4), 'RIFF')
  assert.ok(existsSync(join(empty, 'aichat', 'share', 'man', 'man1', 'aichat.1')))
})

test('is a Debian package: installed without a network, kept data on removal, nothing left after a purge', () => {
  const [, packed] = files
  if (!mayEnter || !packed || !existsSync('/var/lib/dpkg/status')) return skipped('the Debian package')
  // A copy of this system in memory: what is installed there is gone with it.
  const upper = join(folder, 'upper')
  const within = `
    dpkg --install /aichat.deb >/dev/null
    aichat --version
    id -un aichat
    test -s /usr/lib/systemd/system/aichat.service && test -s /usr/share/man/man1/aichat.1.gz
    grep '^ExecStart=\\|^User=' /usr/lib/systemd/system/aichat.service
    mkdir -p /var/lib/aichat-toolkit && touch /var/lib/aichat-toolkit/aichat.db
    dpkg --remove aichat-toolkit >/dev/null
    test ! -e /usr/bin/aichat && test ! -d /usr/lib/aichat-toolkit && ls /var/lib/aichat-toolkit
    dpkg --purge aichat-toolkit >/dev/null
    test ! -e /var/lib/aichat-toolkit && ! id aichat 2>/dev/null && echo purged`
  const script = `mkdir ${upper} && mount -t tmpfs none ${upper} && mkdir ${upper}/new ${upper}/work ${upper}/root
    mount -t overlay overlay -o lowerdir=/,upperdir=${upper}/new,workdir=${upper}/work ${upper}/root || exit 77
    mount --bind /dev ${upper}/root/dev && mount -t proc proc ${upper}/root/proc
    cp ${packed} ${upper}/root/aichat.deb
    exec chroot ${upper}/root sh -ec '${within.replaceAll("'", `'\\''`)}'`
  const args = [...apart, 'sh', '-c', script]
  const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' })
  if (status === 77) return skipped('the Debian package: no overlay of file systems')
  assert.is(status, 0, `${stdout}${stderr}`)
  assert.equal(stdout.trim().split('\n').slice(1), [
    'aichat',
    'ExecStart=/usr/bin/aichat serve',
    'User=aichat',
    'aichat.db',
    'purged',
  ])
})

test('is a Debian package in which lintian finds no error', () => {
  if (!files[1] || !haveProgram('lintian')) return
  shell('', ['lintian', '--fail-on', 'error', '--no-tag-display-limit', files[1]])
})

test.run()
