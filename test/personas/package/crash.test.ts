// With --all only: a killed process.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { Persona } from '../../../src/personas/persona.ts'
import { memoryOf, newFolder, openShop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const crashes = suite('crashes')

const isSource = import.meta.url.endsWith('.ts')
const stepFile = fileURLToPath(new URL(`./crash-step.${isSource ? 'ts' : 'js'}`, import.meta.url))
const node = [...(isSource ? ['--import', 'tsx'] : []), stepFile]

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
