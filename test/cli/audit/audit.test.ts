// Some with --all only: many processes.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../helpers/folders.ts'
import { pluck } from '../../helpers/pluck.ts'
import { goodPassword } from '../../helpers/program/daemon.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { type Ran, runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat audit')

/** There is no bus, so there is no keychain: as on a server without a desktop. */
process.env['DBUS_SESSION_BUS_ADDRESS'] = 'unix:path=/nonexistent'

interface Row {
  readonly action: string
  readonly actor_name: string | null
  readonly subject: string | null
  readonly subject_name: string | null
  readonly address: string | null
}

test.whole('what commands change on this machine is recorded without an address, and no value of it', () =>
  withHome(async ({ aichat, rows }) => {
    await aichat(['setup', '--username', 'ada', '--password-stdin'], goodPassword)
    await aichat(['config', 'set', 'chat.model', 'some-model'])
    await aichat(['config', 'unset', 'chat.model'])
    await aichat(['secret', 'set', 'GROQ_API_KEY', '--insecure-storage'], 'gsk-value-of-the-key')
    await aichat(['secret', 'remove', 'GROQ_API_KEY'])
    await aichat(['plugin', 'install', 'plugin.json'])
    await aichat(['users', 'create', 'bob', '--password-stdin'], 'Passw0rd-of-bob')
    await aichat(['users', 'remove', 'bob', '--yes'])
    const backup = (await aichat(['backup', 'create'])).stdout.trim()
    await aichat(['backup', 'remove', backup])
    await aichat(['plugin', 'list'])
    const found = await rows()
    assert.equal(
      found.map((row) => [row.action, row.actor_name, row.subject_name ?? row.subject]),
      [
        ['backups.remove', 'local', backup],
        ['backups.create', 'local', backup],
        ['users.remove', 'ada', 'bob'],
        ['users.create', 'ada', 'bob'],
        ['plugins.install', 'local', 'custom'],
        ['secrets.remove', 'local', 'GROQ_API_KEY'],
        ['secrets.set', 'local', 'GROQ_API_KEY'],
        ['settings.unset', 'local', 'chat.model'],
        ['settings.set', 'local', 'chat.model'],
        ['setup', 'ada', null],
      ],
    )
    assert.ok(found.every(({ address }) => address === null))
    for (const value of ['some-model', 'gsk-value', 'Passw0rd']) assert.not.ok(JSON.stringify(found).includes(value))
  }),
)

test('a persona is recorded by its id, also where a command names it', () =>
  withHome(async ({ aichat, rows }) => {
    const id = (await aichat(['persona', 'create', '--name', 'Mia', '-m', 'm'])).stdout.trim()
    for (const deed of ['backup', 'export', 'remove']) await aichat(['persona', deed, 'Mia', '--yes'])
    const found = await rows()
    assert.equal(
      pluck(found, 'action', 'subject'),
      ['remove', 'export', 'backup'].map((deed) => [`personas.${deed}`, id]),
    )
    assert.not.match(JSON.stringify(found), 'Mia')
  }))

test('it is a table, filtered by actor, area and time, and says what a page leaves out', () =>
  withHome(async ({ aichat }) => {
    await aichat(['setup', '--username', 'ada', '--password-stdin'], goodPassword)
    for (const name of ['bob', 'zoe']) await aichat(['users', 'create', name, '--password-stdin'], goodPassword)
    await aichat(['config', 'set', 'chat.model', 'some-model'])
    const page = await aichat(['audit', '--action', 'users', '--actor', 'ada', '--since', '1d', '-n', '1'])
    const [heading, row, rest] = page.stdout.split('\n')
    assert.match(heading!, /^TIME +ACTOR +ACTION +OUTCOME +ADDRESS +SUBJECT$/)
    assert.match(row!, /^(?:today|yesterday) \d+:\d\d:\d\d +ada +users\.create +ok +zoe$/)
    assert.is(rest, '')
    assert.is(page.stderr, 'aichat: 2 in all; --offset 1 shows the next\n')
    assert.match((await aichat(['audit', '--until', '2020-01-01'])).stderr, /no entry matches/)
    assert.is((await aichat(['audit', '--since', 'never'], undefined, 65)).stdout, '')
    const byBob = await aichat(['audit', '--as', 'bob'], undefined, 77)
    assert.match(byBob.stderr, /Only an administrator/)
  }))

test('an installation without a database gets none for its audit', () =>
  withHome(async ({ aichat, home }) => {
    await aichat(['config', 'set', 'chat.model', 'some-model'])
    await aichat(['plugin', 'install', 'plugin.json'])
    assert.not.ok(existsSync(join(home, 'aichat.db')))
    writeFileSync(join(home, 'aichat.db'), 'no database')
    const { stderr } = await aichat(['plugin', 'remove', 'custom', '--yes'])
    assert.match(stderr, /what was done is not in the audit/)
  }))

test.run()

interface Scene {
  readonly home: string
  /** Throws where the command ends with another code. */
  aichat(words: readonly string[], input?: string, code?: number): Promise<Ran>
  rows(): Promise<readonly Row[]>
}

async function withHome(work: (scene: Scene) => Promise<void>): Promise<void> {
  const home = temporaryFolder()
  const file = join(home, 'plugin.json')
  writeFileSync(file, JSON.stringify(pluginAt('http://127.0.0.1:9')))
  const aichat: Scene['aichat'] = async (words, input, code = 0) => {
    const ran = await runMain(
      words.map((word) => (word === 'plugin.json' ? file : word)),
      {
        environment: { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9' },
        ...(input !== undefined && { input }),
      },
    )
    assert.is(ran.code, code, `${words.join(' ')}: ${ran.stderr}`)
    return ran
  }
  await work({ home, aichat, rows: async () => JSON.parse((await aichat(['audit', '--json'])).stdout).entries })
}
