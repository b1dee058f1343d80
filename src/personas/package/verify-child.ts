import { serveTask } from '../../process/run-in-child.ts'
import { verifyTask } from './verify-file.ts'

// Runs in a process of its own: see process/run-in-child.ts.
serveTask(verifyTask)
