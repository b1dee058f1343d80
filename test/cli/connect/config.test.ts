import { parse as parseToml } from '@decimalturn/toml-patch'
import jsonc from 'jsonc-parser'
import * as assert from 'uvu/assert'
import { applyEdits, type ConfigFormat, type Edit, takeBack } from '../../../src/cli/connect/config/edits.ts'
import { jsonFormat } from '../../../src/cli/connect/config/json.ts'
import { tomlFormat } from '../../../src/cli/connect/config/toml.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('changes of configuration files')

const codex: readonly Edit[] = [
  { path: ['model'], value: 'gpt-4o' },
  { path: ['model_provider'], value: 'aichat' },
  {
    path: ['model_providers', 'aichat'],
    value: { name: 'aichat', base_url: 'http://h/v1', auth: { command: 'cat', args: ['/k'] } },
  },
]

const codexTables = `[model_providers.aichat]
name = "aichat"
base_url = "http://h/v1"

[model_providers.aichat.auth]
command = "cat"
args = [ "/k" ]
`

const opencode: readonly Edit[] = [
  { path: ['provider', 'aichat'], value: { npm: 'x' } },
  { path: ['model'], value: 'aichat/m' },
]

interface Case {
  readonly title: string
  readonly format: ConfigFormat
  readonly edits: readonly Edit[]
  readonly before: string
  readonly after: string
  /** The text after taking the changes back, where it is not the one before. */
  readonly back?: string
}

const cases: readonly Case[] = [
  {
    title: 'TOML: an empty file',
    format: tomlFormat,
    edits: codex,
    before: '',
    after: `model = "gpt-4o"\nmodel_provider = "aichat"\n\n${codexTables}`,
    back: '\n',
  },
  {
    title: 'TOML: comments, order, odd spaces and quotes stay',
    format: tomlFormat,
    edits: codex,
    before: `# mine\nmodel   =   'gpt-5'   # best\nnotify = [\n  "a", # one\n  "b",\n]\n\n[tui]\ntheme="x"\n\n[[hooks]]\na=1\n[[hooks]]\na=2\n# end\n`,
    after: `# mine\nmodel   =   'gpt-4o'   # best\nnotify = [\n  "a", # one\n  "b",\n]\nmodel_provider = "aichat"\n\n[tui]\ntheme="x"\n\n[[hooks]]\na=1\n[[hooks]]\na=2\n# end\n\n${codexTables}`,
  },
  {
    title: 'TOML: what looks like a table inside a text is none',
    format: tomlFormat,
    edits: [{ path: ['model_providers', 'aichat'], value: { name: 'a' } }],
    before: 'x = """\nmodel = "no"\n[model_providers.aichat]\n"""\n',
    after: 'x = """\nmodel = "no"\n[model_providers.aichat]\n"""\n\n[model_providers.aichat]\nname = "a"\n',
  },
  {
    title: 'TOML: providers in one line stay in it',
    format: tomlFormat,
    edits: [{ path: ['model_providers', 'aichat'], value: { name: 'a' } }],
    before: 'model_providers = { other = { name = "o" } }\n',
    after: 'model_providers = { other = { name = "o" }, aichat = { name = "a" } }\n',
  },
  {
    title: 'TOML: line breaks of Windows',
    format: tomlFormat,
    edits: codex,
    before: 'model = "a"\r\n\r\n[x]\r\ny = 2\r\n',
    after: `model = "gpt-4o"\r\nmodel_provider = "aichat"\r\n\r\n[x]\r\ny = 2\r\n\r\n${codexTables.replaceAll('\n', '\r\n')}`,
  },
  {
    title: 'JSON: comments, tabs and trailing commas stay',
    format: jsonFormat,
    edits: opencode,
    before: '// mine\n{\n\t/* theme */ "theme": "x",\n\t"provider": {\n\t\t"other": {}, // kept\n\t},\n}\n',
    after:
      '// mine\n{\n\t/* theme */ "theme": "x",\n\t"provider": {\n\t\t"other": {},\n\t\t"aichat": {\n\t\t\t"npm": "x"\n\t\t}, // kept\n\t},\n\t"model": "aichat/m",\n}\n',
  },
  {
    title: 'JSON: four spaces, and line breaks of Windows',
    format: jsonFormat,
    edits: [{ path: ['model'], value: 'm' }],
    before: '{\r\n    "b": 1,\r\n    "a": 2\r\n}\r\n',
    after: '{\r\n    "b": 1,\r\n    "a": 2,\r\n    "model": "m"\r\n}\r\n',
  },
  {
    title: 'JSON: the last field has no comma, and a comment behind it',
    format: jsonFormat,
    edits: [{ path: ['model'], value: 'm' }],
    before: '{\n  "a": 1 // one, two\n  // end\n}',
    after: '{\n  "a": 1,\n  "model": "m" // one, two\n  // end\n}',
  },
  {
    title: 'JSON: an empty file',
    format: jsonFormat,
    edits: [{ path: ['a'], value: 'm' }],
    before: '',
    after: '{\n  "a": "m"\n}',
    back: '{\n}',
  },
]

