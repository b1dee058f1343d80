# bash completion for aichat, generated from its command tree
_aichat() {
  local current="${COMP_WORDS[COMP_CWORD]}" before='' path='' flag='' word
  local commands='' flags='' kind='' words='' first='' rest='' place=0 index
  local -a kinds=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    # bash breaks words at colons and equals signs; these are the pieces before the last one.
    [[ $word == [:=] || ${COMP_WORDS[index + 1]} == : ]] && continue
    if [[ -n $flag ]]; then
      flag=''
      continue
    fi
    case "$word" in
    --server | --as | --color | --timeout | -m | --model | -p | --persona | -s | --session | -f | --file | --prompt | --temperature | --max-tokens | -o | --option | --schema | --schema-multi | -t | --template | --var | --mcp | --max-cost | --type | --output | --plugin | --source | -n | --limit | --offset | --input | --cached | --cache-write | --cache-write-1h | --audio-input | --audio-output | --reasoning | --valid-from | --from | --name | --description | --embedding-model | --parameter | --max-memories | --retention-days | --memory-floor | --memory-placement | --profile-tokens | --forget | --extract | --extract-confidence | --mutation | --importance | --category | --speaker | --conversation | --timestamp | --valid-to | --content | --after | --before | --min-score | --as-of | --slot | --trigger | --changes | --key | --format | --mode | --into | --url | --header | --env | --timeout-seconds | --since | --turns | --older-than | -i | --language | --instruct | --speed | --seed | --voice | --speakers | --cfg-coef | --ref | --ref-text | --host | --port | --voxa-tts-port | --voxb-tts-port | --voxb-tts-1.6b-port | --device | --codebooks | --wyoming | --workers | --tls-cert | --tls-key | --shell | --provider | --address | --username | --email | --search | --role | --user | --scope | --rpm | --rpd | --tpm | --tpd | --parallel | --budget | --timezone | --warn | --expires | --overlap | --actor | --action | --until | --by) flag="$word" ;;
    *)
      case "$path|$word" in
      '|chat' | '|template' | 'template|list' | 'template|path' | '|plugin' | 'plugin|list' | 'plugin|show' | 'plugin|validate' | 'plugin|install' | 'plugin|update' | 'plugin|remove' | 'plugin|activate' | 'plugin|deactivate' | 'plugin|current' | 'plugin|status' | 'plugin|export' | 'plugin|test' | '|models' | 'models|list' | 'models|show' | 'models|alias' | 'models|embeddings' | 'models|refresh' | 'models|restore' | 'models|pull' | 'models|remove' | '|prices' | 'prices|list' | 'prices|set' | 'prices|unset' | '|persona' | 'persona|list' | 'persona|show' | 'persona|create' | 'persona|update' | 'persona|remove' | 'persona|memory' | 'persona memory|add' | 'persona memory|show' | 'persona memory|edit' | 'persona memory|pin' | 'persona memory|unpin' | 'persona memory|remove' | 'persona memory|list' | 'persona memory|search' | 'persona memory|evictions' | 'persona memory|forget' | 'persona memory|wipe' | 'persona|profile' | 'persona profile|show' | 'persona profile|add' | 'persona profile|edit' | 'persona profile|remove' | 'persona|state' | 'persona|adapt' | 'persona|undo' | 'persona|backup' | 'persona|restore' | 'persona|export' | 'persona|import' | 'persona|verify' | '|mcp' | 'mcp|serve' | 'mcp|add' | 'mcp|list' | 'mcp|show' | 'mcp|remove' | 'mcp|test' | 'mcp|allow' | 'mcp|deny' | 'mcp|forget' | '|session' | 'session|list' | 'session|show' | 'session|search' | 'session|undo' | 'session|compact' | 'session|rename' | 'session|export' | 'session|remove' | '|tts' | 'tts|voices' | 'tts|health' | 'tts|clone' | 'tts|design' | '|serve' | '|service' | 'service|status' | 'service|reload' | 'service|unit' | '|connect' | '|setup' | '|register' | '|login' | '|logout' | '|whoami' | '|passwd' | '|auth' | 'auth|status' | 'auth|token' | '|users' | 'users|list' | 'users|show' | 'users|create' | 'users|update' | 'users|remove' | 'users|reset-password' | 'users|unlock' | 'users|stats' | '|key' | 'key|create' | 'key|list' | 'key|show' | 'key|update' | 'key|revoke' | 'key|rotate' | '|audit' | '|usage' | 'usage|show' | 'usage|export' | 'usage|check' | 'usage|prune' | '|limit' | 'limit|list' | 'limit|set' | 'limit|remove' | 'limit|reset' | '|secret' | 'secret|set' | 'secret|list' | 'secret|remove' | '|backup' | 'backup|create' | 'backup|list' | 'backup|verify' | 'backup|restore' | 'backup|remove' | '|db' | 'db|check' | '|config' | 'config|list' | 'config|get' | 'config|set' | 'config|unset' | 'config|path' | '|status' | '|doctor' | '|completion' | '|help') path="${path:+$path }$word" ;;
      *'|-'*) ;;
      *)
        # The word as it was typed, without its quoting.
        if ((place == 0)); then
          first="${word//\\/}" first="${first//\"/}" first="${first//\'/}"
        fi
        ((++place))
        ;;
      esac
      ;;
    esac
  done
  case "$path" in
  '')
    commands='chat template plugin models prices persona mcp session tts serve service connect setup register login logout whoami passwd auth users key audit usage limit secret backup db config status doctor completion help'
    flags=''
    kinds=()
    rest=''
    ;;
  'chat')
    commands=''
    flags='-m --model -p --persona -s --session -c --continue --no-log --no-memory -f --file --prompt --temperature --max-tokens -o --option --schema --schema-multi --json-object -t --template --var --thinking --speak -S --no-stream --no-fallback --local-only --mcp --json-stream --max-cost --count --dry-run -h --help'
    kinds=()
    rest=''
    ;;
  'template')
    commands='list path'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'template list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'template path')
    commands=''
    flags='-h --help'
    kinds=('templates')
    rest=''
    ;;
  'plugin')
    commands='list show validate install update remove activate deactivate current status export test'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'plugin list')
    commands=''
    flags='--active --type -h --help'
    kinds=()
    rest=''
    ;;
  'plugin show')
    commands=''
    flags='-h --help'
    kinds=('plugins')
    rest=''
    ;;
  'plugin validate')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'plugin install')
    commands=''
    flags='--activate --force -h --help'
    kinds=()
    rest=''
    ;;
  'plugin update')
    commands=''
    flags='-h --help'
    kinds=('plugins')
    rest=''
    ;;
  'plugin remove')
    commands=''
    flags='-h --help'
    kinds=('plugins')
    rest='plugins'
    ;;
  'plugin activate')
    commands=''
    flags='-h --help'
    kinds=('plugins')
    rest=''
    ;;
  'plugin deactivate')
    commands=''
    flags='--type -h --help'
    kinds=()
    rest=''
    ;;
  'plugin current')
    commands=''
    flags='--type -h --help'
    kinds=()
    rest=''
    ;;
  'plugin status')
    commands=''
    flags='--check -h --help'
    kinds=()
    rest=''
    ;;
  'plugin export')
    commands=''
    flags='-o --output --force -h --help'
    kinds=('plugins')
    rest=''
    ;;
  'plugin test')
    commands=''
    flags='-h --help'
    kinds=('plugins')
    rest=''
    ;;
  'models')
    commands='list show alias embeddings refresh restore pull remove'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'models list')
    commands=''
    flags='--installed --wide -h --help'
    kinds=('plugins')
    rest=''
    ;;
  'models show')
    commands=''
    flags='-h --help'
    kinds=('models')
    rest=''
    ;;
  'models alias')
    commands=''
    flags='--remove -h --help'
    kinds=('aliases' 'models')
    rest=''
    ;;
  'models embeddings')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'models refresh')
    commands=''
    flags='--all --dry-run --force --strict -h --help'
    kinds=('plugins')
    rest='plugins'
    ;;
  'models restore')
    commands=''
    flags='-h --help'
    kinds=('plugins')
    rest=''
    ;;
  'models pull')
    commands=''
    flags='--non-commercial -h --help'
    kinds=('models-to-pull')
    rest=''
    ;;
  'models remove')
    commands=''
    flags='-h --help'
    kinds=('pulled-models')
    rest=''
    ;;
  'prices')
    commands='list set unset'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'prices list')
    commands=''
    flags='--model --plugin --source -n --limit --offset -h --help'
    kinds=()
    rest=''
    ;;
  'prices set')
    commands=''
    flags='--plugin --input --output --cached --cache-write --cache-write-1h --audio-input --audio-output --reasoning --valid-from --from -h --help'
    kinds=()
    rest=''
    ;;
  'prices unset')
    commands=''
    flags='--plugin --valid-from -h --help'
    kinds=()
    rest=''
    ;;
  'persona')
    commands='list show create update remove memory profile state adapt undo backup restore export import verify'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'persona list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'persona show')
    commands=''
    flags='-h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona create')
    commands=''
    flags='--name -m --model --description --prompt --embedding-model --parameter --memory --no-memory --max-memories --retention-days --memory-floor --memory-placement --profile-tokens --forget --extract --extract-confidence --auto-cleanup --no-auto-cleanup --mutation --auto-adapt --no-auto-adapt --mcp -h --help'
    kinds=()
    rest=''
    ;;
  'persona update')
    commands=''
    flags='--name -m --model --description --prompt --embedding-model --parameter --memory --no-memory --max-memories --retention-days --memory-floor --memory-placement --profile-tokens --forget --extract --extract-confidence --auto-cleanup --no-auto-cleanup --mutation --auto-adapt --no-auto-adapt --mcp -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona remove')
    commands=''
    flags='-h --help'
    kinds=('personas')
    rest='personas'
    ;;
  'persona memory')
    commands='add show edit pin unpin remove list search evictions forget wipe'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'persona memory add')
    commands=''
    flags='--importance --category --speaker --conversation --pin --timestamp --valid-from --valid-to -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona memory show')
    commands=''
    flags='-h --help'
    kinds=('personas' 'memories')
    rest=''
    ;;
  'persona memory edit')
    commands=''
    flags='--content --importance --category --speaker --conversation --timestamp --valid-from --valid-to -h --help'
    kinds=('personas' 'memories')
    rest=''
    ;;
  'persona memory pin')
    commands=''
    flags='-h --help'
    kinds=('personas' 'memories')
    rest='memories'
    ;;
  'persona memory unpin')
    commands=''
    flags='-h --help'
    kinds=('personas' 'memories')
    rest='memories'
    ;;
  'persona memory remove')
    commands=''
    flags='-h --help'
    kinds=('personas' 'memories')
    rest='memories'
    ;;
  'persona memory list')
    commands=''
    flags='--category --speaker --conversation --after --before --pinned -n --limit --offset -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona memory search')
    commands=''
    flags='--category --speaker --conversation --after --before --pinned -n --limit --min-score --as-of -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona memory evictions')
    commands=''
    flags='-n --limit -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona memory forget')
    commands=''
    flags='-h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona memory wipe')
    commands=''
    flags='--category --before -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona profile')
    commands='show add edit remove'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'persona profile show')
    commands=''
    flags='--history -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona profile add')
    commands=''
    flags='--slot -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona profile edit')
    commands=''
    flags='--slot -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona profile remove')
    commands=''
    flags='-h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona state')
    commands=''
    flags='--log -n --limit -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona adapt')
    commands=''
    flags='--type --trigger --changes --key -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona undo')
    commands=''
    flags='-h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona backup')
    commands=''
    flags='--list -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona restore')
    commands=''
    flags='-h --help'
    kinds=('personas' 'backups')
    rest=''
    ;;
  'persona export')
    commands=''
    flags='-o --output --format --encrypt --passphrase-stdin --no-embeddings --force -h --help'
    kinds=('personas')
    rest=''
    ;;
  'persona import')
    commands=''
    flags='--mode --into -m --model --name --after --with-answers --dry-run --passphrase-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'persona verify')
    commands=''
    flags='--passphrase-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'mcp')
    commands='serve add list show remove test allow deny forget'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'mcp serve')
    commands=''
    flags='-p --persona --read-only -h --help'
    kinds=()
    rest=''
    ;;
  'mcp add')
    commands=''
    flags='--url --header --env --timeout-seconds --insecure-storage --force -h --help'
    kinds=()
    rest=''
    ;;
  'mcp list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'mcp show')
    commands=''
    flags='-h --help'
    kinds=('mcp-servers')
    rest=''
    ;;
  'mcp remove')
    commands=''
    flags='-h --help'
    kinds=('mcp-servers')
    rest='mcp-servers'
    ;;
  'mcp test')
    commands=''
    flags='-h --help'
    kinds=('mcp-servers')
    rest=''
    ;;
  'mcp allow')
    commands=''
    flags='--service -h --help'
    kinds=('mcp-servers')
    rest=''
    ;;
  'mcp deny')
    commands=''
    flags='-h --help'
    kinds=('mcp-servers')
    rest=''
    ;;
  'mcp forget')
    commands=''
    flags='-h --help'
    kinds=('mcp-servers')
    rest=''
    ;;
  'session')
    commands='list show search undo compact rename export remove'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'session list')
    commands=''
    flags='-n --limit -h --help'
    kinds=()
    rest=''
    ;;
  'session show')
    commands=''
    flags='-h --help'
    kinds=('sessions')
    rest=''
    ;;
  'session search')
    commands=''
    flags='-n --limit --since -h --help'
    kinds=()
    rest=''
    ;;
  'session undo')
    commands=''
    flags='-h --help'
    kinds=('sessions')
    rest=''
    ;;
  'session compact')
    commands=''
    flags='-m --model --turns --undo -h --help'
    kinds=('sessions')
    rest=''
    ;;
  'session rename')
    commands=''
    flags='-h --help'
    kinds=('sessions')
    rest=''
    ;;
  'session export')
    commands=''
    flags='--format -o --output --force -h --help'
    kinds=('sessions')
    rest=''
    ;;
  'session remove')
    commands=''
    flags='--older-than --all -h --help'
    kinds=('sessions')
    rest='sessions'
    ;;
  'tts')
    commands='voices health clone design'
    flags='-i --input --model --language --instruct --speed --keep-directions --seed --voice --speakers --cfg-coef --say -o --output --force --stream --raw --play -h --help'
    kinds=()
    rest=''
    ;;
  'tts voices')
    commands=''
    flags='--model -h --help'
    kinds=()
    rest=''
    ;;
  'tts health')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'tts clone')
    commands=''
    flags='-i --input --model --language --instruct --speed --keep-directions --seed --ref --ref-text -o --output --force --stream --raw --play -h --help'
    kinds=()
    rest=''
    ;;
  'tts design')
    commands=''
    flags='-i --input --model --language --instruct --speed --keep-directions --seed --description -o --output --force --stream --raw --play -h --help'
    kinds=()
    rest=''
    ;;
  'serve')
    commands=''
    flags='--host --port --voxa-tts-port --voxb-tts-port --voxb-tts-1.6b-port --model --device --codebooks --wyoming --workers --tls-cert --tls-key --no-console --pull -h --help'
    kinds=('servers')
    rest='servers'
    ;;
  'service')
    commands='status reload unit'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'service status')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'service reload')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'service unit')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'connect')
    commands=''
    flags='-m --model -p --persona --key --shell -h --help'
    kinds=('clients')
    rest=''
    ;;
  'setup')
    commands=''
    flags='--provider --key-stdin --address --model --account --username --email --password-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'register')
    commands=''
    flags='--username --email --password-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'login')
    commands=''
    flags='--username --password-stdin --token-stdin --insecure-storage -h --help'
    kinds=('logins')
    rest=''
    ;;
  'logout')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'whoami')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'passwd')
    commands=''
    flags='--password-stdin --revoke-keys -h --help'
    kinds=()
    rest=''
    ;;
  'auth')
    commands='status token'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'auth status')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'auth token')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'users')
    commands='list show create update remove reset-password unlock stats'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'users list')
    commands=''
    flags='-n --limit --offset --search -h --help'
    kinds=()
    rest=''
    ;;
  'users show')
    commands=''
    flags='-h --help'
    kinds=('users')
    rest=''
    ;;
  'users create')
    commands=''
    flags='--email --role --password-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'users update')
    commands=''
    flags='--username --email --role -h --help'
    kinds=('users')
    rest=''
    ;;
  'users remove')
    commands=''
    flags='-h --help'
    kinds=('users')
    rest='users'
    ;;
  'users reset-password')
    commands=''
    flags='--password-stdin --revoke-keys -h --help'
    kinds=('users')
    rest=''
    ;;
  'users unlock')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'users stats')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'key')
    commands='create list show update revoke rotate'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'key create')
    commands=''
    flags='--user --scope --plugin --model --persona --rpm --rpd --tpm --tpd --parallel --budget --timezone --warn --hard --expires -h --help'
    kinds=()
    rest=''
    ;;
  'key list')
    commands=''
    flags='--all --user -n --limit --offset -h --help'
    kinds=()
    rest=''
    ;;
  'key show')
    commands=''
    flags='-h --help'
    kinds=('api-keys')
    rest=''
    ;;
  'key update')
    commands=''
    flags='--name --scope --plugin --model --persona --expires -h --help'
    kinds=('api-keys')
    rest=''
    ;;
  'key revoke')
    commands=''
    flags='-h --help'
    kinds=('api-keys')
    rest='api-keys'
    ;;
  'key rotate')
    commands=''
    flags='--overlap -h --help'
    kinds=('api-keys')
    rest=''
    ;;
  'audit')
    commands=''
    flags='--actor --action --since --until -n --limit --offset -h --help'
    kinds=()
    rest=''
    ;;
  'usage')
    commands='show export check prune'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'usage show')
    commands=''
    flags='--since --until --key --user --model --plugin --by --csv -h --help'
    kinds=()
    rest=''
    ;;
  'usage export')
    commands=''
    flags='--since --until --key --user --model --plugin --format -o --output --force -h --help'
    kinds=()
    rest=''
    ;;
  'usage check')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'usage prune')
    commands=''
    flags='--before -h --help'
    kinds=()
    rest=''
    ;;
  'limit')
    commands='list set remove reset'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'limit list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'limit set')
    commands=''
    flags='--rpm --rpd --tpm --tpd --parallel --budget --timezone --warn --hard -h --help'
    kinds=('limit-subjects')
    rest=''
    ;;
  'limit remove')
    commands=''
    flags='-h --help'
    kinds=('limit-subjects')
    rest='limit-subjects'
    ;;
  'limit reset')
    commands=''
    flags='-h --help'
    kinds=('limit-subjects')
    rest=''
    ;;
  'secret')
    commands='set list remove'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'secret set')
    commands=''
    flags='--insecure-storage -h --help'
    kinds=('keys')
    rest=''
    ;;
  'secret list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'secret remove')
    commands=''
    flags='-h --help'
    kinds=('keys')
    rest=''
    ;;
  'backup')
    commands='create list verify restore remove'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'backup create')
    commands=''
    flags='--encrypt --passphrase-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'backup list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'backup verify')
    commands=''
    flags='--passphrase-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'backup restore')
    commands=''
    flags='--as-backed-up --passphrase-stdin -h --help'
    kinds=()
    rest=''
    ;;
  'backup remove')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'db')
    commands='check'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'db check')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'config')
    commands='list get set unset path'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'config list')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'config get')
    commands=''
    flags='-h --help'
    kinds=('settings')
    rest=''
    ;;
  'config set')
    commands=''
    flags='-h --help'
    kinds=('settings' 'setting-values')
    rest=''
    ;;
  'config unset')
    commands=''
    flags='-h --help'
    kinds=('settings')
    rest=''
    ;;
  'config path')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'status')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'doctor')
    commands=''
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'completion')
    commands='bash zsh fish'
    flags='-h --help'
    kinds=()
    rest=''
    ;;
  'help')
    commands=''
    flags='--search -h --help'
    kinds=('topics')
    rest='topics'
    ;;
  esac
  kind="${kinds[place]-$rest}"
  ((place == 0)) || commands=''
  flags+=' -V --version --server --local --as --json --plain -q --quiet -v --verbose --debug --color --no-input -y --yes --timeout --insecure -h --help'
  if [[ -n $flag ]]; then
    commands='' flags='' kind=''
    case "$path|$flag" in
    *'|--server') kind='logins' ;;
    *'|--as') kind='users' ;;
    *'|--color') commands='auto always never' ;;
    'chat|-m' | 'chat|--model') kind='models' ;;
    'chat|-p' | 'chat|--persona') kind='personas' ;;
    'chat|-s' | 'chat|--session') kind='sessions' ;;
    'chat|-t' | 'chat|--template') kind='templates' ;;
    'chat|--mcp') kind='mcp-servers' ;;
    'plugin list|--type') commands='completion chat embedding tts' ;;
    'plugin deactivate|--type') commands='chat embedding tts' ;;
    'plugin current|--type') commands='chat embedding tts' ;;
    'prices list|--plugin') kind='plugins' ;;
    'prices list|--source') commands='operator refreshed shipped' ;;
    'prices set|--plugin') kind='plugins' ;;
    'prices unset|--plugin') kind='plugins' ;;
    'persona create|-m' | 'persona create|--model') kind='models' ;;
    'persona create|--embedding-model') kind='embedding-models' ;;
    'persona create|--memory-placement') commands='end system' ;;
    'persona create|--forget') commands='ask at_once' ;;
    'persona create|--extract') commands='off auto' ;;
    'persona create|--mutation') commands='low medium high off' ;;
    'persona create|--mcp') kind='mcp-servers' ;;
    'persona update|-m' | 'persona update|--model') kind='models' ;;
    'persona update|--embedding-model') kind='embedding-models' ;;
    'persona update|--memory-placement') commands='end system' ;;
    'persona update|--forget') commands='ask at_once' ;;
    'persona update|--extract') commands='off auto' ;;
    'persona update|--mutation') commands='low medium high off' ;;
    'persona update|--mcp') kind='mcp-servers' ;;
    'persona profile add|--slot') commands='address language manner allergy diet faith health people note' ;;
    'persona profile edit|--slot') commands='address language manner allergy diet faith health people note' ;;
    'persona export|--format') commands='json container card jsonl' ;;
    'persona import|--mode') commands='create merge replace' ;;
    'persona import|--into') kind='personas' ;;
    'persona import|-m' | 'persona import|--model') kind='models' ;;
    'mcp serve|-p' | 'mcp serve|--persona') kind='personas' ;;
    'session export|--format') commands='markdown json' ;;
    'tts|--model') kind='speech-servers' ;;
    'tts|--language') kind='languages' ;;
    'tts|--voice') kind='voices' ;;
    'tts voices|--model') kind='speech-servers' ;;
    'tts clone|--model') kind='speech-servers' ;;
    'tts clone|--language') kind='languages' ;;
    'tts design|--model') kind='speech-servers' ;;
    'tts design|--language') kind='languages' ;;
    'connect|-m' | 'connect|--model') kind='models' ;;
    'connect|-p' | 'connect|--persona') kind='personas' ;;
    'connect|--shell') commands='bash zsh fish' ;;
    'users create|--role') commands='user admin' ;;
    'users update|--role') commands='user admin' ;;
    'key create|--user') kind='users' ;;
    'key create|--plugin') kind='plugins' ;;
    'key create|--model') kind='models' ;;
    'key create|--persona') kind='personas' ;;
    'key list|--user') kind='users' ;;
    'key update|--plugin') kind='plugins' ;;
    'key update|--model') kind='models' ;;
    'key update|--persona') kind='personas' ;;
    'usage show|--key') kind='api-keys' ;;
    'usage show|--user') kind='users' ;;
    'usage show|--model') kind='models' ;;
    'usage show|--plugin') kind='plugins' ;;
    'usage export|--key') kind='api-keys' ;;
    'usage export|--user') kind='users' ;;
    'usage export|--model') kind='models' ;;
    'usage export|--plugin') kind='plugins' ;;
    'usage export|--format') commands='csv json' ;;
    esac
  fi
  word="${COMP_LINE:0:COMP_POINT}"
  word="${word##*[ =]}"
  if [[ $word == *:* ]]; then
    current="$word"
    before="${word%"${word##*:}"}"
  fi
  if [[ $current == -* ]]; then
    words="${flags// /$'\n'}"
  elif [[ -n $kind ]]; then
    words="$(aichat --timeout 2s __complete "$kind" "$first" 2>/dev/null </dev/null)"
  elif [[ -n $before && -z $commands ]]; then
    # bash itself would look for a file named by what follows the last colon.
    words="$(compgen -f -- "$current" | while IFS= read -r word; do
      [[ -d $word ]] && word+=/
      printf '%s\n' "$word"
    done)"
    [[ $words == */ ]] && compopt -o nospace
  else
    words="${commands// /$'\n'}"
    # A program aichat-NAME is a command too.
    [[ -z $path$flag && $place == 0 ]] && words+=$'\n'"$(compgen -c aichat- | sed 's/^aichat-//' | sort -u)"
  fi
  COMPREPLY=()
  while IFS= read -r word; do
    [[ -n $word && $word == "$current"* ]] || continue
    word="${word#"$before"}"
    [[ $word == *[!A-Za-z0-9_.,/:@%+=-]* ]] && printf -v word '%q' "$word"
    COMPREPLY+=("$word")
  done <<<"$words"
  return 0
}
complete -o default -F _aichat aichat
