import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { FirstAdministrator } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { replaceFile } from '../storage/files/atomic.ts'
import { identifyBy } from './guards.ts'
import type { Identify } from './routes.ts'

/** What a service needs of the process it runs in. */
export interface ServiceIo {
  /** Aborted when the service is to stop. */
  readonly signal: AbortSignal
  readonly stderr: { write(text: string): unknown }
  readonly stderrIsTerminal: boolean
}

/** Who may use a service, made ready before it listens. */
export interface ServiceIdentity {
  readonly identify: Identify
  /** Says on the terminal, never in the log, how to get in where nobody has been yet; `url` reaches the service from here. */
  greet(url: string): Promise<void>
}

/**
 * Opens the accounts for a service: throws `configuration` when the database or the secret cannot be used, and creates
 * the default administrator where the settings want one.
 */
export async function openIdentity(app: App, { stderr, stderrIsTerminal }: ServiceIo): Promise<ServiceIdentity> {
  const accounts = await app.accounts()
  const { administrator, warnings } = await accounts.prepareService()
  for (const warning of warnings) stderr.write(`aichat: ${warning}; in production this is refused\n`)
  if (administrator) stderr.write(`${introduce(administrator)}\n`)
  const setupToken = (await accounts.needsSetup()) ? randomBytes(16).toString('base64url') : undefined
  return {
    identify: identifyBy(accounts, app.settings, setupToken),
    async greet(url) {
      if (!(await accounts.needsSetup())) return
      stderr.write(
        [
          `There is no user yet. Create the administrator with \`aichat --server ${url} setup\`, or:`,
          `  curl ${url}/api/auth/register -H 'content-type: application/json' -d '{"username":"admin","password":"…"}'`,
          `From another machine that also needs -H 'x-setup-token: ${setupToken}'`,
          '',
        ].join('\n'),
      )
    },
  }

  /** A password that somebody chose is known to them; one that was made is shown once, or kept where only we can read. */
  function introduce({ username, password, generated }: FirstAdministrator): string {
    const who = `The default administrator "${username}" was created`
    if (stderrIsTerminal) return `${who} with the password ${password} (shown once; change it with aichat passwd)`
    if (!generated) return `${who} with the password from DEFAULT_ADMIN_PASSWORD`
    const path = join(app.settings.paths.state, 'initial-password')
    replaceFile(path, `${password}\n`)
    return `${who}; the password is in ${path} (remove that file after the first login)`
  }
}
