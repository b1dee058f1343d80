import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that Linux gives by itself (net.ipv4.ip_local_port_range begins with 32768), above those of known services. */
const [first, last] = [20_000, 32_000]

/**
 * Names a port of loopback on which nothing listens now, for a program that needs a number. The system gives it to no other
 * process by itself, so that it stays free until that program listens, and between its end and its next start.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first))
    const server = createServer()
    try {
      // Rejects where the port is taken.
      await once(server.listen(port, '127.0.0.1'), 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
