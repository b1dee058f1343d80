import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluck } from '../../helpers/pluck.ts'
import type { Home } from '../../helpers/program/command.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat prices')

async function withHome(run: (home: Home) => Promise<void>): Promise<void> {
  using home = openFastHome({ CUSTOM_API_KEY: 'k' })
  await run(home)
}

function write(home: Home, content: unknown): string {
  const path = join(home.folder, 'prices.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const file = (prices: readonly unknown[]) => ({
  format: 'aichat-prices/1',
  source: 'a test',
  fetched_at: '2026-11-22',
  prices,
})
const price = (more: object = {}) => ({
  plugin: 'openai',
  model: 'gpt-4.1',
  rates: { input: '1', output: '2' },
  ...more,
})

test('sets a price, lists it before the shipped one, and takes it back', () =>
  withHome(async (home) => {
    const words = 'prices set gpt-4.1 --plugin openai --input 1.5 --output 6 --cached 0.375'.split(' ')
    const set = await home.aichat(words)
    assert.is(set.code, 0, set.stderr)
    assert.match(set.stdout, /PLUGIN +MODEL +INPUT +CACHED +WRITTEN +OUTPUT +SOURCE +AS OF/)
    assert.match(set.stdout, /openai +gpt-4.1 +1.5 +0.375 +6 +operator +20\d\d-/)
    const listed = await home.aichat(['prices', 'list', '--model', 'gpt-4.1', '--plugin', 'openai', '--plain'])
    assert.match(
      listed.stdout,
      /^openai\tgpt-4.1\t1.5\t0.375\t\t6\toperator\t.*\nopenai\tgpt-4.1\t2\t0.5\t\t8\tshipped\t/,
    )
    assert.equal((await home.aichat(['prices', 'unset', 'gpt-4.1', '--plugin', 'openai'])).stdout, 'gpt-4.1\n')
    const again = await home.aichat(['prices', 'unset', 'gpt-4.1', '--plugin', 'openai'])
    assert.is(again.code, 67)
    assert.match(again.stderr, /No price of gpt-4.1 at openai was set here/)
  }))

test('lists with exit 78 where there is no price, and says how many more there are', () =>
  withHome(async (home) => {
    const none = await home.aichat(['prices', 'list', '--model', 'nothing'])
    assert.equal([none.code, none.stdout], [78, ''])
    assert.match(none.stderr, /no price is known; set one/)
    const some = await home.aichat(['prices', 'list', '--limit', '2', '--plugin', 'openai', '--json'])
    const { prices, total } = JSON.parse(some.stdout)
    assert.is(prices.length, 2)
    assert.match(some.stderr, new RegExp(`2 of ${total} prices`))
  }))

test('names the options of wrong rates, all at once', () =>
  withHome(async (home) => {
    const words = ['--input=-1', '--output', '1e300', '--cache-write-1h', 'NaN', '--valid-from', 'tomorrow']
    const { code, stderr } = await home.aichat(['prices', 'set', 'm', '--plugin', 'openai', ...words])
    assert.is(code, 65)
    for (const option of ['--input', '--output', '--cache-write-1h', '--valid-from'])
      assert.match(stderr, new RegExp(`${option}: must be`))
    assert.is((await home.aichat(['prices', 'set', '--input', '1'])).code, 64)
    assert.is((await home.aichat(['prices', 'set', 'm', '--input', '1'])).code, 64)
    assert.is((await home.aichat(['prices', 'set', 'm', '--plugin', 'openai', '--output', '1'])).code, 64)
    const unknown = await home.aichat(['prices', 'set', 'm', '--plugin', 'opnai', '--input', '1'])
    assert.is(unknown.code, 67)
    assert.match(unknown.stderr, /did you mean openai/)
    assert.is((await home.aichat(['prices', 'list', '--source', 'operator'])).code, 78)
  }))

