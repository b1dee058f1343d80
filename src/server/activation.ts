import { AppError } from '../errors.ts'
import type { Environment } from '../settings/settings.ts'

/** The first file descriptor that a supervisor passes on: sd_listen_fds(3). */
const firstDescriptor = 3

/** The most sockets that are looked at. */
const mostSockets = 64

/** Names that say nothing: systemd's for a socket without one, and those of a unit file. */
const namesNothing = /^(?:unknown|connection|stored|.*\.socket)?$/

/**
 * The sockets that systemd listens on for this process, as file descriptors by the name of a server (LISTEN_FDS, LISTEN_PID,
 * LISTEN_FDNAMES). A single socket without a telling name is the first server's. Throws `configuration` with every name that
 * belongs to none of the servers, or comes twice.
 */
export function passedSockets(
  environment: Environment,
  servers: readonly string[],
  pid = process.pid,
): ReadonlyMap<string, number> {
  const { LISTEN_PID: forPid, LISTEN_FDS: count = '', LISTEN_FDNAMES: names = '' } = environment
  const sockets = new Map<string, number>()
  if (forPid !== String(pid) || !/^[1-9]\d*$/.test(count)) return sockets
  const given = names.split(':')
  const problems: string[] = []
  for (let at = 0; at < Math.min(Number(count), mostSockets); at++) {
    const own = given[at] ?? ''
    const name = Number(count) === 1 && namesNothing.test(own) ? servers[0]! : own
    if (sockets.has(name)) problems.push(`two sockets are called ${name}`)
    else if (!servers.includes(name)) problems.push(`socket ${at + 1} is called "${own.slice(0, 80)}"`)
    sockets.set(name, firstDescriptor + at)
  }
  if (problems.length > 0)
    throw new AppError('configuration', 'The sockets that systemd passed on fit no server', {
      details: [...problems, `Set FileDescriptorName= in the socket unit to one of: ${servers.join(', ')}`],
    })
  return sockets
}
