import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Message } from '../../../src/chat/protocol/messages.ts'
import { dataUrl } from '../../../src/formats/data-url.ts'
import { emptyLog, headOf } from '../../../src/personas/adaptation/log.ts'
import { nothingLearned } from '../../../src/personas/adaptation/state.ts'
import type { SavedMessage } from '../../../src/personas/chat/conversation.ts'
import { withFilesApart } from '../../../src/personas/chat/kept-files.ts'
import type { Vector } from '../../../src/personas/memory/memory.ts'
import type { ProfileLine } from '../../../src/personas/profile-line.ts'
import type { PluginManifest } from '../../../src/plugins/manifest.ts'
import { digestOf } from '../../../src/storage/shared/memory-rows.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { row } from '../../storage/contract/ledger.ts'
import { budget, reservation } from '../../storage/contract/limits.ts'
import { answered } from '../../storage/contract/responses.ts'
import {
  account,
  backup,
  incoming,
  keepAll,
  makeScope,
  memory,
  newPrice,
  noon,
  publish,
  record,
  vector,
  whole,
} from './samples.ts'
import { openStorageIn } from './test-storage.ts'

const day = 86_400_000
const plenty = { responses: 1000, items: 1000, bytes: 1e9 }

const oddTexts = ['naïve 😀 \u{10ffff}', 'ß ẞ \ufb00', `word ${'x'.repeat(3000)} end`, 'quote \' " \\ \t\n', '']

/** Fills a data folder with some of everything that an installation keeps, rows on their way out included. */
export async function makeRichFolder(folder: string, memories = 150): Promise<void> {
  const storage = await openStorageIn(folder)
  try {
    await fillAccounts(storage)
    await fillPersonas(storage, memories)
    await fillChats(storage)
    await fillUsage(storage)
  } finally {
    await storage.close()
  }
  mkdirSync(join(folder, 'backups'), { recursive: true })
  writeFileSync(join(folder, 'backups', 'b1.dna.zip'), Buffer.alloc(2_500_000, 'backup of p'))
  await addOddRows(join(folder, 'aichat.db'))
}

type Opened = Awaited<ReturnType<typeof openStorageIn>>

async function fillAccounts({ accounts, keys, plugins }: Opened): Promise<void> {
  for (const id of ['ada', 'bob']) await accounts.insert(account(id, { email: `${id}@example.org` }), false)
  const session = { createdAt: noon, expiresAt: Date.now() + day }
  await accounts.openSession({ ...session, id: 's1', userId: 'ada' }, 'hash')
  const secret = { digest: 'digest of k', last4: 'last' }
  const key = {
    id: 'k',
    user_id: 'ada',
    name: 'key',
    scopes: ['chat' as const],
    expires_at: null,
    created_at: noon,
    secret,
  }
  await keys.insert({ ...key, models: ['gpt*'] }, { inAll: 10, perUser: 10 })
  const document = (version: number) => ({ id: 'one', version, name: '😀' }) as unknown as PluginManifest
  await plugins.write('one', document(1))
  await plugins.write('one', document(2))
  await plugins.keepBackup('two', document(3))
  await plugins.setHidden('three', true)
  await plugins.setActive('chat', 'one')
}

async function fillPersonas(storage: Opened, count: number): Promise<void> {
  const { memories, adaptations, backups, profiles } = storage
  await publish(storage, {
    ...whole('p', 'ada', 0),
    passthrough: { extra: { odd: 1.5 }, card: { data: { first_mes: 'Hello "you"' } } },
  })
  const p = { personaId: 'p', userId: 'ada' }
  const texts = Array.from({ length: count }, (_, at) => `about tea number ${at} ${oddTexts[at % oddTexts.length]}`)
  for (let at = 0; at < count; at += 50)
    await memories.add(
      p,
      texts.slice(at, at + 50).map((content, index) => ({
        ...memory(content, { timestamp: noon + (at + index) * 1000, importance_score: (at % 10) / 10 }),
        metadata: {
          category: 'fact',
          speaker: index % 2 === 0 ? 'ada' : 'bob',
          nul: 'a\u0000b',
          keys: index === 3 ? ['tea'] : undefined,
        },
        ...(index % 3 === 0 && { vector: vector(at + index) }),
        ...(index % 7 === 1 && { vector: wide(at + index) }),
      })),
      keepAll,
    )
  await memories.remove(p, (await memories.list(p, { limit: 1, offset: 2 })).entries[0]!.id)
  const line: ProfileLine = {
    id: 'line',
    slot: 'address',
    about: '',
    text: 'Call her Ada',
    by: 'hand',
    created_at: noon,
  }
  await profiles.change(p, () => ({ lines: [line], history: [{ ...line, id: 'earlier', ended_at: noon }] }))
  let head = emptyLog
  for (const id of ['r1', 'r2', 'r3']) {
    const next = record(p, id, head, `key of ${id}`)
    await adaptations.append(p, next, { ...nothingLearned(), clock: 7 })
    head = headOf(next)
  }
  await backups.add(p, backup('b1', 'p', { bytes: 2_500_000 }))
  await backups.add(p, backup('gone', 'p'))
  const evicting = await makeScope(storage, 'q', 'bob')
  const policy = { ...keepAll, maxMemories: 2, cleanup: true }
  for (const content of ['one', 'two', 'three']) await memories.add(evicting, [memory(content)], policy)
  await publish(
    storage,
    whole('imported', 'bob', 30, {
      memories: function* () {
        for (const memory of incoming(30)) yield { ...memory, extra: { odd: [memory.id, 0.1] } }
      },
    }),
  )
}

