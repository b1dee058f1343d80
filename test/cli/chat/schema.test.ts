// Some with --all only: many processes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openAnswerCheck } from '../../../src/cli/chat/schema/answer-check.ts'
import type { Cli } from '../../../src/cli/terminal/cli.ts'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completion, json, localRunner, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { scripted, type Turn } from '../../helpers/providers/scripted-provider.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('an answer in JSON')

const person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    bio: { type: 'string', description: 'one sentence' },
  },
  required: ['name', 'age', 'bio'],
  additionalProperties: false,
}
const fields = JSON.stringify(person)
const ada = '{"name": "Ada", "age": 36, "bio": "She wrote the first program."}'

test('a schema that lists all its fields is a strict one in the request, and an answer that fits is printed as it came', () =>
  withAnswers([ada], async ({ home, formats }) => {
    const { code, stdout, stderr } = await home.aichat(['chat', 'Who?', '--schema', fields])
    assert.equal([code, stdout, stderr], [0, `${ada}\n`, ''])
    assert.equal(formats(), [{ type: 'json_schema', json_schema: { name: 'answer', schema: person, strict: true } }])
  }))

test.whole(
  'an answer that misses the schema in three places is printed, each place is told, and the exit code is 76',
  () =>
    withAnswers(['{"name": 7, "age": "old", "more": 1, "bio": "x"}'], async ({ home }) => {
      for (const more of isWholeRun ? [[], ['-S']] : [['-S']]) {
        const { code, stdout, stderr } = await home.aichat(['chat', 'Who?', '--schema', fields, ...more])
        assert.is(code, 76)
        assert.is(stdout, '{"name": 7, "age": "old", "more": 1, "bio": "x"}\n')
        assert.is(
          stderr,
          [
            'aichat: The answer misses the schema in 3 places',
            '  /: must NOT have additional properties: "more"',
            '  /name: must be string',
            '  /age: must be integer',
            '',
          ].join('\n'),
        )
      }
    }),
)

test.whole('with --json the places are details of the error', () =>
  withAnswers(['{"name": 7, "age": "old", "more": 1, "bio": "x"}'], async ({ home }) => {
    const { code, stdout, stderr } = await home.aichat(['chat', 'Who?', '--schema', fields, '--json'])
    assert.is(code, 76)
    assert.match(JSON.parse(stdout).choices[0].message.content, /"more"/)
    assert.is(JSON.parse(stderr).details.length, 3)
  }),
)

test.whole('a code fence around the JSON is left out, which -v says', () =>
  withAnswers([`\`\`\`json\n${ada}\n\`\`\`\n`], async ({ home }) => {
    const quiet = await home.aichat(['chat', 'Who?', '--schema', fields])
    assert.equal([quiet.code, quiet.stdout, quiet.stderr], [0, `${ada}\n`, ''])
    assert.match((await home.aichat(['chat', 'Who?', '--schema', fields, '-v'])).stderr, /stood in a code fence/)
  }),
)

test.whole('words around the JSON, and an answer that is cut, are no JSON: 76, printed all the same', () =>
  withAnswers([`Here it is: ${ada}`, ada.slice(0, 20)], async ({ home }) => {
    for (const text of [`Here it is: ${ada}`, ada.slice(0, 20)]) {
      const { code, stdout, stderr } = await home.aichat(['chat', 'Who?', '--schema', fields])
      assert.equal([code, stdout], [76, `${text}\n`])
      assert.match(stderr, /^aichat: The answer is not JSON\n/)
    }
  }),
)

test.whole('on a terminal the answer is laid out, and it holds no control characters', () =>
  withAnswers(['{"name":"A\\u001b[2J\u202e","age":1,"bio":"\u009b"}'], async ({ home }) => {
    const { code, stdout } = await home.aichat(['chat', 'Who?', '--schema', fields], { shown: true } as never)
    assert.is(code, 0)
    assert.is(stdout, '{\n  "name": "A\\u001b[2J\\u202e",\n  "age": 1,\n  "bio": "\\u009b"\n}\n')
  }),
)

