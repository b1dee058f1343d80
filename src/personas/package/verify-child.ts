import { serveTask } from '../../process/process.ts'
import { type PlainFile, verifyPlain } from './verify-file.ts'

// Runs in a child process, see process/run-in-child.ts.
serveTask((file: PlainFile) => verifyPlain(file))
