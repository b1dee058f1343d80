import { fileURLToPath } from 'node:url'

/**
 * A systemd unit that runs this installation as a service: a user of its own, folders that systemd makes (0700), and
 * nothing of the machine that it has no use for. See systemd.exec(5).
 * MemoryDenyWriteExecute= is left out on purpose: V8 writes the code that it runs.
 */
export function systemdUnit(): string {
  const program = fileURLToPath(new URL('./bin/aichat', import.meta.resolve('#package')))
  return `# /etc/systemd/system/aichat.service
[Unit]
Description=aichat: chat, speech and personas over HTTP
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
ExecStart=${quoted(process.execPath)} ${quoted(program)} serve
# A secret is a file that only root reads: the key of a provider, DEFAULT_ADMIN_PASSWORD, JWT_SECRET.
#LoadCredential=OPENAI_API_KEY:/etc/aichat-toolkit/OPENAI_API_KEY
# This refuses weak secrets, and to start without a JWT_SECRET.
#Environment=NODE_ENV=production
Restart=on-failure
RestartSec=2
# 64 and 78: started wrongly, or not set up; a restart would not help.
RestartPreventExitStatus=64 78
# Answers in flight get 30 seconds to finish.
TimeoutStopSec=45
KillMode=mixed

DynamicUser=yes
StateDirectory=aichat-toolkit
StateDirectoryMode=0700
CacheDirectory=aichat-toolkit
CacheDirectoryMode=0700
ConfigurationDirectory=aichat-toolkit
UMask=0077

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM
LimitNOFILE=65536

[Install]
WantedBy=multi-user.target
`
}

/** A path as one word of a command line in a unit: quotes, and the signs that systemd would expand, are escaped. */
function quoted(path: string): string {
  const escaped = path.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./@+:-]+$/.test(path) ? path : `"${escaped}"`
}
