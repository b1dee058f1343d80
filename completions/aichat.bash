# bash completion for aichat, with and without the package bash-completion. `aichat __complete` prints a line for each word
# that may stand in the place of the last argument, a tab and what it is; where it knows none, bash completes files.
_aichat() {
  local word before='' reply index at=-1 quotes=$'\\"\''
  local -a words=()
  for ((index = 1; index <= COMP_CWORD; index++)); do
    # The word as it was typed, without its quoting.
    word="${COMP_WORDS[index]}"
    word="${word//["$quotes"]/}"
    # bash breaks words at colons and equals signs.
    if ((at >= 0)) && [[ $word == [:=] || ${words[at]} == *[:=] ]]; then
      words[at]+="$word"
    else
      words[++at]="$word"
    fi
  done
  word="${words[at]}"
  [[ $word == *[:=]* ]] && before="${word%"${word##*[:=]}"}"
  reply="$(aichat --timeout 2s __complete -- "${words[@]}" 2>/dev/null </dev/null)"
  if [[ -z $reply && -n $before ]]; then
    # bash itself would look for a file named by what follows the last colon.
    reply="$(compgen -f -- "$word" | while IFS= read -r index; do
      [[ -d $index ]] && index+=/
      printf '%s\n' "$index"
    done)"
    [[ $reply == */ ]] && compopt -o nospace
  fi
  COMPREPLY=()
  while IFS=$'\t' read -r index _; do
    [[ -n $index && $index == "$word"* ]] || continue
    index="${index#"$before"}"
    [[ $index == *[!A-Za-z0-9_.,/:@%+=-]* ]] && printf -v index '%q' "$index"
    COMPREPLY+=("$index")
  done <<<"$reply"
  return 0
}
complete -o default -F _aichat aichat
