import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { type ApiKeys, createApiKeys } from '../../src/accounts/keys/api-keys.ts'
import { digestOfKey, lastFour, makeKeyText } from '../../src/accounts/keys/key-text.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { account } from '../helpers/storage/samples.ts'
import { openStorageIn } from '../helpers/storage/test-storage.ts'

const count = 10_000
const rounds = 5

/**
 * The cost of checking an API key among 10,000: of known keys in random order, of keys that are read for the first
 * time, of unknown ones, and of texts that are no keys. The aim is 5 µs for a known one.
 */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  await using storage = closing(await openStorageIn(folder))
  const open = (): ApiKeys =>
    createApiKeys({
      store: storage.keys,
      bounds: () => ({ inAll: count, perUser: count }),
      clock: Date.now,
      newId: randomUUID,
    })
  await storage.accounts.insert(account('ada'), false)
  const keys = open()
  // The first makes the tables known; the others are copied, since each made by itself waits for the disk.
  const secrets = [(await keys.create({ owner: 'ada' })).secret, ...copies(join(folder, 'aichat.db'))]
  secrets.sort((left, right) => (left.slice(-4) < right.slice(-4) ? -1 : 1))
  const measured = new Map<string, number[]>()
  for (let round = 0; round < rounds; round++) {
    // A change of any account clears the cache.
    await storage.accounts.update('ada', { email: null }, Date.now())
    note(measured, 'first look', await timed(keys, secrets))
    note(measured, 'known', await timed(keys, secrets))
    const strangers = Array.from({ length: count }, () => makeKeyText())
    note(measured, 'unknown', await timed(keys, strangers))
    note(
      measured,
      'wrong checksum',
      await timed(
        keys,
        strangers.map((text) => `${text.slice(0, -1)}${text.endsWith('0') ? 1 : 0}`),
      ),
    )
    note(
      measured,
      'SQL',
      await timed(
        keys,
        strangers.map(() => "aic_' OR '1'='1'; DROP TABLE api_key; --"),
      ),
    )
  }
  for (const [what, values] of measured) print(what, values, 'µs a check')
  await keys.close()
}

/** Adds copies of the one key with secrets of their own, which are given back. */
function copies(path: string): readonly string[] {
  const db = new BetterSqlite3(path)
  const key = db.prepare(
    `INSERT INTO api_key SELECT :id, user_id, name, scopes, models, plugins, personas, created_at, updated_at, expires_at,
       revoked_at, last_used_at FROM api_key LIMIT 1`,
  )
  const secret = db.prepare('INSERT INTO api_key_secret VALUES (:digest, :id, :last4, 0, NULL, NULL)')
  const texts = Array.from({ length: count - 1 }, () => makeKeyText())
  db.transaction(() => {
    for (const text of texts) {
      const id = randomUUID()
      key.run({ id })
      secret.run({ id, digest: digestOfKey(text), last4: lastFour(text) })
    }
  })()
  db.close()
  return texts
}

/** Microseconds of the processor's time a check, over all texts. */
async function timed(keys: ApiKeys, texts: readonly string[]): Promise<number> {
  const began = process.cpuUsage()
  for (const text of texts) {
    const verified = keys.verify(text)
    if (verified instanceof Promise) await verified
  }
  const { user, system } = process.cpuUsage(began)
  return (user + system) / texts.length
}

function note(measured: Map<string, number[]>, what: string, value: number): void {
  measured.set(what, [...(measured.get(what) ?? []), value])
}

function print(what: string, values: readonly number[], unit: string): void {
  const sorted = [...values].sort((left, right) => left - right)
  const middle = sorted[Math.floor(sorted.length / 2)]!
  const range = sorted.length > 1 ? ` (${sorted[0]!.toFixed(2)}–${sorted.at(-1)!.toFixed(2)})` : ''
  process.stdout.write(`  ${what.padEnd(18)} ${middle.toFixed(2)}${range} ${unit}\n`)
}
