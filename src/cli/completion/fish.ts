import { type CommandNode, type Flag, flatten } from '../help/tree.ts'
import { argumentsOf, repeatsLast, valuedFlags, valuesOf, wordsCommand } from './kinds.ts'

export function fishCompletion(root: CommandNode): string {
  const nodes = flatten(root)
  return `# fish completion for aichat, generated from its command tree
# Prints the command's path, and a line for each of its arguments so far.
function __aichat_line
    set -l path ''
    set -l flag ''
    set -l given
    for word in (commandline -opc)[2..-1]
        if test -n "$flag"
            set flag ''
            continue
        end
        switch "$path|$word"
            case ${valuedFlags(nodes)
              .map((name) => `'*|${name}'`)
              .join(' ')}
                set flag $word
            case ${nodes
              .filter(({ path }) => path.length > 0)
              .map(({ path }) => `'${path.slice(0, -1).join(' ')}|${path.at(-1)}'`)
              .join(' ')}
                set path (string trim -- "$path $word")
            case '*|-*'
            case '*'
                set -a given $word
        end
    end
    printf '%s\\n' "$path" $given
end

function __aichat_at
    test (__aichat_line)[1] = "$argv[1]"
end

# Whether the next argument of a command is the one of that number, or with "rest" a later one.
function __aichat_next
    set -l line (__aichat_line)
    set -l place (math (count $line) - 1)
    test "$line[1]" = "$argv[1]"; or return 1
    test $place -eq $argv[2]; or test "$argv[3]" = rest -a $place -gt $argv[2]
end

# A program aichat-NAME is a command too.
complete -c aichat -n '__aichat_at ""' -f -a '(complete -C aichat- | string replace -r "^aichat-" "")'
${nodes.flatMap((node) => linesFor(node, node === root)).join('\n')}
`
}

function linesFor(node: CommandNode, isRoot: boolean): string[] {
  const here = `-n ${quoted(`__aichat_at ${quoted(node.path.join(' '))}`)}`
  return [
    ...node.commands.map((sub) => `complete -c aichat ${here} -f -a ${sub.path.at(-1)} -d ${quoted(sub.description)}`),
    ...node.flags.map((flag) => flagLine(node, flag, isRoot ? '' : here)),
    ...(node.choices.length > 0 ? [`complete -c aichat ${here} -f -a ${quoted(node.choices.join(' '))}`] : []),
    ...argumentsOf(node).flatMap((kind, place, kinds) => {
      const rest = repeatsLast(node) && place === kinds.length - 1 ? ' rest' : ''
      const at = `-n ${quoted(`__aichat_next ${quoted(node.path.join(' '))} ${place}${rest}`)}`
      return kind ? [`complete -c aichat ${at} -f -a ${quoted(`(${wordsCommand(kind, firstArgument)})`)}`] : []
    }),
  ]
}

/** The first argument of the command line: fish prints nothing where there is none. */
const firstArgument = '(__aichat_line)[2]'

function flagLine(node: CommandNode, flag: Flag, here: string): string {
  const short = flag.short ? ` -s ${flag.short.slice(1)}` : ''
  const long = flag.long ? ` -l ${flag.long.slice(2)}` : ''
  return `complete -c aichat${here ? ` ${here}` : ''}${short}${long}${valueWords(node, flag)} -d ${quoted(flag.description)}`
}

function valueWords(node: CommandNode, flag: Flag): string {
  const values = valuesOf(node, flag)
  if (!values) return flag.value ? ' -r' : ''
  return ` -x -a ${quoted('kind' in values ? `(${wordsCommand(values.kind, firstArgument)})` : values.words.join(' '))}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