test.whole('a schema may be JSON or a file, and is checked whole: references, branches, patterns, formats', () => {
  const schema = {
    title: 'A list of people!',
    $defs: { person: { type: 'object', properties: { email: { format: 'email' }, code: { pattern: '^[A-Z]{3}$' } } } },
    oneOf: [{ type: 'array', items: { $ref: '#/$defs/person' }, minItems: 1, uniqueItems: true }, { type: 'null' }],
  }
  return withAnswers(
    ['null', '[{"email":"ada@example.org","code":"ABC"}]', '[{"email":"ada","code":"abc"}]', '[]'],
    async ({ home, formats }) => {
      const file = join(home.folder, 'people.json')
      writeFileSync(file, JSON.stringify(schema))
      const ask = (given: string) => home.aichat(['chat', 'Who?', '--schema', given])
      assert.is((await ask(file)).code, 0)
      assert.is((await ask(JSON.stringify(schema))).code, 0)
      const wrong = await ask(file)
      assert.is(wrong.code, 76)
      assert.match(wrong.stderr, /\/0\/email: must match format "email"\n {2}\/0\/code: must match pattern/)
      assert.match((await ask(file)).stderr, /must NOT have fewer than 1 items/)
      assert.equal([formats()[0].json_schema.name, formats()[0].json_schema.strict], ['A_list_of_people_', false])
    },
  )
})

test.whole('older drafts are checked as such', () =>
  withAnswers(['[1, "x"]', '["x", 1]'], async ({ home }) => {
    const schema = JSON.stringify({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [{ type: 'integer' }, { type: 'string' }],
    })
    assert.is((await home.aichat(['chat', 'x', '--schema', schema])).code, 0)
    assert.is((await home.aichat(['chat', 'x', '--schema', schema])).code, 76)
  }),
)

test.whole('a schema that is none is told before anything is sent', () =>
  withAnswers(['{}'], async ({ home, stand }) => {
    const deep = `${'{"not":'.repeat(60)}{}${'}'.repeat(60)}`
    const cases: readonly (readonly [string, number, RegExp])[] = [
      ['{"type": "strin"}', 65, /no JSON Schema that can be checked\n.*not valid\n {2}\/type: must be equal to one of/],
      ['{"type": ', 65, /The schema is not JSON/],
      ['[1]', 65, /must be an object such as/],
      [
        '{"$ref": "https://example.org/schema.json"}',
        65,
        /\$ref .* is not in the schema, and no other document is loaded/,
      ],
      ['{"$schema": "http://json-schema.org/draft-04/schema#"}', 65, /use draft 2020-12, 2019-09 or 7/],
      ['{"properties": {"a": {"pattern": "("}}}', 65, /no JSON Schema that can be checked/],
      [deep, 65, /the schema/i],
      ['missing.json', 66, /Cannot read missing\.json/],
    ]
    for (const [given, exit, message] of cases) {
      const { code, stdout, stderr } = await home.aichat(['chat', 'x', '--schema', given])
      assert.equal([code, stdout], [exit, ''], stderr)
      assert.match(stderr, message)
    }
    const both = await home.aichat(['chat', 'x', '--schema', '{}', '--json-object'])
    assert.is(both.code, 64)
    assert.is((await home.aichat(['chat', 'x', '--schema', '{}', '-o', 'response_format={}'])).code, 64)
    assert.is(stand.received.length, 0)
  }),
)

test.whole('a pattern that computes for ages is ended by --timeout or Ctrl-C, and the answer is printed', async () => {
  const written: string[] = []
  const stop = new AbortController()
  const io = { stdoutIsTerminal: false, out: async (text: string) => void written.push(text) }
  const cli = { io, signal: () => stop.signal, globals: () => ({}) } as unknown as Cli
  const check = await openAnswerCheck(cli, { schema: '{"properties": {"a": {"pattern": "^(a+)+$"}}}' })
  const text = `{"a": "${'a'.repeat(60)}!"}`
  const finished = check.finish(text).catch((reason: Error) => reason.message)
  stop.abort(new Error('stopped'))
  assert.is(await finished, 'stopped')
  assert.equal(written, [`${text}\n`])
  check.close()
})

