/**
 * Runs the benches in this folder, or those named: `npm run bench -- gateway`. They measure and print; nothing is asserted.
 */
import { readdirSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath, pathToFileURL } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const all = readdirSync(folder)
  .map((file) => /^([\w-]+)\.[jt]s$/.exec(file)?.[1])
  .filter((name): name is string => name !== undefined && name !== 'run')
const asked = process.argv.slice(2)
const unknown = asked.filter((word) => !all.includes(word))
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}; there is ${all.join(', ')}\n`)
  process.exitCode = 64
} else {
  for (const name of asked.length > 0 ? asked : all) {
    process.stdout.write(
      `\n== ${name} (Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, load ${loadavg()[0]!.toFixed(1)})\n`,
    )
    const { bench } = (await import(
      pathToFileURL(`${folder}${name}${fileURLToPath(import.meta.url).endsWith('.ts') ? '.ts' : '.js'}`).href
    )) as { bench: () => Promise<void> }
    await bench()
  }
}
