import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The package's version, as package.json says it. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('#package')), 'utf8'))
  return String((manifest as { version?: unknown }).version)
}

/** The program's name, its version, and the name of the package, which tells it from another program called aichat. */
export function versionLine(): string {
  return `aichat ${version()} (aichat-toolkit)`
}
