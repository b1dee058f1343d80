import type { LedgerRow } from '../../src/usage/ledger/ledger.ts'
import { goodPassword, type TestDaemon } from '../helpers/program/daemon.ts'

/** The ids of the records in a furnished scene. */
export interface Furniture {
  readonly admin: { readonly id: string; readonly token: string }
  readonly user: { readonly id: string; readonly token: string }
  readonly persona: string
}

const topics = [
  'The user drinks green tea in the morning, never coffee.',
  'Minka, the cat, is eleven years old and sleeps on the printer.',
  'The flat in Leipzig has a balcony towards the east.',
  'On Tuesdays there is choir practice at half past seven.',
  'The sister Anna moved to Bergen in May and works on a ferry.',
  'Peanuts are dangerous: a severe allergy since childhood.',
]

/** Two users, a persona with memories and learned traits, a month of usage, keys and a budget. */
export async function furnish(daemon: TestDaemon, memories = 240): Promise<Furniture> {
  const { accounts, call } = daemon
  const [ada, bob] = [
    await accounts.logins.register({ username: 'ada', password: goodPassword, email: 'ada@example.org' }, undefined),
    await accounts.logins.register({ username: 'bob', password: goodPassword }, undefined),
  ]
  const { token } = ada
  const post = async (path: string, body: unknown) => {
    const answer = await call('POST', path, { token, body })
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const mia = await post('/api/personas', {
    name: 'Mia',
    model: 'custom-model',
    description: 'Knows the household, plans the week, and asks before she orders anything.',
    system_prompt: 'You are Mia.',
    memory_settings: { enabled: true, max_memories: 5000 },
    mutation_settings: { enabled: true, auto_adapt: true, sensitivity: 'medium' },
  })
  await post('/api/personas', {
    name: 'Librarian',
    model: 'second:second-model',
    description: 'Finds the book whose title you forgot.',
  })
  const now = Date.now()
  for (let at = 0; at < memories; at += 1000)
    await post(`/api/personas/${mia.id}/memory/batch`, {
      memories: Array.from({ length: Math.min(1000, memories - at) }, (_, index) => ({
        content:
          at + index < topics.length
            ? topics[at + index]
            : `Note ${at + index}: ${topics[(at + index) % topics.length]}`,
        importance_score: ((at + index) % 10) / 10,
        timestamp: now - (at + index) * 3_600_000,
        metadata: {
          category: ['home', 'people', 'health'][(at + index) % 3],
          ...(at + index === 5 && { pinned: true }),
        },
      })),
    })
  const adaptations = [
    ['explicit_instruction', 'user_instruction', [{ trait: 'brevity', target: 0.6 }]],
    ['explicit_instruction', 'user_instruction', [{ preference: 'units', value: 'metric' }]],
    ['feedback', 'thumbs_up', [{ trait: 'humour', target: 0.4 }]],
  ] as const
  for (const [adaptation_type, trigger_event, changes] of adaptations)
    await post(`/api/personas/${mia.id}/state/adaptation`, { adaptation_type, trigger_event, changes })
  await post(`/api/personas/${mia.id}/backup`, {})
  const key = await post('/api/keys', { name: 'editor on the laptop', scopes: ['chat', 'models'] })
  await post('/api/keys', { name: 'night job', scopes: ['embeddings'], limits: { rpm: 60 } })
  const priced = (plugin: string, model: string) => ({ plugin, model, rates: { input: '2.5', output: '10' } })
  await call('PUT', '/api/prices', { token, body: { prices: [priced('custom', '*'), priced('second', '*')] } })
  await call('PUT', '/api/limits/user:ada', {
    token,
    body: { budgets: [{ amount_usd: '20', period: 'month' }], rpm: 120 },
  })
  await call('PUT', '/api/limits/all', { token, body: { budgets: [{ amount_usd: '5', period: 'day', hard: true }] } })
  const store = await (await daemon.installation.app.usage()).store()
  await store.append(usageOf({ users: [ada.user.id, bob.user.id], key: key.id, now }))
  return { admin: { id: ada.user.id, token }, user: { id: bob.user.id, token: bob.token }, persona: mia.id }
}

/** A month of requests, more on working days. */
function usageOf({ users, key, now }: { users: readonly string[]; key: string; now: number }): LedgerRow[] {
  const rows: LedgerRow[] = []
  for (let back = 0; back < 30; back++) {
    const at = now - back * 86_400_000
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay())
    const requests = isWeekend ? 3 : 9 + ((back * 7) % 11)
    for (let each = 0; each < requests; each++) {
      const isSecond = each % 4 === 3
      const input = 800 + ((back * 131 + each * 977) % 4000)
      const output = 200 + ((back * 37 + each * 353) % 1500)
      rows.push({
        request: `furniture-${back}-${each}`,
        attempt: 1,
        at,
        day: new Date(at).toISOString().slice(0, 10),
        user: users[each % 5 === 0 ? 1 : 0]!,
        key: each % 2 === 0 ? key : null,
        plugin: isSecond ? 'second' : 'custom',
        model: isSecond ? 'second-model' : 'custom-model',
        purpose: 'chat',
        outcome: each === 7 ? 'failed' : 'answered',
        estimated: false,
        lowerBound: false,
        amounts: { input, output },
        cost: { nano: input * 2_500 + output * 10_000, source: 'operator', priceId: null },
        durationMs: 1800,
      })
    }
  }
  return rows
}
