import { type CommandNode, type Flag, flatten } from '../help/tree.ts'
import { argumentsOf, flagNames, repeatsLast, stepPatterns, valueBranches, valuedFlags, wordsCommand } from './kinds.ts'

/** Works from a folder of `fpath` and when sourced after compinit. */
export function zshCompletion(root: CommandNode): string {
  const nodes = flatten(root)
  return `#compdef aichat
# zsh completion for aichat, generated from its command tree
_aichat() {
  local word_path='' flag='' word kind='' first='' rest=''
  local -a commands flags found values kinds
  local -i place=0
  local index
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if [[ -n "$flag" ]]; then
      flag=''
      continue
    fi
    case "$word" in
    ${valuedFlags(nodes).join(' | ')}) flag="$word" ;;
    *)
      case "$word_path|$word" in
      ${stepPatterns(nodes)}) word_path="\${word_path:+$word_path }$word" ;;
      *'|-'*) ;;
      *)
        ((place)) || first="\${(Q)word}"
        ((++place))
        ;;
      esac
      ;;
    esac
  done
  case "$word_path" in
${nodes.map(branch).join('\n')}
  esac
  # A program aichat-NAME is a command too.
  [[ -n "$word_path" ]] || commands+=(\${\${(f)"$(whence -pm 'aichat-*')"}##*/aichat-})
  if ((place < \${#kinds})); then kind="\${kinds[place + 1]}"; else kind="$rest"; fi
  ((place == 0)) || commands=() values=()
  flags+=(${root.flags.flatMap(describedFlag).join(' ')})
  if [[ -n "$flag" ]]; then
    commands=() kind=''
    case "$word_path|$flag" in
${valueBranches(nodes, root, (words) => `values=(${words})`)}
    esac
  elif [[ "\${words[CURRENT]}" == -* ]]; then
    _describe 'flag' flags
    return
  fi
  if [[ -n "$kind" ]]; then
    values=("\${(@f)$(${wordsCommand('"$kind"', '"$first"')})}")
  fi
  if ((\${#values})) && [[ -n "\${values[1]}" ]]; then
    compadd -a values
    ((\${#commands})) && _describe 'command' commands
    return 0
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

function branch(node: CommandNode): string {
  const commands = node.commands.map((sub) => described(sub.path.at(-1)!, sub.description))
  const flags = node.path.length === 0 ? [] : node.flags.flatMap(describedFlag)
  return `  ${quoted(node.path.join(' '))})
    commands=(${commands.join(' ')})
    flags=(${flags.join(' ')})
    values=(${node.choices.join(' ')})
    kinds=(${argumentsOf(node)
      .map((kind) => quoted(kind ?? ''))
      .join(' ')})
    rest=${quoted(repeatsLast(node) ? (argumentsOf(node).at(-1) ?? '') : '')}
    ;;`
}

function describedFlag(flag: Flag): string[] {
  return flagNames([flag]).map((name) => described(name, flag.description))
}

function described(name: string, description: string): string {
  return quoted(`${name.replaceAll(':', '\\:')}:${description}`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
