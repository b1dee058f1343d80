// Writes the pages of the manual for man(1) from the command tree and the Markdown of `man/`, in mdoc(7): `npm run docs`.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import MarkdownIt from 'markdown-it'

/** The generated files, by their path in the project; `facts` is what `aichat __manual` prints. */
export function generated({ root, pages, environment, exitCodes, fields }) {
  return new Map([
    ['man/aichat.1', manual(root, pages, environment, exitCodes)],
    ...pages.map((page) => [
      `man/${page.name}.${page.section}`,
      pageRoff(page, pages, page.name === 'aichat-plugin' ? fieldsRoff(fields) : []),
    ]),
  ])
}

/** The manual page aichat(1) in mdoc(7), which names the other pages. */
function manual(root, pages, environment, exitCodes) {
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
    ...environment.flatMap(([name, meaning]) => [`.It Ev ${name}`, sentence(meaning)]),
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

function commandSection(node) {
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

function exampleLines(examples) {
  return ['.Bd -literal -offset indent', ...examples.map(escapeRoff), '.Ed']
}

function flagList(flags) {
  if (flags.length === 0) return []
  return [
    '.Bl -tag -width Ds',
    ...flags.flatMap((flag) => [`.It ${flagNames(flag)}`, sentence(valuesText(flag))]),
    '.El',
  ]
}

/** The description with choices and default, as `--help` shows them. */
function valuesText({ description, choices, fallback }) {
  const facts = [
    ...(choices.length > 0 ? [`choices: ${choices.join(', ')}`] : []),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ]
  return facts.length > 0 ? `${description} (${facts.join('; ')})` : description
}

function flagNames({ short, long, value }) {
  const spelled = [short && `Fl ${escapeRoff(short.slice(1))}`, long && `Fl \\&-${escapeRoff(long.slice(2))}`]
    .filter(Boolean)
    .join(' , ')
  return value ? `${spelled} Ar ${value}` : spelled
}

/** Capitalises a description and ends it with a full stop. */
function sentence(text) {
  const escaped = escapeRoff(text.charAt(0).toUpperCase() + text.slice(1))
  return `${escaped}${/[.!?]$/.test(escaped) ? '' : '.'}`
}

/** The node and its descendants, parents first. */
function flatten(node) {
  return [node, ...node.commands.flatMap(flatten)]
}

/** A page of the manual in mdoc(7); `more` are lines after its text. Throws for Markdown that no page uses. */
function pageRoff(page, others, more) {
  const [, ...blocks] = blocksOf(page.text)
  const related = others.filter(({ name }) => name !== page.name).map(({ name, section }) => `.Xr ${name} ${section}`)
  return `${[
    `'\\" t`,
    `.\\" Generated from ${page.name}.md.`,
    '.Dd $Mdocdate$',
    `.Dt ${page.name.toUpperCase()} ${page.section}`,
    '.Os',
    '.Sh NAME',
    `.Nm ${page.name}`,
    `.Nd ${escapeRoff(page.title)}`,
    '.Sh DESCRIPTION',
    ...blockLines(blocks),
    ...more,
    '.Sh SEE ALSO',
    ['.Xr aichat 1', ...related].join(' ,\n'),
  ].join('\n')}\n`
}

/** The lines of blocks, with a gap between two that follow each other. */
function blockLines(blocks) {
  return blocks.flatMap((block, at) => {
    const before = blocks[at - 1]?.type
    const opensItself = block.type === 'heading' || /_list$/.test(block.type) || block.type === 'fence'
    return [...(before === undefined || before === 'heading' || opensItself ? [] : ['.Pp']), ...linesOf(block)]
  })
}

function linesOf(block) {
  const { type, token, children } = block
  if (type === 'paragraph') return [textOf(children)]
  if (type === 'heading') return [`.Sh ${textOf(children).toUpperCase()}`]
  if (type === 'fence') return ['.Bd -literal -offset indent', escapeRoff(token.content.trimEnd()), '.Ed']
  if (type === 'bullet_list' || type === 'ordered_list') {
    return [
      `.Bl ${type === 'bullet_list' ? '-bullet' : '-enum'} -compact`,
      ...children.flatMap((item) => ['.It', ...blockLines(item.children)]),
      '.El',
    ]
  }
  if (type === 'table') return tableLines(block)
  throw new Error(`The manual has no ${type}`)
}

/** A table for tbl(1): its columns share the width of the page, and the text in them wraps. */
function tableLines({ children }) {
  const rows = children.flatMap(({ children: rows }) => rows)
  const cells = rows.map((row) => row.children.map((cell) => textOf(cell.children)))
  const columns = cells[0].length
  const formats = (style) => Array.from({ length: columns }, () => `l${style}x`).join(' ')
  const [head = [], ...body] = cells.map((row) => row.map((cell) => `T{\n${cell}\nT}`).join('\t'))
  return ['.TS', 'allbox;', formats('b'), `${formats('')}.`, String(head), ...body, '.TE']
}

function textOf(blocks) {
  return (
    blocks
      .flatMap(({ token }) => inlineOf(token.content))
      .map(inlineRoff)
      .join('')
      // A sentence of mdoc begins a line, and a line never begins with a request.
      .replace(/([.!?:]) (?=[A-Z])/g, '$1\n')
      .replace(/^ +/gm, '')
      .replace(/^([.'])/gm, '\\&$1')
  )
}

const fonts = {
  strong_open: '\\fB',
  strong_close: '\\fP',
  em_open: '\\fI',
  em_close: '\\fP',
  softbreak: '\n',
}

function inlineRoff(token) {
  if (token.type === 'code_inline') return `\\fB${escapeRoff(token.content)}\\fP`
  if (token.type === 'text' || token.type === 'text_special') return escapeRoff(token.content)
  // A page is named by the text of its link; an address follows it.
  if (token.type === 'link_open' || token.type === 'link_close') return ''
  const font = fonts[token.type]
  if (font === undefined) throw new Error(`The manual has no ${token.type}`)
  return font
}

const parser = new MarkdownIt({ html: true })

/** The blocks of a text, each with those in it. */
function blocksOf(source) {
  const tokens = []
  parser.block.parse(source, parser, {}, tokens)
  const top = { children: [] }
  const stack = [top]
  for (const token of tokens) {
    const block = { type: token.type.replace(/_open$/, ''), token, children: [] }
    if (token.nesting >= 0) stack.at(-1).children.push(block)
    if (token.nesting > 0) stack.push(block)
    if (token.nesting < 0) stack.pop()
  }
  return top.children
}

function inlineOf(text) {
  const tokens = []
  parser.inline.parse(text, parser, {}, tokens)
  return tokens
}

/** The sections of aichat-plugin(5) that list the fields, in mdoc(7). */
function fieldsRoff(fields) {
  return [
    '.Sh FIELDS',
    'A path names a nested field;',
    '.Ql []',
    'stands for the items of a list.',
    '.Bl -tag -width Ds',
    ...fields.flatMap((field) => [
      `.It Cm ${escapeRoff(field.path)}`,
      `(${escapeRoff(field.facts)})`,
      // A sentence of mdoc begins a line.
      escapeRoff(field.description.replace(/([.;]) (?=[A-Z])/g, '$1\n')),
      ...field.examples.flatMap((example) => [
        '.Pp',
        'Example:',
        '.Bd -literal -compact',
        escapeRoff(JSON.stringify(example)),
        '.Ed',
      ]),
    ]),
    '.El',
  ]
}

/** Escapes text for roff: backslashes, dashes, and a dot or quote at the start of a line, which would begin a request. */
function escapeRoff(text) {
  return text
    .replaceAll('\\', '\\e')
    .replace(/^([.'])/gm, '\\&$1')
    .replaceAll('…', '\\&...')
    .replaceAll('--', '\\-\\-')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const printed = execFileSync(process.execPath, [join(root, 'bin', 'set-up.mjs'), '--run', '__manual'], {
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for (const [path, content] of generated(JSON.parse(printed))) writeFileSync(join(root, path), content)
}
