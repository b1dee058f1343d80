import * as assert from 'uvu/assert'
import { openServer } from '../../src/server/listen.ts'
import { type Answer, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the port of a server')

for (const [who, answer, words] of [
  ['another API of ours', { name: 'aichat-toolkit' }, /: aichat serves there already\nUse it with --server/],
  [
    'a speech server',
    { name: 'aichat-toolkit', server: 'voxa-tts' },
    /: the voxa-tts of an aichat serves there already/,
  ],
  ['another program', { name: 'other' }, /cannot start\nss -ltnp 'sport = :\d+'/],
  ['a program whose JSON is no object', 7, /cannot start\nss -ltnp/],
] as const)
  test(`that ${who} has is refused, with its name where it is ours and the flag for another port`, async () => {
    const reply: Answer = (_, response) => json(response, 200, answer)
    await using program = await openStandIn(reply)
    const port = Number(new URL(program.url).port)
    const options = { name: 'the API', host: '127.0.0.1', port, portFlag: '--port 3002' }
    const { details } = await rejects(
      openServer(() => undefined, options),
      'unavailable',
      words,
    )
    assert.is(details.at(-1), 'or choose another port: --port 3002')
  })

test.run()
