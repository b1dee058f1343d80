import { spawnSync } from 'node:child_process'

let updated = false

/**
 * True when a program is there, after trying to install its Debian package where that is possible: as root, with apt.
 * Otherwise the tests that need it count as skipped, by name.
 */
export function haveProgram(program: string, debianPackage: string | readonly string[] = program): boolean {
  if (isThere(program)) return true
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    const packages = typeof debianPackage === 'string' ? [debianPackage] : debianPackage
    const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    // Another test file may hold apt's lock at this moment.
    const options = ['-o', 'DPkg::Lock::Timeout=120']
    if (!updated)
      spawnSync('apt-get', [...options, 'update', '-qq'], { env: environment, stdio: 'ignore', timeout: 120_000 })
    updated = true
    spawnSync('apt-get', [...options, 'install', '-y', '-qq', '--no-install-recommends', ...packages], {
      env: environment,
      stdio: 'ignore',
      timeout: 180_000,
    })
    if (isThere(program)) return true
  }
  process.stdout.write(`skipped: ${program} is not installed (Debian package ${String(debianPackage)})\n`)
  return false
}

function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0
}
