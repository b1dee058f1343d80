# bash completion for aichat, generated from its command tree
_aichat() {
  local current="${COMP_WORDS[COMP_CWORD]}" path='' word commands='' flags='' kind='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    case "$path|$word" in
    '|chat' | '|plugin' | 'plugin|list' | 'plugin|show' | 'plugin|validate' | 'plugin|install' | 'plugin|update' | 'plugin|remove' | 'plugin|activate' | 'plugin|deactivate' | 'plugin|current' | 'plugin|status' | 'plugin|export' | 'plugin|test' | 'plugin|help' | '|models' | 'models|list' | 'models|help' | '|serve' | '|config' | 'config|list' | 'config|get' | 'config|set' | 'config|unset' | 'config|path' | 'config|help' | '|status' | '|doctor' | '|completion' | '|help') path="${path:+$path }$word" ;;
    esac
  done
  case "$path" in
    '')
      commands='chat plugin models serve config status doctor completion help'
      flags='-V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'chat')
      commands=''
      flags='-m --model -f --file --prompt --temperature --max-tokens -S --no-stream --no-fallback --dry-run -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin')
      commands='list show validate install update remove activate deactivate current status export test help'
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin list')
      commands=''
      flags='--active --type -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin show')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'plugin validate')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin install')
      commands=''
      flags='--activate --force -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin update')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'plugin remove')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'plugin activate')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'plugin deactivate')
      commands=''
      flags='--type -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin current')
      commands=''
      flags='--type -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin status')
      commands=''
      flags='--check -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'plugin export')
      commands=''
      flags='-o --output --force -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'plugin test')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'plugin help')
      commands=''
      flags='-V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'models')
      commands='list help'
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'models list')
      commands=''
      flags='--installed -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind='plugins'
      ;;
    'models help')
      commands=''
      flags='-V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'serve')
      commands=''
      flags='--host --port --voxa-tts-port --voxb-tts-port --voxb-tts-1.6b-port --model --device -h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config')
      commands='list get set unset path help'
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config list')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config get')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config set')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config unset')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config path')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'config help')
      commands=''
      flags='-V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'status')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'doctor')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'completion')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
    'help')
      commands=''
      flags='-h --help -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
      kind=''
      ;;
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
