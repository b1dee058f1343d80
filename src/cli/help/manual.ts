import { environmentTopic, exitCodes } from './topics.ts'
import { type CommandNode, type Flag, flatten } from './tree.ts'

/** The manual page aichat(1) in mdoc(7), from the command tree. */
export function manual(root: CommandNode): string {
  const commands = flatten(root).filter(
    (node) => node.path.length > 0 && (node.commands.length === 0 || node.arguments.length > 0),
  )
  return `${[
    '.\\" Generated from the command tree.',
    '.Dd $Mdocdate$',
    '.Dt AICHAT 1',
    '.Os',
    '.Sh NAME',
    '.Nm aichat',
    '.Nd chat with any model provider, speak, and keep personas with a memory',
    '.Sh SYNOPSIS',
    '.Nm',
    '.Op Ar flags',
    '.Ar command',
    '.Op Ar arguments',
    '.Sh DESCRIPTION',
    '.Nm',
    'sends chats to the model provider that a plugin describes, and to the local model runner when that fails.',
    'The result is written to the standard output and nothing else is; remarks, questions and errors go to the standard error.',
    '.Pp',
    'Text is a prompt without a command when a flag of',
    '.Cm chat',
    'precedes it, when it holds white space, or after',
    '.Fl \\&- .',
    '.Ss Flags of every command',
    ...flagList(root.flags),
    '.Sh COMMANDS',
    ...commands.flatMap(commandSection),
    '.Sh ENVIRONMENT',
    '.Bl -tag -width Ds',
    ...environmentTopic.flatMap(([name, what]) => [`.It Ev ${name}`, sentence(what)]),
    '.El',
    '.Sh FILES',
    'The folders in use are printed by',
    '.Ic aichat config path .',
    '.Sh EXIT STATUS',
    '.Bl -tag -width Ds',
    ...exitCodes.flatMap(([code, what]) => [`.It ${code}`, sentence(what)]),
    '.El',
    '.Sh EXAMPLES',
    'Ask the active plugin, or the local runner:',
    '.Pp',
    '.Dl aichat chat \\(dqWhat is a monad?\\(dq',
    '.Pp',
    'Show the request that would go out:',
    '.Pp',
    '.Dl aichat chat --dry-run -m openai:gpt-4.1-mini hello',
  ].join('\n')}\n`
}

function commandSection(node: CommandNode): string[] {
  return [
    `.Ss ${node.path.map(escapeRoff).join(' ')}`,
    '.Nm',
    `.Cm ${node.path.map(escapeRoff).join(' ')}`,
    ...node.arguments.map(
      ({ name, required, variadic }) => `${required ? '.Ar' : '.Op Ar'} ${name}${variadic ? ' ...' : ''}`,
    ),
    '.Pp',
    sentence(node.description),
    ...(node.flags.filter((flag) => flag.long !== '--help').length > 0
      ? flagList(node.flags.filter((flag) => flag.long !== '--help'))
      : []),
  ]
}

function flagList(flags: readonly Flag[]): string[] {
  return [
    '.Bl -tag -width Ds',
    ...flags.flatMap((flag) => [`.It ${flagNames(flag)}`, sentence(flag.description)]),
    '.El',
  ]
}

function flagNames({ short, long, value }: Flag): string {
  const spelled = [short && `Fl ${escapeRoff(short.slice(1))}`, long && `Fl \\&-${escapeRoff(long.slice(2))}`]
    .filter(Boolean)
    .join(' , ')
  return value ? `${spelled} Ar ${value}` : spelled
}

/** mdoc reads a line that begins with a dot or a quote as a request; each sentence begins a line and ends with a full stop. */
function sentence(text: string): string {
  const escaped = escapeRoff(text.charAt(0).toUpperCase() + text.slice(1))
  return `${escaped}${/[.!?]$/.test(escaped) ? '' : '.'}`
}

function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replace(/^([.'])/gm, '\\&$1')
    .replaceAll('…', '\\&...')
    .replaceAll('--', '\\-\\-')
}
