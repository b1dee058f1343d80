import { once } from 'node:events'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readManifest, serverIds } from '../../../speech/servers/manifest.ts'
import { runningServices } from '../../app/service-record.ts'
import { readSecret, type Settings, settingsFile } from '../../settings/settings.ts'
import type { Finding } from './finding.ts'

/** The folder for programs that the default PATH of systemd's units holds; see systemd.exec(5). */
const unitPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The settings folder of the unit. */
const unitConfig = '/etc/aichat-toolkit'

/** The obstacles that would keep the unit of `aichat service unit` from serving on this machine. */
export async function serviceFindings(settings: Settings): Promise<readonly Finding[]> {
  return [
    systemd(),
    ...programs(),
    notifier(),
    ...(await ports(settings)),
    ...folders(settings),
    ...secrets(settings),
    ...certificate(settings),
  ]
}

function systemd(): Finding {
  return existsSync('/run/systemd/system')
    ? { check: 'systemd', status: 'ok', detail: 'runs this machine' }
    : { check: 'systemd', status: 'warning', detail: 'does not run this machine', fix: 'use it where systemd does' }
}

/**
 * The unit's dynamic user owns nothing on this machine: it reads files open to all, and nothing in closed home folders.
 */
function programs(): readonly Finding[] {
  const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
  const needed = [process.execPath, join(root, 'bin', 'aichat'), join(root, 'dist'), join(root, 'node_modules')]
  return needed.map((path) => {
    if (!existsSync(path)) return failed('program', `${path} is not there`, 'install aichat again')
    const closed = closedTo(path)
    if (closed === undefined) return { check: 'program', status: 'ok', detail: path }
    const isHome = /^\/(?:root|home)(?:\/|$)/.test(path)
    return failed(
      'program',
      `the unit's user cannot read ${path}: ${closed} is closed to others`,
      path === process.execPath
        ? 'install Node for all users, such as in /usr, and write the unit with that one'
        : `install aichat outside of ${isHome ? 'home folders' : closed}: npm install --global of its package, as root`,
    )
  })
}

/** The first folder or file of a path that others may not pass or read; undefined where they may. */
export function closedTo(path: string): string | undefined {
  const parents: string[] = []
  for (let at = dirname(path); ; at = dirname(at)) {
    parents.unshift(at)
    if (at === dirname(at)) break
  }
  const closed = parents.find((folder) => (statSync(folder).mode & 0o001) === 0)
  return closed ?? ((statSync(path).mode & 0o004) === 0 ? path : undefined)
}

function notifier(): Finding {
  const found = unitPath.split(delimiter).some((folder) => existsSync(join(folder, 'systemd-notify')))
  return found
    ? { check: 'systemd-notify', status: 'ok', detail: 'tells systemd that the service is ready' }
    : failed('systemd-notify', 'is not installed: systemd would wait for READY and end the service', 'install systemd')
}

async function ports(settings: Settings): Promise<readonly Finding[]> {
  const { host, port } = settings.listen
  const places = [{ name: 'api', port }, ...serverIds.map((name) => ({ name, port: readManifest(name).port }))]
  return Promise.all(
    places.map(async (place): Promise<Finding> => {
      const code = await bindFailure(host, place.port)
      const where = `port ${place.port} of ${place.name}`
      if (code === undefined) return { check: 'port', status: 'ok', detail: `${where} is free` }
      if (code === 'EACCES')
        return failed('port', `${where} needs more rights than the unit has`, 'aichat service unit --socket opens it')
      if (code !== 'EADDRINUSE')
        return failed('port', `cannot listen on ${host}:${place.port} (${code})`, 'set api.host')
      const own = runningServices(settings.paths.state).find(({ servers }) =>
        servers.some(({ url }) => new URL(url).port === String(place.port)),
      )
      return failed(
        'port',
        own ? `${where} is taken by aichat ${own.version} (pid ${own.pid})` : `${where} is taken by another program`,
        own ? `stop that one first: kill ${own.pid}` : `ss -ltnp 'sport = :${place.port}' shows which`,
      )
    }),
  )
}

/** The code of the failure to listen; undefined where it works. */
async function bindFailure(host: string, port: number): Promise<string | undefined> {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, 'listening')
    return undefined
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code ?? 'unknown'
  } finally {
    probe.close()
  }
}

/** The unit's folders: systemd makes and opens those for data; settings stay root's, and must be readable. */
function folders(settings: Settings): readonly Finding[] {
  const file = settingsFile({ ...settings.paths, config: unitConfig })
  const findings: Finding[] = []
  if (existsSync(file)) {
    const closed = closedTo(file)
    if (closed)
      findings.push(
        failed(
          'settings',
          `the unit's user cannot read ${file}: ${closed} is closed to others`,
          `chmod o+rX ${closed}`,
        ),
      )
  }
  try {
    accessSync('/var/lib', constants.F_OK)
  } catch {
    findings.push(failed('folder', '/var/lib is not there, where systemd keeps the data', 'mkdir /var/lib'))
  }
  for (const folder of ['/var/lib/aichat-toolkit', '/var/cache/aichat-toolkit'])
    if (existsSync(folder) && !statSync(folder).isDirectory())
      findings.push(failed('folder', `${folder} is no folder`, `remove ${folder}`))
  return findings
}

function secrets({ production, environment }: Settings): readonly Finding[] {
  if (!production || readSecret('JWT_SECRET', environment)) return []
  return [
    failed('JWT_SECRET', 'is not set, which NODE_ENV=production demands', 'LoadCredential=JWT_SECRET:PATH in the unit'),
  ]
}

function certificate({ tls }: Settings): readonly Finding[] {
  return (tls ? [tls.cert, tls.key] : []).flatMap((path) => {
    if (existsSync(path) && closedTo(path) === undefined) return []
    return [
      failed(
        'certificate',
        existsSync(path) ? `the unit's user cannot read ${path}` : `${path} is not there`,
        `LoadCredential=NAME:${path} in the unit, and the path %d/NAME for the setting`,
      ),
    ]
  })
}

function failed(check: string, detail: string, fix: string): Finding {
  return { check, status: 'failed', detail, fix }
}
