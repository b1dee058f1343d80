import { type CommandNode, type Flag, flatten } from '../help/tree.ts'
import { argumentKind, valuedFlags, valuesOf, wordsCommand } from './kinds.ts'

export function fishCompletion(root: CommandNode): string {
  const nodes = flatten(root)
  return `# fish completion for aichat, generated from its command tree
function __aichat_path
    set -l path ''
    set -l flag ''
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
        end
    end
    echo $path
end

function __aichat_at
    test (__aichat_path) = "$argv[1]"
end

${nodes.flatMap((node) => linesFor(node, node === root)).join('\n')}
`
}

function linesFor(node: CommandNode, isRoot: boolean): string[] {
  const here = `-n ${quoted(`__aichat_at ${quoted(node.path.join(' '))}`)}`
  const kind = argumentKind(node)
  // A command with further arguments may take a file, so files are offered too.
  const only = node.arguments.length === 1 ? ' -f' : ''
  return [
    ...node.commands.map((sub) => `complete -c aichat ${here} -f -a ${sub.path.at(-1)} -d ${quoted(sub.description)}`),
    ...node.flags.map((flag) => flagLine(node, flag, isRoot ? '' : here)),
    ...(node.choices.length > 0 ? [`complete -c aichat ${here} -f -a ${quoted(node.choices.join(' '))}`] : []),
    ...(kind ? [`complete -c aichat ${here}${only} -a ${quoted(`(${wordsCommand(kind)})`)}`] : []),
  ]
}

function flagLine(node: CommandNode, flag: Flag, here: string): string {
  const short = flag.short ? ` -s ${flag.short.slice(1)}` : ''
  const long = flag.long ? ` -l ${flag.long.slice(2)}` : ''
  return `complete -c aichat${here ? ` ${here}` : ''}${short}${long}${valueWords(node, flag)} -d ${quoted(flag.description)}`
}

function valueWords(node: CommandNode, flag: Flag): string {
  const values = valuesOf(node, flag)
  if (!values) return flag.value ? ' -r' : ''
  return ` -x -a ${quoted('kind' in values ? `(${wordsCommand(values.kind)})` : values.words.join(' '))}`
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
