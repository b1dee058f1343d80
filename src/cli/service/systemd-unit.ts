import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFolder } from '../../app/app.ts'
import type { Cli } from '../terminal/cli.ts'

/** The hardened unit of `man/deploy` (systemd.exec(5)) without MemoryDenyWriteExecute=: V8 writes executable memory. */
export function systemdUnit(): string {
  const program = fileURLToPath(new URL('./bin/aichat', import.meta.resolve('#package')))
  const run = `${quoted(process.execPath)} ${quoted(program)}`
  const unit = readFileSync(join(packageFolder('man'), 'deploy', 'aichat.service'), 'utf8')
  return unit.replaceAll('@AICHAT@', () => run)
}

/** Prints the unit. */
export async function printUnit(cli: Cli): Promise<void> {
  await cli.io.out(systemdUnit())
}

/** Quotes a path for ExecStart=, with systemd's specifiers and variables escaped. */
function quoted(path: string): string {
  const escaped = path.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./@+:-]+$/.test(path) ? path : `"${escaped}"`
}