for (const { title, format, edits, before, after, back = before } of cases)
  test(title, () => {
    const { text, made } = applyEdits(format, before, edits)
    assert.is(text, after)
    assert.is(applyEdits(format, text, edits).text, after, 'a second time changes nothing')
    const undone = takeBack(format, text, made)
    assert.equal(undone.kept, [])
    assert.is(undone.text, back)
  })

test('values that were changed since are kept, and named', () => {
  const { text, made } = applyEdits(jsonFormat, '{"a": 1}', opencode)
  const changed = text.replace('"aichat/m"', '"other/m"').replace('"a": 1', '"a": 2')
  const { text: undone, kept } = takeBack(jsonFormat, changed, made)
  assert.equal(JSON.parse(undone), { a: 2, model: 'other/m' })
  assert.equal(kept, ['model'])
})

const broken: readonly (readonly [format: ConfigFormat, text: string, reason: RegExp])[] = [
  [jsonFormat, '{"a": 1', /does not parse: CloseBraceExpected in line 1/],
  [jsonFormat, '{"a": }', /does not parse/],
  [jsonFormat, '"text"', /its content has another shape/],
  [jsonFormat, '{"provider": [1]}', /provider holds another kind of value/],
  [jsonFormat, `${'['.repeat(200_000)}`, /does not parse|another shape/],
  [tomlFormat, 'a = 1\na = 2\n', /does not parse.*[^:]$/],
  [tomlFormat, 'provider = 3\n', /provider holds another kind of value/],
]

for (const [format, text, reason] of broken)
  test(`refused with a reason: ${text.slice(0, 20).replaceAll('\n', ' ')}`, () => {
    assert.throws(
      () => applyEdits(format, text, opencode),
      (error: Error) => reason.test(error.message),
    )
  })

/** Values of other fields, with names that quote and indent in every way. */
const name = fc
  .oneof(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ minLength: 1, maxLength: 8 }))
  .filter((text) => text !== '__proto__')
const scalar = fc.oneof(fc.string({ maxLength: 20 }), fc.integer({ min: -1e9, max: 1e9 }), fc.boolean())
const { document } = fc.letrec<{ value: unknown; document: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(scalar, { maxLength: 3 }), tie('document')),
  document: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))

const written: readonly (readonly [
  format: ConfigFormat,
  write: (value: object) => string,
  read: (text: string) => unknown,
])[] = [
  [jsonFormat, (value) => JSON.stringify(value, null, 3), (text) => jsonc.parse(text)],
  [tomlFormat, tomlOf, (text) => plain(parseToml(text))],
]

for (const [format, write, read] of written)
  test(`${format === tomlFormat ? 'TOML' : 'JSON'}: whatever else is in a file survives the changes and the way back`, () => {
    fc.assert(
      fc.property(document, fc.boolean(), (value, windows) => {
        const others = Object.fromEntries(
          Object.entries(value).filter(([key]) => key !== 'provider' && key !== 'model'),
        )
        const text = write(others).replaceAll('\n', windows && format !== tomlFormat ? '\r\n' : '\n')
        const { text: changed, made } = applyEdits(format, text, opencode)
        assert.equal(plain(read(changed)), plain({ ...others, provider: { aichat: { npm: 'x' } }, model: 'aichat/m' }))
        assert.equal(plain(read(takeBack(format, changed, made).text)), plain(others))
      }),
      { numRuns: 60 },
    )
  })

test.run()

/** Tables below each other, as people write them. */
function tomlOf(value: object, path: readonly string[] = []): string {
  const fields = Object.entries(value)
  const isTable = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each)
  const lines = fields
    .filter(([, each]) => !isTable(each))
    .map(([key, each]) => `${JSON.stringify(key)} = ${tomlText(each)}\n`)
  const tables = fields
    .filter(([, each]) => isTable(each))
    .map(
      ([key, each]) =>
        `[${[...path, key].map((step) => JSON.stringify(step)).join('.')}]\n${tomlOf(each as object, [...path, key])}`,
    )
  return [...lines, ...tables].join('')
}

/** JSON's texts are TOML's, but for DEL. */
function tomlText(value: unknown): string {
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f')
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
