/** Restores and imports until it is killed: `crash-step.ts FOLDER PERSONA BACKUP BACKUP PACKAGE FIRST`, or once with a package alone. */
import { toAppError } from '../../../src/errors.ts'
import { openShop } from '../../helpers/personas/persona-shop.ts'

const [folder = '', personaId = '', first = '', second = '', path = '', begin = '0'] = process.argv.slice(2)
const shop = await openShop(folder)
const persona = (await shop.find(personaId))!

if (path) await forever()
else await once()

async function forever(): Promise<void> {
  const actions: readonly (() => Promise<unknown>)[] = [
    () => shop.backups.restore(persona, first),
    () => shop.backups.restore(persona, second),
    () => shop.packages.import('u2', path, { mode: 'create', dry_run: false }),
  ]
  process.stdout.write('ready\n')
  for (let next = Number(begin); ; next++) {
    await actions[next % actions.length]!()
    process.stdout.write('done\n')
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
