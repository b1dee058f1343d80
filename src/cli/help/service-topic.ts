import { restartSettings } from '../../settings/settings.ts'

/** `aichat help service`: how a daemon is run, reloaded and stopped. */
export function serviceTopic(): string {
  return [
    'aichat service unit > /etc/systemd/system/aichat.service writes a hardened unit.',
    '',
    'SIGHUP, aichat service reload and POST /api/service/reload take over the settings file, secrets in files (NAME_FILE, the',
    'credentials of systemd), plugins and the certificate, all at once. A bad one leaves all previous values in force, with its',
    'reason in the log and for the caller. Values from the environment stay until a restart, and so do these settings:',
    ...Object.keys(restartSettings).map((name) => `  ${name}`),
    '  api.tls_cert and api.tls_key, where they begin or cease to be set',
    '',
    'SIGTERM: GET /ready answers 503 at once and new requests are refused; answers under way have api.drain_seconds to finish,',
    'then streams end with an error event; exit 0. A second SIGTERM or SIGINT ends it at once. A SIGHUP ends a daemon whose',
    'stdin is a terminal.',
    '',
    'serve --tls-cert FILE --tls-key FILE speaks https (TLS 1.2 and 1.3, HTTP/1.1) on all servers it starts. For a certificate',
    'of a private authority, clients set NODE_EXTRA_CA_CERTS to its PEM file. Behind a proxy, name that in TRUST_PROXY instead.',
    '',
  ].join('\n')
}
