import type { Environment } from '../../settings/settings.ts'
import type { Variables } from './client.ts'

export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof shells)[number]

/** The shell of the user; bash's words serve others of its family. */
export function shellOf(environment: Environment): Shell {
  const name = environment['SHELL']?.split('/').at(-1)
  return shells.find((shell) => shell === name) ?? 'bash'
}

/** Lines that set an environment in a shell, and take variables away that would stand against it. */
export function exportLines(variables: Variables, shell: Shell): string {
  return Object.entries(variables)
    .map(([name, value]) => {
      if (value === undefined) return shell === 'fish' ? `set -e ${name}` : `unset ${name}`
      return shell === 'fish' ? `set -gx ${name} ${fishWord(value)}` : `export ${name}=${posixWord(value)}`
    })
    .join('\n')
}

function posixWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function fishWord(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
