import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { FirstAdministrator } from '../accounts/accounts.ts'
import { type App, installationSecrets } from '../app/app.ts'
import { replaceFile } from '../storage/storage.ts'
import { identifyBy } from './guards.ts'
import type { Log } from './log.ts'

/** The parts of its process that a service uses. */
export interface ServiceIo {
  /** Aborted when the service is to stop. */
  readonly signal: AbortSignal
  readonly stderr: { write(text: string): unknown }
  readonly stderrIsTerminal: boolean
  /** Calls the listener on SIGHUP from now on; false where that ends the process. */
  readonly onHangUp: (listener: () => void) => boolean
}

/** Opens the accounts for a service. Throws `configuration`; creates the default administrator where settings ask. */
export async function openServiceAccounts(app: App, { stderr, stderrIsTerminal }: ServiceIo, log: Log) {
  const accounts = await app.accounts()
  const { administrator, warnings } = await accounts.prepareService()
  for (const warning of warnings) log.warn(`${warning}; in production this is refused`)
  if (administrator) introduce(administrator)
  /** A client on another machine needs it to create the first administrator, while there is no user. */
  const setupToken = (await accounts.needsSetup()) ? setupTokenOf(app) : undefined
  return {
    setupToken,
    identify: identifyBy(accounts, await app.apiKeys(), app.settings, { setupToken, database: app.database }),
    /** Prints how to create the first administrator, while there is no user; `url` is the service's address here. */
    async announceSetup(url: string) {
      if (!(await accounts.needsSetup())) return
      const page = app.settings.console ? ` or at ${url}/console` : ''
      const how = `There is no user yet. Create the administrator with \`aichat --server ${url} setup\`${page}`
      if (!stderrIsTerminal) {
        // A log is read by more people than a terminal.
        const path = join(app.settings.paths.state, 'setup-token')
        replaceFile(path, `${setupToken}\n`)
        return log.notice(`${how}; from another machine that needs the token in ${path}`)
      }
      stderr.write(
        [
          `${how}, or:`,
          `  curl ${url}/api/auth/register -H 'content-type: application/json' -d '{"username":"admin","password":"…"}'`,
          `From another machine that also needs -H 'x-setup-token: ${setupToken}'`,
          '',
        ].join('\n'),
      )
    },
  }

  /** A generated password is shown once on a terminal, else kept in a file that only this user can read. */
  function introduce({ username, password, generated }: FirstAdministrator): void {
    const created = `The default administrator "${username}" was created`
    if (stderrIsTerminal)
      return void stderr.write(`${created} with the password ${password} (shown once; change it with aichat passwd)\n`)
    if (!generated) return log.notice(`${created} with the password from DEFAULT_ADMIN_PASSWORD`)
    const path = join(app.settings.paths.state, 'initial-password')
    replaceFile(path, `${password}\n`)
    log.notice(`${created}; the password is in ${path} (remove that file after the first login)`)
  }
}

/** The same on all instances of a shared database: a balancer picks one of them. */
function setupTokenOf({ database, settings }: App): string {
  if (!database) return randomBytes(16).toString('base64url')
  const [secret] = installationSecrets(settings)
  return createHmac('sha256', secret).update(`setup of ${database.id}`).digest('base64url').slice(0, 22)
}
