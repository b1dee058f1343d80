import * as assert from 'uvu/assert'
import { parseWav } from '../../speech/audio/wav.ts'
import { openUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completionEvents } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('an answer that is spoken while it comes')

interface Event {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[]
  readonly aichat?: {
    readonly speech?: {
      readonly audio?: string
      readonly spoken?: number
      readonly total?: number
      readonly error?: string
    }
  }
}

const streamed =
  (...pieces: string[]): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(pieces).join(''))
  }

test('its audio is one WAV in events beside the text, and its counts come at the end', async () => {
  await using all = await openUsers({ provider: streamed('Hello the', 're. And', ' again.') })
  const events = eventsOf(await all.stream('bob', { messages, stream: true, speech: { speed: 2 } }))
  assert.is(events.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Hello there. And again.')
  const seconds = parseWav(audioOf(events)).samples.length / 24_000
  assert.ok(seconds > 0.3 && seconds < 2.5, `${seconds} s`)
  const end = endOf(events)
  assert.equal([end.spoken, end.total, end.error], [2, 2, undefined])
  assert.not.ok(all.provider.received[0]!.body.includes('speech'))
})

test('the first sound comes while the answer goes on', async () => {
  let goOn = () => {}
  const heard = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const [first, second, ...rest] = completionEvents(['One is here. ', 'The next', ' follows.'])
  const provider: Answer = async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first! + second!)
    await heard
    response.end(rest.join(''))
  }
  await using all = await openUsers({ provider })
  const answer = await fetch(`${all.url}/api/chat`, {
    method: 'POST',
    headers: { authorization: 'Bearer bob', 'content-type': 'application/json' },
    body: JSON.stringify({ messages, stream: true, speech: true }),
  })
  let text = ''
  for await (const piece of answer.body!) {
    text += Buffer.from(piece).toString()
    if (text.includes('"audio"')) goOn()
  }
  assert.ok(text.indexOf('"audio"') < text.indexOf('follows.'), 'sound before the end of the text')
})

test('what cannot be spoken is said in the stream, and the answer is whole', async () => {
  await using all = await openUsers({ provider: streamed('你好，世界。', '很高兴认识你。') })
  const events = eventsOf(await all.stream('bob', { messages, stream: true, speech: true }))
  assert.match(endOf(events).error!, /Chinese/)
  assert.is(audioOf(events).length, 0)
  const unknown = eventsOf(await all.stream('bob', { messages, stream: true, speech: { voice: 'nobody' } }))
  assert.match(endOf(unknown).error!, /nobody/)
})

test('without a stream, or with an invalid speed, it is refused before the model is asked', async () => {
  await using all = await openUsers({ provider: streamed('Hello.') })
  for (const more of [{ speech: true }, { stream: true, speech: { speed: 9 } }, { stream: true, speech: 'loud' }]) {
    const { status, body } = await all.bob('POST', '/api/chat', { messages, ...more })
    assert.equal([status, body.code], [400, 'invalid'])
  }
  assert.is(all.provider.received.length, 0)
})

const messages = [{ role: 'user', content: 'Hi' }]

function eventsOf(text: string): readonly Event[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice(6)) as Event)
}

/** What the last event of the speech says. */
function endOf(events: readonly Event[]) {
  return events.flatMap(({ aichat }) => aichat?.speech ?? []).at(-1)!
}

function audioOf(events: readonly Event[]): Buffer {
  return Buffer.concat(events.map(({ aichat }) => Buffer.from(aichat?.speech?.audio ?? '', 'base64')))
}

test.run()
