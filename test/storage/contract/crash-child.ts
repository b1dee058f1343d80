/** Dies in the course of a write, or after one was acknowledged: `crash-child.ts SETTINGS CRASH FLAW`, see crash.ts. */
import { actAndDie } from './crash.ts'
import { openFlawed, partOf } from './rule.ts'

const [settings = '', at = '', name = ''] = process.argv.slice(2)
// All rules come with the flaws.
const flaw = name === '' ? undefined : (await import('./flaws.ts')).flaws.find((each) => partOf(each) === name)
await actAndDie(await openFlawed(JSON.parse(settings), flaw), Number(at))
