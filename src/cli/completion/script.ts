/** Shells with a completion script. */
export type Shell = 'bash' | 'zsh' | 'fish'

/** Prints a line for each word that may stand in the place of the last argument, a tab and what it is; within two seconds. */
const ask = (words: string) => `aichat --timeout 2s __complete -- ${words} 2>/dev/null </dev/null`

/** The completion scripts; where `aichat` knows no word, a shell completes files. */
const scripts: Readonly<Record<Shell, string>> = {
  // Works with and without the package bash-completion; quotes names with spaces and colons.
  bash: `# bash completion for aichat
_aichat() {
  local word before='' reply index at=-1 quotes=$'\\\\"\\''
  local -a words=()
  for ((index = 1; index <= COMP_CWORD; index++)); do
    # The word as it was typed, without its quoting.
    word="\${COMP_WORDS[index]}"
    word="\${word//["$quotes"]/}"
    # bash breaks words at colons and equals signs.
    if ((at >= 0)) && [[ $word == [:=] || \${words[at]} == *[:=] ]]; then
      words[at]+="$word"
    else
      words[++at]="$word"
    fi
  done
  word="\${words[at]}"
  [[ $word == *[:=]* ]] && before="\${word%"\${word##*[:=]}"}"
  reply="$(${ask('"${words[@]}"')})"
  if [[ -z $reply && -n $before ]]; then
    # bash itself would look for a file named by what follows the last colon.
    reply="$(compgen -f -- "$word" | while IFS= read -r index; do
      [[ -d $index ]] && index+=/
      printf '%s\\n' "$index"
    done)"
    [[ $reply == */ ]] && compopt -o nospace
  fi
  COMPREPLY=()
  while IFS=$'\\t' read -r index _; do
    [[ -n $index && $index == "$word"* ]] || continue
    index="\${index#"$before"}"
    [[ $index == *[!A-Za-z0-9_.,/:@%+=-]* ]] && printf -v index '%q' "$index"
    COMPREPLY+=("$index")
  done <<<"$reply"
  return 0
}
complete -o default -F _aichat aichat
`,
  // Works from a folder of `fpath` and when sourced after compinit.
  zsh: `#compdef aichat
# zsh completion for aichat
_aichat() {
  local line
  local -a found
  for line in "\${(@f)$(${ask('"${(@Q)words[2,CURRENT]}"')})}"; do
    [[ -n "$line" ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if ((\${#found})); then
    _describe 'word' found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _aichat ]]; then
  _aichat "$@"
else
  compdef _aichat aichat
fi
`,
  fish: `# fish completion for aichat
function __aichat_complete
    set -l words (commandline -opc)[2..-1]
    set -l last (commandline -ct)
    set -g __aichat_found (${ask('$words "$last"')})
    test -n "$__aichat_found"
end
complete -c aichat -n __aichat_complete -f -a '$__aichat_found'
`,
}

/** The completion script of a shell. */
export function completionScript(shell: Shell): string {
  return scripts[shell]
}
