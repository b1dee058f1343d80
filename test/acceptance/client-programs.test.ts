// Some with --all only: a real client program.
import { isWholeRun } from '../helpers/suite.ts'
import { clientPrograms } from './client-programs.ts'
import { programSuite } from './program-suite.ts'

const test = await programSuite(
  clientPrograms.filter(({ name }) => !name.startsWith('opencode')),
  isWholeRun ? undefined : ['anthropic-messages'],
)
test.run()
