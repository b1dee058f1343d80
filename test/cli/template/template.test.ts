// Some with --all only: many processes.
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { converseHere, openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat template')
const review = [
  '--system',
  'You review $lang.',
  '--prompt',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of our templates.
  'For $$5, in ${lang}ish: $input',
  '--default',
  'lang=English',
]

test('a template is kept in a file that only its user can read, listed, shown and removed', () =>
  withHome(async ({ home, template, json }) => {
    const made = await template('create', 'review', ...review, '-m', 'openai:gpt-4.1-mini', '--description', 'reviews')
    const path = join(home.folder, 'templates', 'review.yaml')
    assert.equal([made.code, made.stdout], [0, `${path}\n`], made.stderr)
    assert.equal([statSync(path).mode & 0o777, statSync(join(home.folder, 'templates')).mode & 0o777], [0o600, 0o700])
    assert.equal((await json('list')).templates, [
      { name: 'review', path, description: 'reviews', model: 'openai:gpt-4.1-mini', variables: ['lang'] },
    ])
    assert.match((await template('list')).stdout, /^NAME .*\nreview +\$lang +openai:gpt-4\.1-mini +reviews\n$/)
    assert.match((await template('show', 'review')).stdout, /^description: reviews\n[\s\S]*lang: English\n$/)
    assert.is((await json('show', 'review')).template.prompt, review[3])
    assert.is((await template('path', 'review')).stdout, `${path}\n`)
    assert.is((await template('create', 'review', '--prompt', 'x')).code, 73)
    assert.is((await template('create', 'review', '--prompt', 'x', '--force')).code, 0)
    assert.is((await template('remove', 'review')).code, 64, 'it asks first')
    assert.is((await template('remove', 'review', '--yes')).code, 0)
    assert.not(existsSync(path))
    const gone = await template('show', 'review')
    assert.is(gone.code, 67)
    assert.match(gone.stderr, /There are none/)
  }))

test('aichat chat -t fills in the variables and the text, and flags go before the template', () =>
  withHome(async ({ template, sent }) => {
    await template('create', 'review', ...review, '-m', 'openai:gpt-4.1-mini', '-o', 'temperature=0.2', '-o', 'seed=7')
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
  withHome(async ({ template, sent }) => {
    await template('create', 'translate', '-', '-m', 'x').then(({ code }) => assert.is(code, 64))
    await template('create', 'fixed', '--prompt', 'Tell a joke', '-m', 'openai:gpt-4.1-mini')
    assert.is((await sent(['-t', 'fixed'])).messages[0].content, 'Tell a joke')
    assert.is(
      (await sent(['-t', 'fixed', 'about cats'], 'and dogs')).messages[0].content,
      'Tell a joke\n\nabout cats\n\nand dogs',
    )
  }))

test('files and a schema of a template are sent along; a schema of the command line goes before it', () =>
  withHome(async ({ home, template, sent }) => {
    const note = join(home.folder, 'note-de.txt')
    writeFileSync(note, 'milk')
    const source = `model: openai:gpt-4.1-mini\nprompt: Who?\nfiles: ["${home.folder}/note-$lang.txt"]\nschema: name, age int\n`
    assert.is((await template('create', 'people', '-', { input: source })).code, 0)
    const own = await sent(['-t', 'people', '--var', 'lang=de'])
    assert.match(own.messages[0].content[0].text, /milk/)
    assert.equal(own.response_format.json_schema.schema.required, ['name', 'age'])
    const other = await sent(['-t', 'people', '--var', 'lang=de', '--schema', 'city'])
    assert.equal(other.response_format.json_schema.schema.required, ['city'])
  }))

test('variables that are unknown or have no value are named with their places: 65', () =>
  withHome(async ({ home, template }) => {
    await template('create', 'review', '--system', 'one\n$tone', '--prompt', 'In $lang', '--default', 'lang=English')
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
    await template('create', 'needy', '--prompt', 'Say $input')
    const empty = await home.aichat(['chat', '-t', 'needy'])
    assert.is(empty.code, 64)
    assert.match(empty.stderr, /needs a text for \$input/)
    const near = await home.aichat(['chat', '-t', 'reveiw', 'x'])
    assert.is(near.code, 67)
    assert.match(near.stderr, /did you mean review\?/)
  }))

test.whole('a file that is no template is refused with all that is wrong, and nothing is kept', () =>
  withHome(async ({ home, template }) => {
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
      [`prompt: ${'x'.repeat(300_000)}`, /Standard input holds more than 256 KiB/],
      [`prompt: ${'['.repeat(100_000)}`, /It is no YAML/],
    ]
    for (const [input, message] of cases) {
      const { code, stderr } = await template('create', 'bad', '-', { input })
      assert.is(code, 65, stderr)
      assert.match(stderr, message)
    }
    for (const name of ['../x', 'a/b', '.hidden', 'con', '', 'a\u202eb', 'x'.repeat(200)])
      assert.is((await template('create', name, '--prompt', 'x')).code, 65, name)
    assert.not(existsSync(join(home.folder, 'templates')))
    assert.is((await template('create', 'bad', '--prompt', 'x', '--schema', 'a flaot')).code, 64)
  }),
)

test('a broken template is listed with what is wrong, and shown as it is', () =>
  withHome(async ({ home, template }) => {
    await template('create', 'Grüße 2', '--prompt', 'x')
    writeFileSync(join(home.folder, 'templates', 'broken.json'), '{"promt": "x"}')
    const { code, stdout } = await template('list')
    assert.is(code, 0)
    assert.match(
      stdout,
      /Grüße 2 [\s\S]*broken +broken: unknown field promt|broken +broken: unknown field promt[\s\S]*Grüße 2/,
    )
    assert.is((await template('show', 'broken')).stdout, '{"promt": "x"}\n')
    assert.is((await home.aichat(['chat', '-t', 'broken', 'x'])).code, 65)
    const words = await home.aichat(['__complete', 'templates'])
    assert.is(words.stdout, 'Grüße 2\nbroken\n')
  }))

test('a path names a template too', () =>
  withHome(async ({ home, sent }) => {
    const path = join(home.folder, 'here.yml')
    writeFileSync(path, 'prompt: Say $input\nmodel: openai:gpt-4.1-mini\n')
    assert.is((await sent(['-t', path, 'hi'])).messages[0].content, 'Say hi')
  }))

test('edit opens the editor, and keeps a text that is no template for the next edit', () =>
  withHome(async ({ home, template }) => {
    await template('create', 'review', '--prompt', 'Review')
    const edit = (editor: string) =>
      converseHere(home.folder, ['template', 'edit', 'review'], [], { EDITOR: editor, TMPDIR: home.folder })
    const shown = async () => (await template('show', 'review')).stdout
    assert.is((await edit('sed -i s/Review/Check/')).code, 0)
    assert.is(await shown(), 'prompt: Check\n')
    const same = await edit('true')
    assert.is(same.code, 1)
    assert.match(same.shown, /Nothing was changed/)
    const broken = await edit('sed -i s/prompt/promt/')
    assert.is(broken.code, 65)
    assert.match(
      broken.shown,
      /it is unchanged[\s\S]*did you mean prompt\?[\s\S]*Your text is kept in \S+\.review\.draft/,
    )
    assert.is(await shown(), 'prompt: Check\n')
    const again = await edit('sed -i "s/promt: Check/prompt: Mended/"')
    assert.is(again.code, 0, again.shown)
    assert.match(again.shown, /the text of the last edit/)
    assert.is(await shown(), 'prompt: Mended\n')
    assert.equal(readdirSync(join(home.folder, 'templates')), ['review.yaml'])
    assert.equal(
      readdirSync(home.folder).filter((name) => name.startsWith('aichat-edit-')),
      [],
    )
  }))

test.run()

type Run = ReturnType<Home['aichat']>

interface Templates {
  readonly home: Home
  /** Runs `template …`; an object at the end holds the input. */
  template(...words: readonly (string | { readonly input: string })[]): Run
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a command.
  json(...words: readonly string[]): Promise<any>
  /** The body of the request that `chat` would send. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a request.
  sent(words: readonly string[], input?: string): Promise<any>
}

async function withHome(use: (templates: Templates) => Promise<unknown>): Promise<void> {
  using home = openFastHome({ OPENAI_API_KEY: 'sk-canary-0123456789' })
  const template: Templates['template'] = (...words) => {
    const options = words.find((word) => typeof word === 'object')
    return home.aichat(['template', ...words.filter((word) => typeof word === 'string')], options)
  }
  await use({
    home,
    template,
    json: async (...words) => JSON.parse((await template(...words, '--json')).stdout),
    async sent(words, input) {
      const { code, stdout, stderr } = await home.aichat(['chat', '--dry-run', ...words], input ? { input } : {})
      assert.is(code, 0, stderr)
      return JSON.parse(stdout).body
    },
  })
}
