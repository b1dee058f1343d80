/**
 * Runs test files one after the other in one process, each named by a message of `process.ts`. The modules
 * that files share are loaded and compiled once: loading is most of a small file's time.
 */

// Before uvu is loaded: its suites wait for `exec`.
Object.assign(globalThis, { UVU_DEFER: 1 })
const { exec } = await import('uvu')
const queue = (globalThis as { UVU_QUEUE?: unknown[][] }).UVU_QUEUE!

const environment = { ...process.env }

process.on('message', (file: unknown) => {
  // An answer to a question of a file, see question.ts.
  if (typeof file !== 'string') return
  if (file === '') process.exit()
  void runFile(file)
})
process.once('disconnect', () => process.exit())
// Opens both: they are counted below.
for (const stream of [process.stdout, process.stderr]) stream.write('')
/** The resources that keep this process alive without any test: its channel and its streams. */
const idle = process.getActiveResourcesInfo()
process.send!('ready')

async function runFile(url: string): Promise<void> {
  queue.splice(0, queue.length, [null])
  try {
    await import(url)
    await exec()
    await atRest()
  } catch (reason) {
    process.stderr.write(`${reason instanceof Error ? reason.stack : String(reason)}\n`)
    process.exit(1)
  }
  const code = process.exitCode ?? 0
  process.exitCode = undefined
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
  const end = `\n${process.env['AICHAT_TEST_MARK']} ${code} ${process.memoryUsage.rss()}\n`
  process.stdout.write(end)
  process.stderr.write(end)
}

/**
 * Waits until nothing of the file would keep a process of its own alive. Ends this process, and with it the file as failed,
 * after 30 s: three times the longest time for which an idle connection is kept.
 */
async function atRest(): Promise<void> {
  const begun = performance.now()
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    const left = process.getActiveResourcesInfo()
    for (const name of idle) left.splice(left.indexOf(name), left.includes(name) ? 1 : 0)
    if (left.length === 0) return
    if (performance.now() - begun > 30_000) throw new Error(`The tests left running: ${left.join(', ')}`)
  }
}
