import { fileURLToPath } from 'node:url'
import type { Cli } from '../terminal/cli.ts'

/**
 * A hardened systemd unit for this installation: a dynamic user, folders with mode 0700, a sandbox (systemd.exec(5)).
 * MemoryDenyWriteExecute= is left out: V8 writes executable memory.
 */
export function systemdUnit(): string {
  const program = fileURLToPath(new URL('./bin/aichat', import.meta.resolve('#package')))
  const run = `${quoted(process.execPath)} ${quoted(program)}`
  return `# /etc/systemd/system/aichat.service
[Unit]
Description=aichat: chat, speech and personas over HTTP
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
# systemd-notify speaks for the service.
NotifyAccess=all
ExecStart=${run} serve
ExecReload=${run} service reload --local
WatchdogSec=60
TimeoutStartSec=90
# A secret is a file that only root reads: the key of a provider, DEFAULT_ADMIN_PASSWORD, JWT_SECRET.
#LoadCredential=OPENAI_API_KEY:/etc/aichat-toolkit/OPENAI_API_KEY
# This refuses weak secrets, and to start without a JWT_SECRET.
#Environment=NODE_ENV=production
Restart=on-failure
RestartSec=2
# 64 and 78: started wrongly, or not set up; a restart would not help.
RestartPreventExitStatus=64 78
# Answers in flight get 30 seconds to finish (api.drain_seconds); the service asks for more where it needs it.
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
PrivateUsers=yes
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

/** Prints the unit. */
export async function printUnit(cli: Cli): Promise<void> {
  await cli.io.out(systemdUnit())
}

/** Quotes a path for ExecStart=, with systemd's specifiers and variables escaped. */
function quoted(path: string): string {
  const escaped = path.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./@+:-]+$/.test(path) ? path : `"${escaped}"`
}
