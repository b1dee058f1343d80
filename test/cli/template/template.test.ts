// Some with --all only: many processes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat template')

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of our templates.
const prompt = 'For $$5, in ${lang}ish: $input'
const review = {
  system: 'You review $lang.',
  prompt,
  model: 'openai:gpt-4.1-mini',
  defaults: { lang: 'English' },
}

test('templates are files of a folder, which are listed with their variables', () =>
  withHome(async ({ home, template, write }) => {
    const none = await home.aichat(['chat', '-t', 'review', 'x'])
    assert.is(none.code, 67)
    assert.match(none.stderr, /There are none/)
    assert.is((await template('path')).stdout, `${join(home.folder, 'templates')}\n`)
    const path = write('review', { ...review, description: 'reviews' })
    assert.equal(JSON.parse((await template('list', '--json')).stdout).templates, [
      { name: 'review', path, description: 'reviews', model: 'openai:gpt-4.1-mini', variables: ['lang'] },
    ])
    assert.match((await template('list')).stdout, /^NAME .*\nreview +\$lang +openai:gpt-4\.1-mini +reviews\n$/)
    assert.is((await template('path', 'review')).stdout, `${path}\n`)
  }))

test('aichat chat -t fills in the variables and the text, and flags go before the template', () =>
  withHome(async ({ write, sent }) => {
    write('review', { ...review, options: { temperature: 0.2, seed: 7 } })
    const plain = await sent(['-t', 'review', 'the', 'words'])
    assert.equal(plain.messages, [
      { role: 'system', content: 'You review English.' },
      { role: 'user', content: 'For $5, in Englishish: the words' },
    ])
    assert.equal([plain.model, plain.temperature, plain.seed], ['gpt-4.1-mini', 0.2, 7])
    const words = [
      '-t',
      'review',
      '--var',
      'lang=$input $lang $$',
      '--temperature',
      '1',
      '-o',
      'seed=8',
      '--prompt',
      'Be brief',
    ]
    const flagged = await sent([...words, '-m', 'openai:gpt-4o'], 'a $lang diff\n')
    assert.equal(flagged.messages, [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'For $5, in $input $lang $$ish: a $lang diff' },
    ])
    assert.equal([flagged.model, flagged.temperature, flagged.seed], ['gpt-4o', 1, 8])
  }))

test('the text follows a prompt without $input, and a template may be nothing but a prompt', () =>
  withHome(async ({ write, sent }) => {
    write('fixed', { prompt: 'Tell a joke', model: 'openai:gpt-4.1-mini' })
    assert.is((await sent(['-t', 'fixed'])).messages[0].content, 'Tell a joke')
    assert.is(
      (await sent(['-t', 'fixed', 'about cats'], 'and dogs')).messages[0].content,
      'Tell a joke\n\nabout cats\n\nand dogs',
    )
  }))

test.whole('files and a schema of a template are sent along; a schema of the command line goes before it', () =>
  withHome(async ({ home, write, sent }) => {
    const note = join(home.folder, 'note-de.txt')
    writeFileSync(note, 'milk')
    const source = `model: openai:gpt-4.1-mini\nprompt: Who?\nfiles: ["${home.folder}/note-$lang.txt"]\nschema: { required: [name, age] }\n`
    write('people', source)
    const own = await sent(['-t', 'people', '--var', 'lang=de'])
    assert.match(own.messages[0].content[0].text, /milk/)
    assert.equal(own.response_format.json_schema.schema.required, ['name', 'age'])
    const other = await sent(['-t', 'people', '--var', 'lang=de', '--schema', '{"required":["city"]}'])
    assert.equal(other.response_format.json_schema.schema.required, ['city'])
  }),
)

