// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { type Installation, openInstallation } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const limits = suite('what one user may store')

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are tested
type Answer = { readonly status: number; readonly headers: Headers; readonly body: any }

async function withLimits(
  environment: Record<string, string>,
  use: (
    ask: (method: string, path: string, body?: unknown, user?: string) => Promise<Answer>,
    installation: Installation,
  ) => Promise<void>,
): Promise<void> {
  await using installation = openInstallation(environment)
  const url = await installation.serve((exchange) => {
    const id = String(exchange.request.headers['x-user'] ?? 'u1')
    return { caller: { id, username: id, role: 'user' } }
  })
  await use(async (method, path, body, user = 'u1') => {
    const isRaw = body instanceof Uint8Array || body instanceof ReadableStream
    const response = await fetch(`${url}/api/personas${path}`, {
      method,
      headers: {
        'x-user': user,
        'content-type': isRaw && path !== '' ? 'application/octet-stream' : 'application/json',
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body), duplex: 'half' }),
    } as RequestInit)
    const bytes = new Uint8Array(await response.arrayBuffer())
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(Buffer.from(bytes).toString()) : bytes,
    }
  }, installation)
}

const persona = { name: 'Ada', model: 'm', memory_settings: { max_memories: 5 } }

limits('memories over all personas: the one too many is 413 and named, in every way that one comes', () =>
  withLimits({ AICHAT_LIMIT_STORED_MEMORIES_PER_USER: '3' }, async (ask) => {
    const [one, two] = [(await ask('POST', '', persona)).body.id, (await ask('POST', '', persona)).body.id]
    for (const [id, content] of [
      [one, 'Tea'],
      [one, 'Coffee'],
      [two, 'Cocoa'],
    ])
      assert.is((await ask('POST', `/${id}/memory`, { content })).status, 201)
    const { body: saved } = await ask('POST', `/${one}/export`, { format: 'container' })
    const { body: backup } = await ask('POST', `/${one}/backup`)
    const refused = await ask('POST', `/${two}/memory`, { content: 'Water' })
    assert.is(refused.status, 413)
    assert.match(refused.body.details.join('\n'), /4 memories; limits\.stored_memories_per_user is 3/)
    // Storing the same content again adds nothing, and every user has a separate count.
    assert.is((await ask('POST', `/${two}/memory`, { content: 'Cocoa' })).status, 201)
    const other = (await ask('POST', '', persona, 'u2')).body.id
    assert.is((await ask('POST', `/${other}/memory`, { content: 'Tea' }, 'u2')).status, 201)
    assert.is((await ask('POST', '/import', saved)).status, 413)
    assert.is((await ask('GET', '')).body.personas.length, 2)
    assert.is((await ask('POST', `/import?mode=merge&persona=${two}`, saved)).status, 413)
    assert.is((await ask('GET', `/${two}/memory`)).body.total, 1)
    // Replacing by the same amount is allowed.
    assert.is((await ask('POST', `/import?mode=replace&persona=${one}`, saved)).status, 201)
    assert.is((await ask('POST', `/${one}/restore`, { backup_id: backup.backup_id })).status, 200)
    await ask('DELETE', `/${two}/memory`)
    assert.is((await ask('POST', `/${one}/memory`, { content: 'Water' })).status, 201)
    await ask('DELETE', `/${one}`)
    assert.is((await ask('POST', '/import', saved)).status, 201)
  }),
)

limits.whole('bytes of memories, personas and backups count together', () =>
  withLimits({ AICHAT_LIMIT_STORED_BYTES_PER_USER: '40000' }, async (ask) => {
    const { id } = (await ask('POST', '', persona)).body
    const statuses: number[] = []
    for (let round = 0; statuses.at(-1) !== 413 && round < 40; round++)
      statuses.push((await ask('POST', `/${id}/memory`, { content: `${round} ${'tea '.repeat(400)}` })).status)
    // Five memories are kept: the bytes are refused, not the number; each has its vector.
    assert.is(statuses.includes(413), false, 'evicted ones are not counted')
    const made: number[] = []
    for (let round = 0; made.at(-1) !== 413 && round < 40; round++)
      made.push((await ask('POST', `/${id}/backup`)).status)
    assert.is(made.at(-1), 413)
    const long = { name: 'Eve', model: 'm', system_prompt: 'x'.repeat(30_000) }
    assert.is((await ask('POST', '', long)).status, 413)
    assert.is((await ask('PUT', `/${id}`, { system_prompt: 'x'.repeat(30_000) })).status, 413)
    assert.is((await ask('PUT', `/${id}`, { name: 'Ida' })).status, 200)
    assert.is((await ask('DELETE', `/${id}`)).status, 200)
    assert.is((await ask('POST', '', long)).status, 201)
  }),
)

