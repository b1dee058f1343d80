import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The package's version, as package.json says it. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('#package')), 'utf8'))
  return String((manifest as { version?: unknown }).version)
}
