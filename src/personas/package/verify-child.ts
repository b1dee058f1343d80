import { serveTask } from '../../process/child-side.ts'
import { verifyTask } from './verify-file.ts'

// Runs in a process of its own: see verify-file.ts.
serveTask(verifyTask)
