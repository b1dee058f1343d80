/** One measured step in a process of its own, so that its peak memory is its own: `step.ts DEED FOLDER FORMAT COUNT`. */
import { renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { memoryOf, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'

const dimension = 1536
const [deed = '', folder = '', format = 'container', count = '0'] = process.argv.slice(2)
const file = join(folder, `persona.${format}`)

const deeds: Readonly<Record<string, () => Promise<() => Promise<void>>>> = {
  async stock() {
    const shop = await openShop(join(folder, 'home'))
    return async () => {
      const persona = await shop.stock('u1', 0)
      for (let at = 0; at < Number(count); at += 500)
        await shop.addMemories(
          persona,
          Array.from({ length: Math.min(500, Number(count) - at) }, (_, index) => memoryOf(at + index, dimension)),
        )
      shop.release()
    }
  },
  async export() {
    const shop = await openShop(join(folder, 'home'))
    const persona = (await shop.find(onlyPersona(shop)))!
    return async () => {
      const out = await shop.packages.export(persona, {
        format: format === 'document' ? 'json' : 'container',
        embeddings: true,
      })
      renameSync(out.path, file)
      shop.release()
    }
  },
  async verify() {
    const { fileKindOf } = await import('../../../src/formats/file-kind.ts')
    const { verifyPlain } = await import('../../../src/personas/package/verify-file.ts')
    return async () => {
      const { valid } = await verifyPlain({ path: file, kind: fileKindOf(file) })
      if (!valid) throw new Error('The package is not valid')
    }
  },
  async import() {
    const shop = await openShop(join(folder, `away-${format}`))
    return async () => {
      await shop.packages.import('u2', file, { mode: 'create', dry_run: false })
      shop.release()
    }
  },
}

const run = await deeds[deed]!()
const begun = performance.now()
await run()
const ms = performance.now() - begun
const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
process.stdout.write(JSON.stringify({ ms, peak: process.resourceUsage().maxRSS * 1024, bytes }))

function onlyPersona(shop: Shop): string {
  return shop.db.prepare('SELECT id FROM persona').pluck().get() as string
}