test('sets the prices of a file, with tiers, services and a model called __proto__', () =>
  withHome(async (home) => {
    const rates = { input: '4', output: '8' }
    const path = write(
      home,
      file([
        price({ model: '__proto__', long: { above: 200_000, rates }, services: { flex: { rates } } }),
        price({ valid_from: '2030-01-01' }),
      ]),
    )
    const { code, stdout, stderr } = await home.aichat(['prices', 'set', '--from', path])
    assert.is(code, 0, stderr)
    assert.match(stdout, /__proto__ +1 +2 +operator +\S+ +beyond 200000 tokens 4 and 8; also flex/)
    assert.match(stdout, /gpt-4.1 +1 +2 +operator +\S+ +from 2030-01-01/)
    assert.is((await home.aichat(['prices', 'set', 'm', '--from', path])).code, 64)
  }))

test('takes a file of an address, which may not lead elsewhere or have no end', () =>
  withHome(async (home) => {
    await using server = await openStandIn((request, response) => {
      if (request.url === '/prices.json') return json(response, 200, file([price(), price({ model: 'm' })]))
      if (request.url === '/endless') {
        const more = () => response.write(' '.repeat(65_536), () => response.writable && setImmediate(more))
        return void more()
      }
      response.writeHead(302, { location: '/prices.json' }).end()
    })
    const fetched = await home.aichat(['prices', 'set', '--from', `${server.url}/prices.json`, '--json'])
    assert.is(fetched.code, 0, fetched.stderr)
    assert.equal(pluck(JSON.parse(fetched.stdout).prices, 'model'), ['gpt-4.1', 'm'])
    assert.is((await home.aichat(['prices', 'set', '--from', `${server.url}/moved`])).code, 69)
    const endless = await home.aichat(['prices', 'set', '--from', `${server.url}/endless`])
    assert.is(endless.code, 65)
    assert.match(endless.stderr, /holds more than 2048 KiB/)
  }))

test('refuses bad files with all that is wrong, and changes nothing', () =>
  withHome(async (home) => {
    const wrong: readonly (readonly [content: unknown, ...messages: RegExp[]])[] = [
      [' '.repeat(10 * 1024 * 1024), /larger than 2 MiB/],
      ['{"format":', /ends too early/],
      ['[]', /must be a JSON object/],
      [
        file([
          price({ rates: { input: '-1', output: '1e300', cached: 'NaN', other: '1' } }),
          price({ model: 'b', rates: { input: 2.5 } }),
          price({ model: 'c', price: 1 }),
          price({ model: 'd', valid_from: '2026-02-30' }),
          price({ model: 'a b', plugin: '../x' }),
        ]),
        /prices\.0\.rates\.input/,
        /prices\.0\.rates\.output/,
        /prices\.0\.rates\.cached/,
        /prices\.0\.rates: unknown field other/,
        /prices\.1\.rates\.input: must be a text/,
        /prices\.2: unknown field price/,
        /prices\.3\.valid_from: must be a day/,
        /prices\.4\.plugin/,
        /prices\.4\.model/,
      ],
      [
        file([price(), price({ model: 'GPT-4.1' }), price({ model: 'x', also: ['gpt-4.1'] })]),
        /prices\.1\.model: gpt-4.1 stands there twice, in 0 too/,
        /prices\.2\.model/,
      ],
      [
        file(Array.from({ length: 2000 }, (_, at) => price({ model: `m${at}` }))),
        /prices: must hold at most 1000 items/,
      ],
      [
        '{"format":"aichat-prices/1","source":"x","fetched_at":"2026-11-22","prices":[{"__proto__":{}}]}',
        /forbidden key/,
      ],
    ]
    for (const [content, ...messages] of wrong) {
      const { code, stderr } = await home.aichat(['prices', 'set', '--from', write(home, content)])
      assert.is(code, 65, stderr)
      for (const message of messages) assert.match(stderr, message)
    }
    assert.is((await home.aichat(['prices', 'set', '--from', join(home.folder, 'none.json')])).code, 66)
    assert.is((await home.aichat(['prices', 'list', '--source', 'operator'])).code, 78)
  }))

test.run()
