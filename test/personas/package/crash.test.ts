// With --all only: a killed process.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { Persona } from '../../../src/personas/persona.ts'
import { holder, holderPattern, isHeld } from '../../../src/process/holders.ts'
import { slice } from '../../../src/storage/shared/persona-slices.ts'
import { openReader } from '../../../src/storage/sqlite/reader.ts'
import { memoryOf, newFolder, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const crashes = suite('crashes')

const isSource = import.meta.url.endsWith('.ts')
const stepFile = fileURLToPath(new URL(`./crash-step.${isSource ? 'ts' : 'js'}`, import.meta.url))
const node = [...(isSource ? ['--import', 'tsx'] : []), stepFile]

const rounds = 6

/** By then both states have been met and something was interrupted, unless one of them never is. */
const mostRounds = 60

/** Milliseconds in the middle of an action, within which the kills are spread evenly: less than the action takes. */
const middleMs = 40

crashes(
  `leave a persona before or after, never between: kill -9 during imports and restores, ${rounds} rounds`,
  async () => {
    let shop = await openShop(newFolder(), { withoutChildren: true })
    const { folder } = shop
    const persona = await shop.stock('u1', 60)
    const small = await shop.backups.create(persona)
    await shop.addMemories(
      persona,
      // Ten slices.
      Array.from({ length: 10 * slice.memories }, (_, at) => memoryOf(1000 + at, 48)),
    )
    const large = await shop.backups.create(persona)
    const out = await shop.packages.export(persona, { format: 'container', embeddings: true })
    const seen = new Set<string | null>()
    let interrupted = 0
    try {
      for (let round = 0; round < rounds || ((seen.size < 2 || interrupted === 0) && round < mostRounds); round++) {
        shop.release()
        const child = spawn(
          process.execPath,
          [...node, folder, persona.id, small.backup_id, large.backup_id, out.path, String(Math.floor(round / 2) % 3)],
          // In a group of its own: the process that writes for it is killed with it.
          { stdio: ['ignore', 'pipe', 'inherit'], detached: true },
        )
        // It restores the small one, the large one, imports, and so on, beginning with each in turn: it is killed as soon as
        // that action has ended, and in the next round in the middle of it.
        await lines(child, round % 2 === 0 ? 2 : 1)
        if (round % 2 === 1) await begun(folder)
        await killAfter(child, round % 2 === 0 ? 0 : ((round * 0.37) % 1) * middleMs)
        // A process that was killed may take a moment to be gone.
        while (leftovers(folder).some(isHeld)) await soon()
        interrupted += Number(leftovers(folder).length > 0)
        shop = await openShop(folder, { withoutChildren: true })
        seen.add(await check(shop, persona, [small.content_hash, large.content_hash]))
      }
      assert.is(seen.size, 2, 'both states should have been met')
      assert.ok(interrupted > 0, 'nothing was ever killed in its middle')
    } finally {
      shop.close()
    }
  },
)

/** The holders of unfinished work: staged memories, and pending files. */
function leftovers(folder: string): readonly string[] {
  const reader = openReader(join(folder, 'aichat.db'))
  const staged = reader.prepare<[], string>("SELECT substr(user_id, 11) FROM persona WHERE user_id LIKE '~arriving/%'")
  const holders = staged.pluck().all()
  reader.close()
  return [...holders, ...readdirSync(join(folder, 'backups')).filter((name) => holderPattern.test(name))]
}

/** Waits until something is half done. */
async function begun(folder: string): Promise<void> {
  while (leftovers(folder).length === 0) await soon()
}

/** Leaves the core to the process that is looked at. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 2))

/** Everything there is sound, and each persona is one of the two that exist. Returns which one the first is. */
async function check(shop: Shop, persona: Persona, hashes: readonly string[]): Promise<string | null> {
  assert.is(shop.db.pragma('integrity_check', { simple: true }), 'ok')
  shop.db.exec("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
  for (const table of ['memory_text_docsize', 'memory_vector'])
    assert.is(
      shop.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
      shop.db.prepare('SELECT count(*) FROM memory').pluck().get(),
    )
  const ids = shop.db.prepare<[], string>('SELECT id FROM persona').pluck().all()
  let hash: string | null = null
  for (const id of ids) {
    const { problems, content_hash } = await shop.packages.verifyStored((await shop.find(id))!)
    assert.equal(problems, [])
    assert.ok(hashes.includes(content_hash!), `${id} is neither`)
    if (id === persona.id) hash = content_hash
  }
  const files = new Set(readdirSync(join(shop.folder, 'backups')))
  assert.not(
    [...files, ...scratchFiles(shop.folder)].some((name) => holderPattern.test(name)),
    'plain text was left',
  )
  for (const { backup_id, bytes } of await shop.backups.list(persona)) {
    assert.ok(files.has(`${backup_id}.dna.zip`), 'a backup has no file')
    assert.is(statSync(join(shop.folder, 'backups', `${backup_id}.dna.zip`)).size, bytes)
  }
  // Imports of earlier rounds were looked at; fewer of them keep the rounds short.
  for (const id of ids.filter((each) => each !== persona.id))
    shop.db
      .prepare(
        'DELETE FROM memory_text WHERE rowid IN (SELECT memory_id FROM memory JOIN memory_scope USING (scope_id) WHERE persona_id = ?)',
      )
      .run(id)
  shop.db.prepare('DELETE FROM persona WHERE id <> ?').run(persona.id)
  return hash
}

function scratchFiles(folder: string): readonly string[] {
  const scratch = join(folder, 'scratch')
  return existsSync(scratch) ? readdirSync(scratch).filter((name) => !name.startsWith(`${holder()}.`)) : []
}

/** Waits until the process has written so many lines. */
async function lines(child: ChildProcess, lines: number): Promise<void> {
  let text = ''
  while (text.split('\n').length <= lines) text += String((await once(child.stdout!, 'data'))[0])
}

async function killAfter(child: ChildProcess, ms: number): Promise<void> {
  const ended = once(child, 'exit')
  setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), ms)
  const [, signal] = await ended
  assert.is(signal, 'SIGKILL')
}

