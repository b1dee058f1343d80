// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { aichatCommand, openHome } from '../../helpers/program/command.ts'
import { suite } from '../../helpers/suite.ts'
import { type ShownTalk, scene } from './talk-scene.ts'

const test = suite('what is taken away from a chat, or is not ours')
const isRoot = process.getuid?.() === 0
const asRoot = isRoot ? test : test.skip

/** The user id of `nobody`. */
const other = 65_534

asRoot('a history file of another user is neither read nor written, and the conversation goes on', () =>
  scene(async ({ talk, home: { folder } }) => {
    const first = await talk()
    await say(first, 'mine', /heard: mine/)
    await first.leave()
    const typed = join(folder, 'typed')
    const path = join(typed, readdirSync(typed)[0]!)
    writeFileSync(path, '"of another"\n')
    chownSync(path, other, other)
    // One line, however long the path of the folder is.
    const shown = await talk([], {
      size: [400, 24],
      begun: /the history .*is not used: it belongs to another user\n> $/,
    })
    shown.type('\x1b[A')
    await say(shown, 'hello', /heard: hello/)
    await shown.leave()
    assert.is(readFileSync(path, 'utf8'), '"of another"\n')
    assert.is(statSync(path).uid, other)
  }),
)

test('one that is removed during an answer is told behind it, stopped or whole', () =>
  scene(async ({ talk, home, saved }) => {
    const shown = await talk(['-s', 'Trip'])
    shown.type('ENDLESS\r')
    await shown.until(/Once upon/)
    assert.is((await home.aichat(['session', 'remove', 'Trip', '--yes'])).code, 0)
    shown.type('\x03')
    await shown.until(/stopped; what was said could not be kept: Session "[^"]*" not\s+found/)
    assert.equal(await saved(), [])
    await shown.leave()
  }))

test.whole('a data folder that may be read alone is named with its path: 74', async () => {
  const home = openHome()
  try {
    assert.is((await home.aichat(['session', 'list'])).code, 0)
    readableAlone(home.folder)
    const { code, stdout, stderr } = await asOther(home.folder, ['session', 'list'])
    assert.equal([code, stdout], [74, ''], stderr)
    assert.match(stderr, /The database \S+\/aichat\.db cannot be opened for writing/)
  } finally {
    chmodSync(home.folder, 0o755)
    home.remove()
  }
})

test.run()

async function say(shown: ShownTalk, text: string, expected: RegExp): Promise<void> {
  shown.type(`${text}\r`)
  await shown.until(new RegExp(`${expected.source}[\\s\\S]*> $`))
}

function readableAlone(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) readableAlone(path)
    else chmodSync(path, 0o444)
  }
  chmodSync(folder, 0o555)
}

/**
 * Runs a command as another user where this one may write everywhere. That user may not reach the folder by its path; as the
 * working folder it is entered before the user changes.
 */
function asOther(folder: string, words: readonly string[]) {
  const [program, ...args] = aichatCommand
  const home = isRoot ? '/proc/self/cwd' : folder
  const child = spawn(program!, [...args, ...words], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9' },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
    ...(isRoot && { uid: other, gid: other }),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout, stderr })),
  )
}