test('variables that are unknown or have no value are named with their places: 65', () =>
  withHome(async ({ home, write }) => {
    write('review', { system: 'one\n$tone', prompt: 'In $lang', defaults: { lang: 'English' } })
    const { code, stderr } = await home.aichat('chat -t review --var lnag=de --var input=x words'.split(' '))
    assert.is(code, 65)
    assert.is(
      stderr,
      [
        'aichat: Template "review" cannot be filled in',
        '  --var lnag: the template has no variable $lnag; did you mean lang?',
        '  --var input: $input is the text of the question',
        '  system, line 2: $tone has no value: add --var tone=… or a default',
        '',
      ].join('\n'),
    )
    assert.is((await home.aichat(['chat', '--var', 'lang=de', 'words'])).code, 64)
    assert.is((await home.aichat(['chat', '-t', 'review', '--var', 'lang', 'words'])).code, 64)
    write('needy', { prompt: 'Say $input' })
    const empty = await home.aichat(['chat', '-t', 'needy'])
    assert.is(empty.code, 64)
    assert.match(empty.stderr, /needs a text for \$input/)
    const near = await home.aichat(['chat', '-t', 'reveiw', 'x'])
    assert.is(near.code, 67)
    assert.match(near.stderr, /did you mean review\?/)
  }))

test.whole('a file that is no template is refused with all that is wrong, listed with it, and a name is no path', () =>
  withHome(async ({ home, template, write }) => {
    const cases: readonly (readonly [string, RegExp])[] = [
      [
        'promt: $x\ndefaults: {y: 1}\noptions: {model: x, "a-b": 1}\n',
        /unknown field promt; did you mean prompt\?\n.*options\.model: .* -m sets it\n.*options\.a-b: .*\n.*defaults\.y: /,
      ],
      [
        'prompt: [1]\nfiles: x\nschema: 7\n',
        /prompt: must be a text\n.*schema: must be a JSON Schema.*\n.*files: must be a list/,
      ],
      ['prompt: "a\n', /It is no YAML: /],
      ['a: &a [1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n', /It is no YAML/],
      ['', /it is empty/],
      ['- a\n', /must be an object/],
      ['{"prompt": "a"', /is not JSON/],
      [`prompt: ${'x'.repeat(300_000)}`, /bad\.yaml is larger than 256 KiB/],
      [`prompt: ${'['.repeat(100_000)}`, /It is no YAML/],
    ]
    write('Grüße 2', { prompt: 'x' })
    for (const [source, message] of cases) {
      write('bad', source)
      const { code, stderr } = await home.aichat(['chat', '-t', 'bad', 'x'])
      assert.is(code, 65, stderr)
      assert.match(stderr, message)
      assert.match((await template('list')).stdout, /^bad +broken: |\nbad +broken: /)
    }
    for (const name of ['.hidden', 'con', '', 'a\u202eb', 'x'.repeat(200)])
      assert.is((await home.aichat(['chat', '-t', name, 'x'])).code, 65, name)
    assert.is((await home.aichat(['__complete', '--', 'chat', '-t', ''])).stdout, 'Grüße 2\nbad\n')
  }),
)

test('a path names a template too', () =>
  withHome(async ({ home, sent }) => {
    const path = join(home.folder, 'here.yml')
    writeFileSync(path, 'prompt: Say $input\nmodel: openai:gpt-4.1-mini\n')
    assert.is((await sent(['-t', path, 'hi'])).messages[0].content, 'Say hi')
  }))

test.run()

type Run = ReturnType<Home['aichat']>

interface Templates {
  readonly home: Home
  template(...words: readonly string[]): Run
  /** Writes a template, as YAML or as an object, and returns its path. */
  write(name: string, template: string | object): string
  /** The body of the request that `chat` would send. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a request.
  sent(words: readonly string[], input?: string): Promise<any>
}

async function withHome(use: (templates: Templates) => Promise<unknown>): Promise<void> {
  using home = openFastHome({ OPENAI_API_KEY: 'sk-canary-0123456789' })
  const folder = join(home.folder, 'templates')
  await use({
    home,
    template: (...words) => home.aichat(['template', ...words]),
    write(name, template) {
      mkdirSync(folder, { recursive: true })
      const path = join(folder, `${name}.yaml`)
      writeFileSync(path, typeof template === 'string' ? template : JSON.stringify(template))
      return path
    },
    async sent(words, input) {
      const { code, stdout, stderr } = await home.aichat(['chat', '--dry-run', ...words], input ? { input } : {})
      assert.is(code, 0, stderr)
      return JSON.parse(stdout).body
    },
  })
}
