import type { Command } from 'commander'
import type { ServeOptions } from '../../server/serve.ts'
import type { Cli } from '../terminal/cli.ts'

/** `aichat serve`: the same core as a daemon. */
export function addServeCommand(program: Command, cli: Cli): void {
  program
    .command('serve [server...]')
    .description(
      'serve the REST API (api) and the speech servers (voxa-tts, voxb-tts, voxb-tts-1.6b); all without a name',
    )
    .option('--host <address>', 'the address to listen on')
    .option('--port <port>', 'the port of the one server named, else of the API; 0 takes a free one')
    .option('--voxa-tts-port <port>', 'the port of voxa-tts beside others (8100)')
    .option('--voxb-tts-port <port>', 'the port of voxb-tts beside others (8200)')
    .option('--voxb-tts-1.6b-port <port>', 'the port of voxb-tts-1.6b beside others (8201)')
    .option(
      '--model <variant>',
      'the variant of voxa-tts: customvoice-1.7b, customvoice-0.6b, voicedesign-1.7b, base-1.7b, base-0.6b',
    )
    .option('--device <device>', 'what voxb-tts-1.6b computes on: auto, cuda, mps, cpu')
    .option('--pull', 'first bring the weights of voxb-tts to this machine, where they are not there yet')
    .action(async (names: readonly string[], options: ServeOptions) => {
      const { serve } = await import('../../server/serve.ts')
      // A service that finishes what is in flight has done what the signal asked: exit 0.
      cli.endsWithSignal = true
      cli.io.outliveTerminal()
      await serve(cli.io, await cli.settings(), names, options)
    })
}
