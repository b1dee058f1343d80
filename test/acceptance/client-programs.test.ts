// Some with --all only: a real client program.
import { clientPrograms } from './client-programs.ts'
import { programSuite } from './program-suite.ts'

const test = await programSuite(clientPrograms.filter(({ name }) => !name.startsWith('opencode')))
test.run()
