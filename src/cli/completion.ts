import { type CommandNode, type Flag, flatten } from './tree.ts'

/** The kind of words an argument takes, asked of `aichat __complete`; a file name where none is named here. */
const dynamic: Record<string, string> = { id: 'plugins', plugin: 'plugins' }

/** The completion script of a shell for a command tree, or undefined for a shell that is not known. */
export function completionScript(shell: string, root: CommandNode): string | undefined {
  if (shell === 'bash') return bash(root)
  if (shell === 'zsh') return zsh(root)
  if (shell === 'fish') return fish(root)
  return undefined
}

/** What completes the arguments of a command: the kind of its first argument, if that has one. */
function wordsFor(node: CommandNode): string | undefined {
  if (node.path[0] !== 'plugin' && node.path[0] !== 'models') return undefined
  const [first] = node.arguments
  return first && dynamic[first.name]
}

function names(flags: readonly Flag[]): readonly string[] {
  return flags.flatMap(({ short, long }) => [short, long]).filter((name): name is string => name !== undefined)
}

/** `case` patterns that recognise each step deeper into the tree. */
function steps(root: CommandNode): string {
  return flatten(root)
    .filter((node) => node.path.length > 0)
    .map((node) => `'${node.path.slice(0, -1).join(' ')}|${node.path.at(-1)}'`)
    .join(' | ')
}

function bash(root: CommandNode): string {
  const cases = flatten(root).map((node) => {
    const words = node.commands.map((sub) => sub.path.at(-1)).join(' ')
    const kind = wordsFor(node)
    return `    '${node.path.join(' ')}')
      commands='${words}'
      flags='${names([...node.flags, ...(node === root ? [] : root.flags)]).join(' ')}'
      kind='${kind ?? ''}'
      ;;`
  })
  return `# bash completion for aichat, generated from its command tree
_aichat() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word commands='' flags='' kind='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$path|$word" in
    ${steps(root)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=()
  if [[ $current == -* ]]; then
    commands="$flags"
  elif [[ -n $kind ]]; then
    commands="$(aichat __complete "$kind" 2>/dev/null </dev/null)"
  fi
  while IFS= read -r word; do
    [[ -n $word ]] && COMPREPLY+=("$word")
  done < <(compgen -W "$commands" -- "$current")
  return 0
}
complete -o default -F _aichat aichat
`
}

function zsh(root: CommandNode): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const described = (name: string, description: string) => quote(`${name.replaceAll(':', '\\:')}:${description}`)
  const cases = flatten(root).map((node) => {
    const commands = node.commands.map((sub) => described(sub.path.at(-1)!, sub.description))
    const flags = [...node.flags, ...(node === root ? [] : root.flags)].flatMap((flag) =>
      names([flag]).map((name) => described(name, flag.description)),
    )
    return `    ${quote(node.path.join(' '))})
      commands=(${commands.join(' ')})
      flags=(${flags.join(' ')})
      kind=${quote(wordsFor(node) ?? '')}
      ;;`
  })
  return `#compdef aichat
# zsh completion for aichat, generated from its command tree
_aichat() {
  local word_path='' word kind=''
  local -a commands flags found
  local index
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    case "$word_path|$word" in
    ${steps(root)}) word_path="\${word_path:+$word_path }$word" ;;
    esac
  done
  case "$word_path" in
${cases.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe 'flag' flags
    return
  fi
  if [[ -n "$kind" ]]; then
    found=("\${(@f)$(aichat __complete "$kind" 2>/dev/null </dev/null)}")
    compadd -a found
    return
  fi
  if ((\${#commands})); then
    _describe 'command' commands
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _aichat ]]; then
  _aichat "$@"
else
  compdef _aichat aichat
fi
`
}

function fish(root: CommandNode): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = flatten(root).flatMap((node) => {
    const here = `-n ${quote(`__aichat_at ${quote(node.path.join(' '))}`)}`
    const kind = wordsFor(node)
    return [
      ...node.commands.map((sub) => `complete -c aichat ${here} -f -a ${sub.path.at(-1)} -d ${quote(sub.description)}`),
      ...node.flags.map((flag) => fishFlag(flag, node === root ? '' : here, quote)),
      ...(kind ? [`complete -c aichat ${here} -f -a '(aichat __complete ${kind} 2>/dev/null </dev/null)'`] : []),
    ]
  })
  return `# fish completion for aichat, generated from its command tree
function __aichat_path
    set -l path ''
    for word in (commandline -opc)[2..-1]
        switch "$path|$word"
            case ${flatten(root)
              .filter((node) => node.path.length > 0)
              .map((node) => `'${node.path.slice(0, -1).join(' ')}|${node.path.at(-1)}'`)
              .join(' ')}
                set path (string trim -- "$path $word")
        end
    end
    echo $path
end

function __aichat_at
    test (__aichat_path) = "$argv[1]"
end

${lines.join('\n')}
`
}

function fishFlag(flag: Flag, here: string, quote: (text: string) => string): string {
  const short = flag.short ? ` -s ${flag.short.slice(1)}` : ''
  const long = flag.long ? ` -l ${flag.long.slice(2)}` : ''
  const value = flag.value ? (flag.choices.length > 0 ? ` -x -a ${quote(flag.choices.join(' '))}` : ' -r') : ''
  return `complete -c aichat${here ? ` ${here}` : ''}${short}${long}${value} -d ${quote(flag.description)}`
}
