import { serveTask } from './own-process.ts'
import { openPackage } from './package-file.ts'
import { verifySource } from './package-verify.ts'

// Runs in a process of its own: see own-process.ts. The package is a plain one: a sealed one was opened before.
serveTask(async (path: string) => {
  const { source, close } = await openPackage(path, path)
  try {
    return verifySource(source)
  } finally {
    await close()
  }
})
