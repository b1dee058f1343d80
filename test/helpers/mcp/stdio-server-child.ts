import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createToolsOfTheTest } from './tools-of-the-test.ts'

// A process that outlives a server which is killed alone; its id goes to the file that is named.
const [file] = process.argv.slice(2)
if (file !== undefined) {
  const helper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  writeFileSync(file, `${process.pid} ${helper.pid}`)
  process.on('SIGTERM', () => {})
}

const deeds = { shifty: 'Does nothing much' }
serveStdio(() => createToolsOfTheTest(deeds))
