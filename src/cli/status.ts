import type { Command } from 'commander'
import { type Cli, show } from './cli.ts'

/** `aichat status` and `aichat doctor`: who would answer, and what is wrong. */
export function addStatusCommands(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('show who would answer a chat, and in whose name')
    .action(async () => {
      const { serviceStatus } = await import('../operations/service.ts')
      const { server } = await cli.backend()
      const status = {
        mode: server ? 'remote' : 'local',
        server: server ?? null,
        ...(await cli.ask(serviceStatus, {})),
      }
      await show(cli, status, ({ mode, version, user, active_plugin: plugin, local_runner: runner }) =>
        [
          `mode      ${mode}${server ? ` (${server})` : ''}`,
          `version   ${version}`,
          `user      ${user.username} (${user.role})`,
          `plugin    ${plugin ? `${plugin.id}, ${plugin.state}, ${plugin.model}` : 'none is active'}`,
          `runner    ${runner.url} ${runner.reachable ? `with ${runner.models.length} models` : 'does not answer'}`,
        ].join('\n'),
      )
    })

  program
    .command('doctor')
    .description('look for what is wrong with this installation; exit 1 when something is')
    .action(async () => {
      const { examine } = await import('./doctor.ts')
      await examine(cli)
    })
}