limits('two packages are taken in at once; the third waits, other users do not', () =>
  withLimits({}, async (ask) => {
    const { id } = (await ask('POST', '', persona)).body
    const { body: saved } = await ask('POST', `/${id}/export`, { format: 'container' })
    const ends: (() => void)[] = []
    const begun: Promise<void>[] = []
    const hanging = ['/import', `/${id}/verify`].map((path) => {
      let tell = () => {}
      begun.push(new Promise((resolve) => (tell = resolve)))
      const body = new ReadableStream({
        async pull(controller) {
          controller.enqueue(saved)
          tell()
          await new Promise<void>((resolve) => ends.push(resolve))
          controller.close()
        },
      })
      return ask('POST', path, body)
    })
    await Promise.all(begun)
    let third = await ask('POST', '/import', saved)
    // The two may not have been read from yet.
    while (third.status === 201) third = await ask('POST', '/import', saved)
    assert.is(third.status, 429)
    assert.ok(Number(third.headers.get('retry-after')) > 0)
    assert.match(third.body.details.join(), /limits\.imports_per_user/)
    assert.is((await ask('POST', `/${id}/restore`)).status, 429)
    assert.is((await ask('POST', '/import', saved, 'u2')).status, 201)
    assert.is((await ask('POST', `/${id}/verify`)).status, 200)
    for (const end of ends) end()
    assert.equal(pluck(await Promise.all(hanging), 'status'), [201, 200])
    assert.is((await ask('POST', '/import', saved)).status, 201)
  }),
)

limits(
  'so many requests of a user are under way at once; one more is 429, other users and later requests are served',
  () =>
    withLimits({ AICHAT_LIMIT_REQUESTS_PER_USER: '2' }, async (ask) => {
      const held = [hanging(ask, '', '{"name":"One",'), hanging(ask, '', '{"name":"Two",')]
      await Promise.all(held.map(({ begun }) => begun))
      let third = await ask('GET', '')
      // The two may not have been read from yet.
      while (third.status === 200) third = await ask('GET', '')
      assert.is(third.status, 429)
      assert.ok(Number(third.headers.get('retry-after')) > 0)
      assert.match(third.body.details.join(), /limits\.requests_per_user/)
      assert.is((await ask('GET', '', undefined, 'u2')).status, 200)
      for (const { end } of held) end('"model":"m"}')
      for (const { answer } of held) assert.is((await answer).status, 201)
      assert.is((await ask('GET', '')).status, 200)
    }),
)

limits(
  'bodies of a user hold so many bytes at once, told beforehand or not; a body that never fits is not to be sent again',
  () =>
    withLimits({ AICHAT_LIMIT_BODY_BYTES_PER_USER: '2000' }, async (ask) => {
      const held = hanging(ask, '', `{"name":"One","description":"${'x'.repeat(1500)}",`)
      await held.begun
      const body = { name: 'Two', model: 'm', description: 'x'.repeat(1000) }
      let second = await ask('POST', '', body)
      while (second.status === 201) second = await ask('POST', '', body)
      assert.is(second.status, 429)
      assert.ok(Number(second.headers.get('retry-after')) > 0)
      assert.match(second.body.details.join(), /limits\.body_bytes_per_user/)
      assert.is((await ask('POST', '', body, 'u2')).status, 201)
      held.end('"model":"m"}')
      assert.is((await held.answer).status, 201)
      assert.is((await ask('POST', '', body)).status, 201)
      const never = await ask('POST', '', { ...body, description: 'x'.repeat(3000) })
      assert.equal([never.status, never.headers.get('x-should-retry')], [429, 'false'])
    }),
)

limits('by default sixty-four requests at once are served', () =>
  withLimits({}, async (ask) => {
    const answers = await Promise.all(Array.from({ length: 64 }, () => ask('POST', '', persona)))
    assert.equal([...new Set(answers.map(({ status }) => status))], [201])
  }),
)

limits('a limit that is no number is a mistake in the settings', () => {
  assert.throws(() => openInstallation({ AICHAT_LIMIT_IMPORTS_PER_USER: 'many' }), /Invalid settings/)
})

limits.run()

/** A request with an open body, which `end` completes. */
function hanging(
  ask: (method: string, path: string, body?: unknown, user?: string) => Promise<Answer>,
  path: string,
  start: string,
) {
  let end: (rest: string) => void = () => {}
  let tell = () => {}
  const begun = new Promise<void>((resolve) => {
    tell = resolve
  })
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(start))
      end = (rest) => {
        controller.enqueue(Buffer.from(rest))
        controller.close()
      }
    },
    pull: () => tell(),
  })
  return { answer: ask('POST', path, body, 'u1'), begun, end: (rest: string) => end(rest) }
}
