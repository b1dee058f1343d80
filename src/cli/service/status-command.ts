import type { Command } from 'commander'
import { type Cli, note, show } from '../terminal/cli.ts'

/** `aichat status` and `aichat doctor`: who would answer, and what is wrong. */
export function addStatusCommands(program: Command, cli: Cli): void {
  program
    .command('status')
    .description('show who would answer a chat, and in whose name')
    .action(async () => {
      const { serviceStatus } = await import('../../operations/service.ts')
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
          `plugin    ${plugin ? `${plugin.id}, ${plugin.state === 'key_missing' ? 'needs its key' : plugin.state}, ${plugin.model}` : 'none is active'}`,
          `runner    ${runner.url} ${runner.reachable ? `with ${runner.models.length} models` : 'does not answer'}`,
        ].join('\n'),
      )
      if (status.active_plugin?.state === 'key_missing')
        note(cli, 'aichat: chats fall back until its key is set; `aichat plugin status` names the variable')
      if (!status.active_plugin && !status.local_runner.reachable) await sayWhatIsMissing(cli)
    })

  program
    .command('doctor')
    .description('look for what is wrong with this installation; exit 1 when something is')
    .action(async () => {
      const { examine } = await import('./doctor.ts')
      await examine(cli)
    })
}

/** The next step of somebody who has neither a provider nor a model; nothing where a pulled model answers. */
async function sayWhatIsMissing(cli: Cli): Promise<void> {
  const { listModels } = await import('../../operations/models.ts')
  const { defaultChatModel } = await import('../../model-hub/known-models.ts')
  const { models } = await cli.ask(listModels, { installed: true })
  if (models.some(({ type }) => type === 'chat')) return
  note(
    cli,
    'aichat: nobody would answer a chat. Use a provider: `aichat plugin list`, then `aichat plugin activate ID`;',
  )
  note(cli, `  or bring a small model to this machine: \`aichat models pull ${defaultChatModel}\``)
}
