import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('./stdio-server-child.js', import.meta.url))
const isBuilt = existsSync(built)

/**
 * The command that starts the server of the tests on stdio, from the build or from the sources. With `--sdk` after it, the
 * server is one of the official SDK, which starts four times as slowly.
 */
export const toolServerCommand: readonly [command: string, ...args: string[]] = isBuilt
  ? [process.execPath, built]
  : [process.execPath, '--import', 'tsx', built.replace(/\.js$/, '.ts')]
