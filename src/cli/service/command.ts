import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat serve`: the same core as a daemon. */
export function addServeCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./serve.ts'))
  program
    .command('serve [server...]')
    .description(
      'serve the REST API (api) and the speech servers (voxa-tts, voxb-tts, voxb-tts-1.6b); without a name, all of them',
    )
    .option('--host <address>', 'the address to listen on')
    .option('--port <port>', 'the port of the one server named, else of the API; 0 picks a free one')
    .option('--voxa-tts-port <port>', 'the port of voxa-tts beside others (8100)')
    .option('--voxb-tts-port <port>', 'the port of voxb-tts beside others (8200)')
    .option('--voxb-tts-1.6b-port <port>', 'the port of voxb-tts-1.6b beside others (8201)')
    .option(
      '--model <variant>',
      'the variant of voxa-tts: customvoice-1.7b, customvoice-0.6b, voicedesign-1.7b, base-1.7b, base-0.6b',
    )
    .option('--device <device>', 'the device of voxb-tts-1.6b: auto, cuda, mps, cpu')
    .option('--codebooks <n>', 'codebooks of voxb-tts-1.6b, 8 to 32: fewer are faster and sound coarser (32)')
    .option(
      '--wyoming <ports>',
      'speak Wyoming (Home Assistant) on this machine: voxb-tts=10200, or several with commas',
    )
    .option('--workers <n>', 'processes that serve the API on its port, or auto for one per core (1)')
    .option('--tls-cert <file>', 'speak https with this certificate, a PEM file with its chain; read again on SIGHUP')
    .option('--tls-key <file>', 'the PEM file of its key')
    .option('--no-console', 'do not serve the web console at /console')
    .option('--pull', 'first download the weights of voxb-tts, or of one other speech server, if they are missing')
    .example(
      'aichat serve',
      'aichat serve api --port 3002',
      'aichat serve --workers auto',
      'aichat serve voxb-tts --host 0.0.0.0',
      'aichat serve api --host 0.0.0.0 --tls-cert chain.pem --tls-key key.pem',
    )
    .action(run(({ serve }) => serve))
  program
    .command('__worker <number>', { hidden: true })
    .action(lazyActions(cli, () => import('./worker.ts'))(({ work }) => work))
}

/** `aichat status` and `aichat doctor`. */
export function addStatusCommands(program: CliCommand, cli: Cli): void {
  program
    .command('status')
    .description('show the model that would answer a chat, and the current user')
    .example('aichat status', 'aichat status --json')
    .action(lazyActions(cli, () => import('./status.ts'))(({ showStatus }) => showStatus))

  program
    .command('doctor')
    .description('check this installation; exit 1 when a check fails')
    .example('aichat doctor')
    .action(lazyActions(cli, () => import('./doctor.ts'))(({ examine }) => examine))
}

/** `aichat service`. */
export function addServiceCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./control.ts'))
  const service = program
    .command('service')
    .description('the daemon that runs on this data folder, or on a server')
    .example('aichat service status', 'aichat service reload')
  service
    .command('status')
    .description(
      'show the daemon, its addresses and its last reload; exit 69 when none runs, 75 while it starts or stops',
    )
    .example('aichat service status', 'aichat service status --json')
    .action(run(({ showService }) => showService))
  service
    .command('reload')
    .description(
      'take over changed settings, secrets in files and plugins; exit 78 when one is bad, and the old ones stay in force',
    )
    .example('aichat service reload')
    .action(run(({ reload }) => reload))
  service
    .command('unit')
    .description('print a hardened unit for systemd')
    .example('aichat service unit')
    .action(lazyActions(cli, () => import('./systemd-unit.ts'))(({ printUnit }) => printUnit))
}