test.whole('a long answer is checked, and of many misses the first are told', () => {
  // Of 5 MB.
  const count = isWholeRun ? 100_000 : 2_000
  const listOf = (type: string) =>
    JSON.stringify({ properties: { items: { items: { properties: { id: { type }, name: { type: 'string' } } } } } })
  const items = JSON.stringify({
    items: Array.from({ length: count }, (_, id) => ({ id, name: `a person ${id}, ${'x'.repeat(20)}` })),
  })
  return withAnswers([items], async ({ home }) => {
    const fits = await home.aichat(['chat', 'x', '--schema', listOf('integer')])
    assert.equal([fits.code, fits.stderr], [0, ''])
    assert.is(fits.stdout, `${items}\n`)
    const misses = await home.aichat(['chat', 'x', '--schema', listOf('string')])
    assert.is(misses.code, 76)
    assert.match(
      misses.stderr,
      /misses the schema in more than 19 places\n(?: {2}\/items\/\d+\/id: must be string\n){19} {2}and \d+ more\n$/,
    )
    assert.match(misses.stderr, ` and ${count - 19} more\n`)
  })
})

test.whole('--json-object asks for one object, names JSON where the words do not, and checks that it is one', () =>
  withAnswers(['{"a": 1}', '[1]', '{"a": 1}'], async ({ home, stand }) => {
    assert.equal((await home.aichat(['chat', 'Who?', '--json-object'])).stdout, '{"a": 1}\n')
    const list = await home.aichat(['chat', 'Who, as JSON?', '--json-object'])
    assert.equal([list.code, list.stdout], [76, '[1]\n'])
    assert.match(list.stderr, /not one JSON object/)
    const bodies = stand.received.map(({ body }) => JSON.parse(body))
    assert.equal(bodies[0].response_format, { type: 'json_object' })
    assert.match(bodies[0].messages[0].content, /JSON/)
    assert.is(bodies[1].messages.length, 1)
  }),
)

test('a local runner gets the schema as its format', async () => {
  await using runner = await openStandIn(localRunner(ada))
  using home = openFastHome({ OLLAMA_HOST: runner.url })
  const { code, stdout } = await home.aichat(['chat', '-m', 'llama3', 'Who?', '--schema', fields])
  assert.equal([code, stdout], [0, `${ada}\n`])
  const { body } = runner.received.find(({ url }) => url === '/api/chat')!
  assert.is(JSON.parse(body).format.properties.age.type, 'integer')
})

test.whole('a model that takes no format is asked again with the schema in words', async () => {
  const refused = { message: 'This model does not support response format `json_schema`', param: 'response_format' }
  await using stand = await openStandIn((request, response) =>
    JSON.parse(request.body).response_format === undefined
      ? json(response, 200, completion(ada))
      : json(response, 400, { error: { ...refused, type: 'invalid_request_error', code: null } }),
  )
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-canary-0123456789' })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(stand.url)) })
  const { code, stdout, stderr } = await home.aichat(['chat', 'Who?', '-S', '--schema', fields])
  assert.equal([code, stdout], [0, `${ada}\n`], stderr)
  assert.match(stderr, /asked again with the format in words\n$/)
  assert.match(JSON.parse(stand.received.at(-1)!.body).messages[0].content, /fits this JSON Schema.*\n.*"integer"/)
})

test.run()

interface Provided {
  readonly home: Home
  readonly stand: StandIn
  /** The `response_format` of each request. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a request.
  formats(): readonly any[]
}

async function withAnswers(turns: readonly Turn[], use: (provided: Provided) => Promise<void>): Promise<void> {
  await using stand = await openStandIn(scripted(turns))
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-canary-0123456789' })
  const plugin = JSON.stringify(pluginAt(stand.url))
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: plugin })
  await use({ home, stand, formats: () => stand.received.map(({ body }) => JSON.parse(body).response_format) })
}
