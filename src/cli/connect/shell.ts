import type { Environment } from '../../settings/settings.ts'
import type { Variables } from './clients.ts'

export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof shells)[number]

/** The shell of the user; bash's words serve others of its family. */
export function shellOf(environment: Environment): Shell {
  const name = environment['SHELL']?.split('/').at(-1)
  return shells.find((shell) => shell === name) ?? 'bash'
}

/**
 * Lines that set an environment in a shell, take variables away that would stand against it, and have a program started with
 * further arguments.
 */
export function shellLines(
  variables: Variables,
  { program, args }: { readonly program: string | undefined; readonly args: readonly string[] },
  shell: Shell,
): string {
  const isFish = shell === 'fish'
  const word = isFish ? fishWord : posixWord
  const lines = Object.entries(variables).map(([name, value]) => {
    if (value === undefined) return isFish ? `set -e ${name}` : `unset ${name}`
    return isFish ? `set -gx ${name} ${word(value)}` : `export ${name}=${word(value)}`
  })
  if (program === undefined || args.length === 0) return lines.join('\n')
  const command = `command ${program} ${args.map(word).join(' ')}`
  return [...lines, isFish ? `function ${program}; ${command} $argv; end` : `${program}() { ${command} "$@"; }`].join(
    '\n',
  )
}

function posixWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function fishWord(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
