import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ChatRequest, type Message, textOf } from '../../src/chat/protocol/messages.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { type DialectId, endpoints, withLibraries } from '../helpers/program/client-libraries.ts'
import { calling, speaking } from '../helpers/speech/speaking-model.ts'
import { suite } from '../helpers/suite.ts'
import { type ClientProgram, pathOf, runTask } from './client-programs.ts'

/** The task of each program before a provider of each of these dialects; skipped for programs that are not there. */
export async function programSuite(
  programs: readonly ClientProgram[],
  dialects = Object.keys(endpoints) as readonly DialectId[],
): Promise<ReturnType<typeof suite>> {
  const test = suite('programs of others do a task with two calls of a tool')

  for (const program of programs) {
    const path = await pathOf(program)
    if (path === undefined)
      process.stdout.write(
        `skipped: ${program.name} is not in PATH${program.locked ? ' (AICHAT_TEST_CLIENTS=1)' : ''}\n`,
      )
    for (const api of dialects)
      (path === undefined ? test.skip : test)(`${program.name} before a provider of ${api}`, () =>
        withLibraries(
          speaking(api, (request) => atWork(request, program)),
          async ({ url, provider }) => {
            const home = temporaryFolder()
            const { code, output } = await runTask(program, path!, home, url)
            assert.is(code, 0, output)
            assert.match(output, 'The file holds 5 bytes: made!')
            assert.is(readFileSync(join(home, 'work', 'made.txt'), 'utf8'), 'made!')
            assert.ok(provider.received.length >= 3)
          },
          { plugin: { api } },
        ),
      )
  }

  return test
}

/**
 * Makes a file, reads it, and repeats the tool's output; answers a word to a request without the tool, such as for a
 * title.
 */
function atWork({ messages, tools = [] }: ChatRequest, { shell }: ClientProgram): Partial<Message> {
  const { name } = shell('')
  if (!tools.some((tool) => 'function' in tool && tool.function.name === name)) return { content: 'Work' }
  const told = messages.filter(({ role }) => role === 'tool')
  const command = ["printf 'made!' > made.txt", 'wc -c < made.txt; cat made.txt'][told.length]
  if (command !== undefined)
    return { content: 'I do it.', ...calling(name, shell(command).input, `call_${told.length}`) }
  const [, bytes, text] = /(\d+)\s+(made!)/.exec(textOf(told[1]!.content)) ?? []
  return { content: `The file holds ${bytes} bytes: ${text}` }
}
