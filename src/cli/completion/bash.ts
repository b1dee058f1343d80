import { type CommandNode, flatten } from '../help/tree.ts'
import { argumentsOf, flagNames, repeatsLast, stepPatterns, valueBranches, valuedFlags, wordsCommand } from './kinds.ts'

/** Works with and without the package bash-completion; quotes names with spaces and colons. */
export function bashCompletion(root: CommandNode): string {
  const nodes = flatten(root)
  return `# bash completion for aichat, generated from its command tree
_aichat() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before='' path='' flag='' word
  local commands='' flags='' kind='' words='' first='' rest='' place=0 index
  local -a kinds=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    # bash breaks words at colons and equals signs; these are the pieces before the last one.
    [[ $word == [:=] || \${COMP_WORDS[index + 1]} == : ]] && continue
    if [[ -n $flag ]]; then
      flag=''
      continue
    fi
    case "$word" in
    ${valuedFlags(nodes).join(' | ')}) flag="$word" ;;
    *)
      case "$path|$word" in
      ${stepPatterns(nodes)}) path="\${path:+$path }$word" ;;
      *'|-'*) ;;
      *)
        # The word as it was typed, without its quoting.
        if ((place == 0)); then
          first="\${word//\\\\/}" first="\${first//\\"/}" first="\${first//\\'/}"
        fi
        ((++place))
        ;;
      esac
      ;;
    esac
  done
  case "$path" in
${nodes.map(branch).join('\n')}
  esac
  kind="\${kinds[place]-$rest}"
  ((place == 0)) || commands=''
  flags+=' ${flagNames(root.flags).join(' ')}'
  if [[ -n $flag ]]; then
    commands='' flags='' kind=''
    case "$path|$flag" in
${valueBranches(nodes, root, (words) => `commands='${words}'`)}
    esac
  fi
  word="\${COMP_LINE:0:COMP_POINT}"
  word="\${word##*[ =]}"
  if [[ $word == *:* ]]; then
    current="$word"
    before="\${word%"\${word##*:}"}"
  fi
  if [[ $current == -* ]]; then
    words="\${flags// /$'\\n'}"
  elif [[ -n $kind ]]; then
    words="$(${wordsCommand('"$kind"', '"$first"')})"
  elif [[ -n $before && -z $commands ]]; then
    # bash itself would look for a file named by what follows the last colon.
    words="$(compgen -f -- "$current" | while IFS= read -r word; do
      [[ -d $word ]] && word+=/
      printf '%s\\n' "$word"
    done)"
    [[ $words == */ ]] && compopt -o nospace
  else
    words="\${commands// /$'\\n'}"
    # A program aichat-NAME is a command too.
    [[ -z $path$flag && $place == 0 ]] && words+=$'\\n'"$(compgen -c aichat- | sed 's/^aichat-//' | sort -u)"
  fi
  COMPREPLY=()
  while IFS= read -r word; do
    [[ -n $word && $word == "$current"* ]] || continue
    word="\${word#"$before"}"
    [[ $word == *[!A-Za-z0-9_.,/:@%+=-]* ]] && printf -v word '%q' "$word"
    COMPREPLY+=("$word")
  done <<<"$words"
  return 0
}
complete -o default -F _aichat aichat
`
}

function branch(node: CommandNode): string {
  const words = [...node.commands.map((sub) => sub.path.at(-1)), ...node.choices].join(' ')
  const flags = node.path.length === 0 ? '' : flagNames(node.flags).join(' ')
  return `  '${node.path.join(' ')}')
    commands='${words}'
    flags='${flags}'
    kinds=(${argumentsOf(node)
      .map((kind) => `'${kind ?? ''}'`)
      .join(' ')})
    rest='${repeatsLast(node) ? argumentsOf(node).at(-1) : ''}'
    ;;`
}
