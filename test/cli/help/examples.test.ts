import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import * as assert from 'uvu/assert'
import { manualPages } from '../../../src/cli/help/pages.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import type { Cli } from '../../../src/cli/terminal/cli.ts'
import type { CliCommand } from '../../../src/cli/terminal/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('examples in the help')

test('every command that --help shows has an example, shown there', async () => {
  for (const command of visible(buildProgram(stubCli))) {
    assert.ok(command.examples.length > 0, `${pathOf(command).join(' ')} has no example`)
    const { code, stdout } = await runMain([...pathOf(command), '--help'], {})
    assert.is(code, 0)
    for (const example of command.examples) assert.ok(stdout.includes(`\n  ${example}\n`), example)
  }
})

test('every example parses, and runs its command or one of its group', async () => {
  for (const command of visible(buildProgram(stubCli)))
    for (const example of command.examples) {
      const run = await ranBy(example)
      const path = pathOf(command)
      assert.equal(run.slice(0, path.length), path, example)
    }
})

test('every aichat command in the examples of the README and the manual parses', async () => {
  const readme = readFileSync(fileURLToPath(new URL('./README.md', import.meta.resolve('#package'))), 'utf8')
  const texts = [readme, ...manualPages().map(({ text }) => text)].join('\n')
  const lines = [...texts.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) =>
    block!.replace(/\\\n\s*/g, '').split(/\n| && /),
  )
  const examples = lines.map((line) => line.replace(/\s+#.*$/, '')).filter((line) => /(?:^|\| )aichat\b/.test(line))
  assert.ok(examples.length >= 100)
  for (const example of examples)
    assert.ok((await ranBy(example.replace(/aichat(?=$| "[^"]*"$)/, 'aichat chat'))).length > 0, example)
})

test('options of the same meaning have the same names', () => {
  const shorts = new Map<string, string>()
  for (const command of visible(buildProgram(stubCli)))
    for (const { short, long } of command.options) {
      // A chat and its templates write no file: there -o sets a parameter, as in other tools.
      if (long === '--option') continue
      if (!short) continue
      assert.is(shorts.get(short) ?? long, long, `${short} of ${pathOf(command).join(' ')}`)
      shorts.set(short, String(long))
    }
})

test.run()

const stubCli = {
  io: { columns: 80 },
  helpTexts: [],
  bind() {},
  globals: () => ({}),
  settings: async () => ({ paths: { config: '/nonexistent' } }),
} as unknown as Cli

function visible(command: CliCommand): readonly CliCommand[] {
  const subs = command.createHelp().visibleCommands(command) as unknown as readonly CliCommand[]
  return [command, ...subs.flatMap(visible)]
}

function pathOf(command: Command): readonly string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : []
}

/** The path of the command that an example runs. */
async function ranBy(example: string): Promise<readonly string[]> {
  const words = aichatWords(example)
  assert.ok(words, `${example} does not run aichat`)
  const program = buildProgram(stubCli)
  let ran: readonly string[] = []
  for (const command of visible(program))
    if (command.commands.length === 0 || command.registeredArguments.length > 0)
      command.action(() => {
        ran = pathOf(command)
      })
  const bare = words.length === 1 && /\s/.test(words[0]!)
  await program.parseAsync(bare ? ['chat', ...words] : [...words], { from: 'user' })
  return bare ? [] : ran
}

/** The words behind `aichat` up to a pipe, a redirection or a closing parenthesis; quotes as in a shell. */
function aichatWords(line: string): readonly string[] | undefined {
  const [, tail] = /(?:^|[|(]\s*)aichat\s+(.*)$/.exec(line) ?? []
  const tokens = tail?.match(/(?:[^\s'"|<>()]|'[^']*'|"[^"]*")+|[|<>()]/g) ?? undefined
  const end = tokens?.findIndex((token) => /^[|<>()]$/.test(token)) ?? -1
  return tokens
    ?.slice(0, end < 0 ? undefined : end)
    .map((token) => token.replace(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double))
}
