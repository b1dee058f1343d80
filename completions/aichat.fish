# fish completion for aichat
function __aichat_complete
    set -l words (commandline -opc)[2..-1]
    set -l last (commandline -ct)
    set -g __aichat_found (aichat --timeout 2s __complete -- $words "$last" 2>/dev/null </dev/null)
    test -n "$__aichat_found"
end
complete -c aichat -n __aichat_complete -f -a '$__aichat_found'
