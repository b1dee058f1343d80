import type { ManualPage } from './pages.ts'
import { escapeRoff } from './roff.ts'
import { environmentTopic, exitCodes } from './topics.ts'
import { type CommandNode, type Flag, flatten } from './tree.ts'

/** The manual page aichat(1) in mdoc(7), which names the other pages. */
export function manual(root: CommandNode, pages: readonly ManualPage[]): string {
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
    '.Op Ar options',
    '.Ar command',
    '.Op Ar arguments',
    '.Sh DESCRIPTION',
    '.Nm',
    'sends chats to the model provider of a plugin, and to the local model runner when that fails.',
    'Standard output holds the result only; remarks, questions and errors go to standard error.',
    '.Pp',
    'Text without a command is a prompt when an option of',
    '.Cm chat',
    'precedes it, when it holds white space, or after',
    '.Fl \\&- .',
    '.Ss Options of every command',
    ...flagList(root.flags),
    '.Sh COMMANDS',
    ...commands.flatMap(commandSection),
    '.Sh ENVIRONMENT',
    '.Bl -tag -width Ds',
    ...environmentTopic.flatMap(([name, meaning]) => [`.It Ev ${name}`, sentence(meaning)]),
    '.El',
    '.Sh FILES',
    'The folders in use are printed by',
    '.Ic aichat config path .',
    '.Sh EXIT STATUS',
    '.Bl -tag -width Ds',
    ...exitCodes.flatMap(([code, meaning]) => [`.It ${code}`, sentence(meaning)]),
    '.El',
    '.Sh EXAMPLES',
    ...exampleLines(root.examples),
    '.Sh SEE ALSO',
    pages.map(({ name, section }) => `.Xr ${name} ${section}`).join(' ,\n'),
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
    ...flagList(node.flags.filter((flag) => flag.long !== '--help')),
    ...(node.examples.length > 0 ? ['.Pp', 'Examples:', ...exampleLines(node.examples)] : []),
  ]
}

function exampleLines(examples: readonly string[]): string[] {
  return ['.Bd -literal -offset indent', ...examples.map(escapeRoff), '.Ed']
}

function flagList(flags: readonly Flag[]): string[] {
  if (flags.length === 0) return []
  return [
    '.Bl -tag -width Ds',
    ...flags.flatMap((flag) => [`.It ${flagNames(flag)}`, sentence(valuesText(flag))]),
    '.El',
  ]
}

/** The description with choices and default, as `--help` shows them. */
function valuesText({ description, choices, fallback }: Flag): string {
  const facts = [
    ...(choices.length > 0 ? [`choices: ${choices.join(', ')}`] : []),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ]
  return facts.length > 0 ? `${description} (${facts.join('; ')})` : description
}

function flagNames({ short, long, value }: Flag): string {
  const spelled = [short && `Fl ${escapeRoff(short.slice(1))}`, long && `Fl \\&-${escapeRoff(long.slice(2))}`]
    .filter(Boolean)
    .join(' , ')
  return value ? `${spelled} Ar ${value}` : spelled
}

/** Capitalises a description and ends it with a full stop. */
function sentence(text: string): string {
  const escaped = escapeRoff(text.charAt(0).toUpperCase() + text.slice(1))
  return `${escaped}${/[.!?]$/.test(escaped) ? '' : '.'}`
}
