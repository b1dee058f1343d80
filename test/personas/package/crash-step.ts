/** Does one deed over and over until it is killed: `crash-step.ts FOLDER PERSONA BACKUP BACKUP PACKAGE`, or once with a package alone. */
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
    await shop.dna.import('u2', path, { mode: 'create', dry_run: false })
    process.stdout.write('imported\n')
  }
}

/** Tries what `first` says and prints the class of its failure. */
async function once(): Promise<void> {
  try {
    if (second) await shop.backups.restore(persona, second)
    else await shop.dna.import('u2', first, { mode: 'create', dry_run: false })
    process.stdout.write('done')
  } catch (reason) {
    process.stdout.write(toAppError(reason).code)
  }
  shop.release()
}