async function fillChats({ conversations, responses }: Opened): Promise<void> {
  const said = (content: string, after = 0): SavedMessage => ({
    message: { role: 'user', content },
    timestamp: noon + after,
  })
  for (const [id, owner] of [
    ['c1', 'ada'],
    ['c2', 'ada'],
    ['c3', 'bob'],
  ] as const) {
    await conversations.create({
      id,
      user_id: owner,
      name: id,
      created_at: noon,
      ...(id === 'c1' && { persona_id: 'p' }),
    })
    await conversations.append(owner, id, [
      said('tea and cake'),
      {
        message: { role: 'assistant', content: 'more tea' },
        timestamp: noon + 1,
        cost: 250_000_000,
        answer: { memories: ['m'] },
      },
      said('…'),
      ...oddTexts.map((text) => said(text, 5)),
    ])
  }
  const url = dataUrl('image/png', Buffer.from('\u0000 a picture').toString('base64'))
  const shown: Message = { role: 'user', content: [{ type: 'image_url', image_url: { url } }] }
  await conversations.append('ada', 'c1', [said('later tea'), { ...(await withFilesApart(shown)), timestamp: noon }])
  await responses.add(answered('resp1', { key: 'k' }), plenty)
  await responses.add(answered('resp2', { previous: 'resp1' }), plenty)
  await responses.add(answered('resp3', { owner: 'bob', unfinished: true }), plenty)
  await responses.finish('bob', answered('resp3').response)
}

async function fillUsage({ ledger, prices, limits }: Opened): Promise<void> {
  await prices.write({ set: [newPrice('a', 1), newPrice('b', 2)], end: [] }, noon)
  await prices.write({ set: [newPrice('a', 3)], end: [{ source: 'operator', plugin: 'p', model: 'b' }] }, noon + 1)
  await limits.set('all', { rpm: 5 })
  await limits.set('user:ada', { tpm: 9, budgets: [{ nano: 7, period: 'day' }] })
  await limits.remove('user:ada')
  await limits.saveWindows(['all'], [{ subject: 'all', name: 'rpm', slots: [5, 2, 7, 1] }])
  await limits.reserve(reservation('r1', 10), [budget('user:ada', 1000), budget('all', 1000)])
  await ledger.append([
    row('a', 1, { key: 'k', reservation: 'r1' }),
    row('b', 1, { user: 'bob', plugin: null, cost: { nano: null, source: null, priceId: null } }),
    row('c', 1, { cost: { nano: Number.MAX_SAFE_INTEGER - 100, source: 'shipped', priceId: 'p2' }, user: 'huge' }),
  ])
  await limits.reserve(reservation('r2', 5), [budget('user:ada', 1000)])
}

/** Rows that no store writes now: of a persona that is removed in slices, and with U+0000 from before it was replaced. */
async function addOddRows(path: string): Promise<void> {
  const db = await openDatabase(path)
  db.exec(`
    INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at) VALUES ('leaving', '~leaving', 'x', 'm', '{}', 0, 0);
    INSERT INTO memory_scope (scope_id, persona_id, user_id) VALUES (900, 'leaving', '~leaving');
    INSERT INTO memory (memory_id, scope_id, id, content, digest, timestamp, importance, stored_at, worth, category, pinned, conversation, metadata)
      VALUES (900 << 24, 900, 'leaving', 'gone', x'00', 1, 0.5, 1, 1, '', 0, '', '{}');
    INSERT INTO conversation (id, user_id, name, created_at, updated_at) VALUES ('leaving', '~leaving', '~leaving/leaving', 0, 0);
    INSERT INTO conversation_message (conversation_id, number, message, timestamp) VALUES ('leaving', 1, '{"role":"user","content":"gone"}', 0);
    UPDATE persona SET description = 'a' || char(0) || 'b' WHERE id = 'p';
    INSERT INTO audit (at, action, outcome) VALUES (9007199254740991, 'odd', 'ok');
  `)
  const { id, content, metadata } = db
    .prepare<[], { id: string; content: string; metadata: string }>(
      'SELECT id, content, metadata FROM memory WHERE scope_id < 900 ORDER BY memory_id LIMIT 1',
    )
    .get()!
  const odd = `${content}\0`
  const digest = digestOf({ content: odd, metadata: JSON.parse(metadata) })
  db.prepare('UPDATE memory SET content = ?, digest = ? WHERE id = ?').run(odd, digest, id)
  db.close()
}

/** A unit vector of 3,072 dimensions. */
function wide(angle: number): Vector {
  const values = new Float32Array(3072)
  values[0] = Math.cos(angle)
  values[3071] = Math.sin(angle)
  return { space: { key: 'wide/3072', model: 'wide', dimension: 3072 }, values }
}
