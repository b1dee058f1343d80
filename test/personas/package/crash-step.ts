/** Restores and imports until it is killed: `crash-step.ts FOLDER PERSONA BACKUP BACKUP PACKAGE`, or once with a package alone. */
import { toAppError } from '../../../src/errors.ts'
import { openShop } from '../persona-shop.ts'

const [folder = '', personaId = '', first = '', second = '', path = ''] = process.argv.slice(2)
const shop = await openShop(folder)
const persona = (await shop.find(personaId))!

if (path) await forever()
else await once()

async function forever(): Promise<void> {
  process.stdout.write('ready\n')
  for (;;) {
    for (const backup of [first, second]) {
      await shop.backups.restore(persona, backup)
      process.stdout.write('restored\n')
    }
    await shop.packages.import('u2', path, { mode: 'create', dry_run: false })
    process.stdout.write('imported\n')
  }
}

/** Restores or imports once and prints the code of its failure. */
async function once(): Promise<void> {
  try {
    if (second) await shop.backups.restore(persona, second)
    else await shop.packages.import('u2', first, { mode: 'create', dry_run: false })
    process.stdout.write('done')
  } catch (reason) {
    process.stdout.write(toAppError(reason).code)
  }
  shop.release()
}
