/** The head of the program's help, also in the command tree. */
export const summary = {
  usage: '[options] COMMAND',
  description: 'Chat with any model provider, speak, and keep personas with a memory.',
  examples: ['aichat setup', 'aichat "What is a monad?"', 'git diff | aichat chat "Write a commit message"'],
} as const

/** The commands by purpose; test/cli/help/overview.test.ts holds it to the command tree. */
const groups: readonly (readonly [name: string, commands: string, purpose: string])[] = [
  ['Chat', 'chat template session mcp', 'ask a model, continue, give it tools'],
  ['Personas', 'persona', 'characters with a memory of you'],
  ['Speech', 'tts', 'read text aloud'],
  ['Models', 'models plugin prices secret', 'providers, their prices and keys'],
  ['Programs', 'connect key limit usage', 'other clients, keys and costs'],
  ['Service', 'setup serve service status doctor backup db config completion', ''],
  ['Account', 'register login logout whoami passwd auth users audit', ''],
]

/** The names of the commands below `aichat`. */
export function commandNames(): readonly string[] {
  return groups.flatMap(([, commands]) => commands.split(' '))
}

const options: readonly (readonly [names: string, meaning: string])[] = [
  ['--server URL, --local', 'ask the daemon there, or work in this process'],
  ['--json, --plain', 'print JSON, or lines with tabs'],
  ['-q, -v', 'print fewer or more messages'],
  ['-y, --no-input, -h, -V', 'answer yes, never ask, show this help, the version'],
]

/** The help of the program, of 23 lines: its commands in groups, and the way to all of them. `extensions` take one more. */
export function overview(extensions: readonly string[]): string {
  const name = Math.max(...groups.map(([group]) => group.length))
  const widest = Math.max(...groups.map(([, commands, purpose]) => (purpose === '' ? 0 : commands.length)))
  return [
    `Usage: aichat ${summary.usage}`,
    summary.description,
    '',
    ...groups.map(([group, commands, purpose]) =>
      `  ${group.padEnd(name)}  ${commands.padEnd(widest)}  ${purpose}`.trimEnd(),
    ),
    ...(extensions.length > 0 ? [`  Extensions: ${extensions.join(' ')}`] : []),
    '',
    'Options:',
    ...options.map(([names, meaning]) => `  ${names.padEnd(24)}${meaning}`),
    '',
    'Examples:',
    ...summary.examples.map((line) => `  ${line}`),
    '',
    'More: aichat help COMMAND, help commands, help manual, help --search WORD',
    '',
  ].join('\n')
}