/** The folder and the file of a package that does not fit where the persona lies; made once. */
let bigPackage: Promise<{ readonly folder: string; readonly path: string }> | undefined

async function makeBigPackage(): Promise<{ readonly folder: string; readonly path: string }> {
  const shop = await openShop(newFolder(), { withoutChildren: true })
  const large = await shop.stock('u9', 0)
  await shop.addMemories(
    large,
    Array.from({ length: 1000 }, (_, at) => memoryOf(at, 1536)),
  )
  const { path } = await shop.packages.export(large, { format: 'container', embeddings: true })
  shop.release()
  return { folder: shop.folder, path }
}

crashes.after(async () => {
  if (bigPackage) rmSync((await bigPackage).folder, { recursive: true, force: true })
})

/** That package, and a persona with a backup in the folder. */
async function crowded(folder: string): Promise<{
  readonly persona: Persona
  readonly backup: string
  readonly big: string
  readonly content: string | null
}> {
  bigPackage ??= makeBigPackage()
  const { path: big } = await bigPackage
  const shop = await openShop(folder, { withoutChildren: true })
  const persona = await shop.stock('u1', 0)
  await shop.addMemories(
    persona,
    Array.from({ length: 160 }, (_, at) => memoryOf(at, 1536)),
  )
  const { backup_id: backup, content_hash: content } = await shop.backups.create(persona)
  shop.release()
  return { persona, backup, big, content }
}

async function stillWhole(folder: string, persona: Persona, content: string | null): Promise<void> {
  const shop = await openShop(folder, { withoutChildren: true })
  assert.is(shop.db.pragma('integrity_check', { simple: true }), 'ok')
  assert.is(shop.db.prepare('SELECT count(*) FROM persona').pluck().get(), 1)
  const result = await shop.packages.verifyStored(persona)
  assert.equal(result.problems, [])
  assert.is(result.content_hash, content)
  const rows = await shop.backups.list(persona)
  assert.is(rows.length, 1)
  assert.equal(readdirSync(join(folder, 'backups')), [`${rows[0]!.backup_id}.dna.zip`])
  shop.release()
}

const mounted = mountSmall()
const onSmallDisk = mounted ? crashes : crashes.skip

onSmallDisk('change nothing when the disk is full during an import or a restore', async () => {
  const folder = mounted!
  const { persona, backup, big, content } = await crowded(folder)
  try {
    assert.is(step(folder, persona.id, big), 'io')
    await stillWhole(folder, persona, content)
    // The remaining space is not enough for the backup of the replaced persona.
    const { bavail, bsize } = statfsSync(folder)
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize - 400_000))
    assert.is(step(folder, persona.id, 'restore', backup), 'io')
    rmSync(join(folder, 'ballast'))
    await stillWhole(folder, persona, content)
    assert.is(step(folder, persona.id, 'restore', backup), 'done')
  } finally {
    spawnSync('umount', [folder])
    rmSync(folder, { recursive: true, force: true })
  }
})

crashes('change nothing when a file may not grow any further', async () => {
  const folder = newFolder()
  const { persona, backup, big, content } = await crowded(folder)
  try {
    // Whether the write fails or the system ends the process: 800 blocks of 1,024 bytes are less than either needs.
    for (const words of [[big], ['restore', backup]]) {
      const { stdout } = spawnSync(
        'bash',
        ['-c', 'ulimit -f 800; exec "$@"', 'bash', process.execPath, ...node, folder, persona.id, ...words],
        { encoding: 'utf8' },
      )
      assert.is.not(stdout, 'done')
      sweepUnknown(folder, backup)
      await stillWhole(folder, persona, content)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** A process that was ended leaves the beginning of a backup, which is swept an hour later. */
function sweepUnknown(folder: string, backup: string): void {
  for (const name of readdirSync(join(folder, 'backups')))
    if (!name.startsWith(backup)) rmSync(join(folder, 'backups', name))
}

function step(...words: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...node, ...words], { encoding: 'utf8' })
  return stdout || stderr
}

/** A file system of 9 MiB, where this process may mount one. */
function mountSmall(): string | undefined {
  const folder = join(process.env['TMPDIR'] ?? '/tmp', `aichat-small-${process.pid}`)
  mkdirSync(folder)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=9m', 'aichat-test', folder]).status === 0) return folder
  rmSync(folder, { recursive: true })
  process.stdout.write('skipped: no small file system can be mounted here\n')
  return undefined
}

crashes.run()
