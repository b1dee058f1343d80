import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat plugin')
const document = pluginAt('https://chat.example')

test('installs from a file, prints the id, and refuses an id that is taken', () =>
  withHome(async (home) => {
    const file = write(home, 'x.json', document)
    const first = await home.aichat(['plugin', 'install', file])
    assert.equal([first.code, first.stdout], [0, 'custom\n'])
    const second = await home.aichat(['plugin', 'install', file])
    assert.is(second.code, 65)
    assert.match(second.stderr, /Plugin "custom" already exists/)
    assert.is((await home.aichat(['plugin', 'install', '--force', file])).code, 0)
  }))

test('installs from stdin and makes it the active one', () =>
  withHome(async (home) => {
    const installed = await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(document) })
    assert.is(installed.code, 0)
    assert.match(installed.stderr, /CUSTOM_API_KEY is not set/)
    assert.is((await home.aichat(['plugin', 'current'])).stdout, 'custom\n')
  }))

test('installs from an address, and follows no redirect', () =>
  withHome(async (home) => {
    const server = await openStandIn((request, response) => {
      if (request.url === '/x.json') return json(response, 200, document)
      response.writeHead(302, { location: '/x.json' }).end()
    })
    assert.is((await home.aichat(['plugin', 'install', `${server.url}/x.json`])).code, 0)
    assert.is((await home.aichat(['plugin', 'install', '--force', `${server.url}/moved`])).code, 69)
    await server.close()
  }))

test('names every problem of an invalid file and stores nothing', () =>
  withHome(async (home) => {
    const { code, stdout, stderr } = await home.aichat([
      'plugin',
      'install',
      write(home, 'x.json', { ...document, id: 'A B', endpoint: 'ftp://x', model_map: [] }),
    ])
    assert.is(code, 65)
    assert.is(stdout, '')
    for (const path of ['id: ', 'endpoint: ', 'model_map: ']) assert.match(stderr, new RegExp(path))
    assert.not.ok(existsSync(join(home.folder, 'plugins', 'A B.json')))
  }))

test('tells an absent file, a folder and broken JSON apart', () =>
  withHome(async (home) => {
    const absent = await home.aichat(['plugin', 'install', join(home.folder, 'absent.json')])
    assert.is(absent.code, 66)
    assert.match(absent.stderr, /file or folder not found/)
    assert.is((await home.aichat(['plugin', 'install', home.folder])).code, 66)
    const broken = join(home.folder, 'broken.json')
    writeFileSync(broken, '{"id": "x",\n  oops')
    const { code, stderr } = await home.aichat(['plugin', 'install', broken])
    assert.is(code, 65)
    assert.match(stderr, /line 2/)
  }))

test('validate checks many files offline and says which are invalid', () =>
  withHome(async (home) => {
    const good = write(home, 'good.json', document)
    const bad = write(home, 'bad.json', { id: 'x' })
    const { code, stdout } = await home.aichat(['plugin', 'validate', good, bad])
    assert.is(code, 65)
    assert.match(stdout, new RegExp(`ok +${good}`))
    assert.match(stdout, new RegExp(`invalid ${bad}\\n  name: is missing`))
    assert.is((await home.aichat(['plugin', 'validate', good])).code, 0)
    assert.is((await home.aichat(['plugin', 'validate', good, join(home.folder, 'absent')])).code, 66)
  }))

test('export writes a document that can be installed again, and refuses to overwrite', () =>
  withHome(async (home) => {
    await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(document) })
    const target = join(home.folder, 'out.json')
    assert.is((await home.aichat(['plugin', 'export', 'custom', '-o', target])).code, 0)
    assert.equal(JSON.parse(readFileSync(target, 'utf8')), document)
    assert.is((await home.aichat(['plugin', 'export', 'custom', '-o', target])).code, 73)
    assert.is((await home.aichat(['plugin', 'export', 'custom', '-o', target, '--force'])).code, 0)
    assert.is(
      (await home.aichat(['plugin', 'export', 'custom', '-o', join(home.folder, 'no', 'such', 'folder.json')])).code,
      73,
    )
  }))

test('remove asks, and without a terminal it needs --yes', () =>
  withHome(async (home) => {
    await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(document) })
    const asked = await home.aichat(['plugin', 'remove', 'custom'], { input: 'y\n' })
    assert.is(asked.code, 64)
    assert.match(asked.stderr, /--yes/)
    assert.is((await home.aichat(['plugin', 'show', 'custom'])).code, 0)
    assert.equal(JSON.parse((await home.aichat(['plugin', 'remove', 'custom', '--yes', '--json'])).stdout), {
      id: 'custom',
      removed: true,
      restored: false,
    })
    assert.is((await home.aichat(['plugin', 'remove', 'custom', '--yes'])).code, 67)
  }))

test('list shows active, key missing and retired; --plain is tab-separated', () =>
  withHome(async (home) => {
    await home.aichat(['plugin', 'activate', 'groq'])
    const { stdout } = await home.aichat(['plugin', 'list'])
    assert.match(stdout, /^groq +active +completion +needs GROQ_API_KEY/m)
    assert.match(stdout, /^github +completion +retired/m)
    const plain = (await home.aichat(['plugin', 'list', '--plain'])).stdout.split('\n')
    assert.equal([plain[0]!.split('\t')[0], plain.length], ['anthropic', 11])
    const ready = await home.aichat(['plugin', 'list', '--json'], { environment: { GROQ_API_KEY: 'gsk_x' } })
    const { plugins } = JSON.parse(ready.stdout) as { plugins: { id: string; state: string }[] }
    assert.is(plugins.find(({ id }) => id === 'groq')!.state, 'ready')
    assert.not.match(ready.stdout, /gsk_x/)
  }))

test('test says which step failed', () =>
  withHome(async (home) => {
    const provider = await openStandIn((_request, response) =>
      json(response, 401, {
        error: { message: 'Incorrect API key provided: sk-secret-canary', code: 'invalid_api_key' },
      }),
    )
    await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(pluginAt(provider.url)) })
    const noKey = await home.aichat(['plugin', 'test', 'custom'])
    assert.is(noKey.code, 1)
    assert.match(noKey.stdout, /failed +key: CUSTOM_API_KEY is not set/)
    const refused = await home.aichat(['plugin', 'test', 'custom'], {
      environment: { CUSTOM_API_KEY: 'sk-secret-canary' },
    })
    assert.is(refused.code, 1)
    assert.match(refused.stdout, /ok +key/)
    assert.match(refused.stdout, /failed +answer/)
    assert.not.match(refused.stdout + refused.stderr, /sk-secret-canary/)
    await provider.close()
  }))

test.run()

function write(home: Home, name: string, content: unknown): string {
  mkdirSync(join(home.folder, 'files'), { recursive: true })
  const path = join(home.folder, 'files', name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

async function withHome(run: (home: Home) => Promise<void>): Promise<void> {
  using home = openFastHome()
  await run(home)
}
