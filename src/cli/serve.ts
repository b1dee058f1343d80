import type { Command } from 'commander'
import type { ServeOptions } from '../server/serve.ts'
import type { Cli } from './cli.ts'

/** `aichat serve`: the same core as a daemon. */
export function addServeCommand(program: Command, cli: Cli): void {
  program
    .command('serve [server...]')
    .description('serve the REST API: api (also without a name)')
    .option('--host <address>', 'the address to listen on')
    .option('--port <port>', 'the port to listen on; 0 takes a free one')
    .action(async (names: readonly string[], options: ServeOptions) => {
      const { serve } = await import('../server/serve.ts')
      // A service that finishes what is in flight has done what the signal asked: exit 0.
      cli.endsWithSignal = true
      await serve(cli.io, await cli.settings(), names, options)
    })
}
