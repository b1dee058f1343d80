import { serveTask } from '../../process/child-side.ts'
import { verifyTask } from './verify-file.ts'

// Runs in a process of its own: see process/run-in-child.ts.
serveTask(verifyTask)
