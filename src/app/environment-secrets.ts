import { AppError } from '../errors.ts'
import type { SecretSource } from '../plugins/plugins.ts'
import { readSecret, type Settings } from '../settings/settings.ts'

/** Secrets other than the keys of providers, which their variables name. */
const otherSecrets = ['JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'HF_TOKEN']

/**
 * The secrets of the environment, of credentials and of files that variables name. Reads each at its first use, and keeps
 * it until a reload. Reading throws `configuration` for a file that cannot
 * be read.
 */
export function environmentSecrets({ environment }: Pick<Settings, 'environment'>) {
  type Found = ReturnType<typeof readSecret>
  let known = new Map<string, Found>()
  const read = (name: string) => {
    if (!known.has(name)) known.set(name, readSecret(name, environment))
    return known.get(name)
  }
  return {
    has: (name: string) => read(name) !== undefined,
    get: (name: string) => read(name)?.value,
    origin(name: string): ReturnType<SecretSource['origin']> {
      const origin = read(name)?.origin
      return origin === 'file' ? `${name}_FILE` : origin === 'credential' ? origin : 'environment'
    },
    /** Reads the values that later reloads are compared with; a service calls it at its start. */
    begin() {
      for (const name of [...otherSecrets, ...namedFiles(environment)])
        try {
          read(name)
        } catch {
          // It fails where it is used, with its reason.
        }
    },
    /**
     * Reads credentials and files again; `take` puts the new values in force. Throws `configuration` with every secret
     * that is gone, empty or no longer a valid key, and then keeps the old values.
     */
    reload() {
      const next = new Map<string, Found>()
      const problems: string[] = []
      for (const name of new Set([...otherSecrets, ...namedFiles(environment), ...known.keys()])) {
        try {
          const found = readSecret(name, environment)
          const before = known.get(name)
          if (before && !found) problems.push(`${name} is gone or empty`)
          else if (found && name.endsWith('_API_KEY') && !/^[\x21-\x7e]+$/.test(found.value.trim()))
            problems.push(`${name} holds characters that no key has`)
          next.set(name, found)
        } catch (reason) {
          problems.push((reason as Error).message)
        }
      }
      if (problems.length > 0) throw new AppError('configuration', 'Invalid secrets', { details: problems })
      const changed = [...next.keys()].filter(
        (name) => known.has(name) && known.get(name)?.value !== next.get(name)?.value,
      )
      return {
        changed: changed.sort(),
        take() {
          known = next
        },
      }
    },
  }
}

/** The names of the provider keys that a `…_API_KEY_FILE` variable points to. */
function namedFiles(environment: Settings['environment']): readonly string[] {
  return Object.keys(environment)
    .filter((name) => name.endsWith('_API_KEY_FILE'))
    .map((name) => name.slice(0, -'_FILE'.length))
}
