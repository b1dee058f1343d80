/** Restores or imports once and prints the code of its failure: `crash-step.ts FOLDER PERSONA PACKAGE`, or `… PERSONA restore BACKUP`. */
import { toAppError } from '../../../src/errors.ts'
import { openShop } from '../../helpers/personas/persona-shop.ts'

const [folder = '', personaId = '', first = '', second = ''] = process.argv.slice(2)
const shop = await openShop(folder)
const persona = (await shop.find(personaId))!

try {
  if (second) await shop.backups.restore(persona, second)
  else await shop.packages.import('u2', first, { mode: 'create', dry_run: false })
  process.stdout.write('done')
} catch (reason) {
  process.stdout.write(toAppError(reason).code)
}
shop.release()
