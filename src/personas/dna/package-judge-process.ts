import { serveTask } from './own-process.ts'
import { judgeHere } from './package-judge.ts'

// Runs in a process of its own: see own-process.ts.
serveTask(judgeHere)
