import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat backup …`: everything that an installation keeps, as one file. */
export function addBackupCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const backup = program
    .command('backup')
    .description(
      'back up everything: accounts, personas, memories, usage, plugins and settings; never the values of keys',
    )
    .example('aichat backup create', 'aichat backup list')

  backup
    .command('create')
    .description('back up everything to one file in the folder or bucket of backup.target')
    .option('--encrypt', 'encrypt it with a passphrase, to be decrypted by `age -d` too')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .example('aichat backup create', 'aichat backup create --encrypt')
    .action(run((backups) => backups.create))

  backup
    .command('list')
    .description('list the backups, the newest first')
    .example('aichat backup list')
    .action(run((backups) => backups.list))

  backup
    .command('verify [backup]')
    .description('read a whole backup, by default the newest, or a file; exit 65 or 78 when it is damaged')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .example('aichat backup verify', 'aichat backup verify ./aichat-20261123T034247Z-3f9c.tar.gz')
    .action(run((backups) => backups.verify))

  backup
    .command('restore [backup]')
    .description(
      'replace everything by a backup, by default the newest, or a file; the data from before is kept aside, logins end, and users and API keys that were removed since stay out',
    )
    .option('--as-backed-up', 'let passwords, roles, removed users and API keys be as they were then')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .example('aichat backup restore', 'aichat backup restore ./aichat-20261123T034247Z-3f9c.tar.gz --yes')
    .action(run((backups) => backups.restore))

  backup
    .command('remove <backup...>')
    .alias('rm')
    .description('remove backups')
    .example('aichat backup remove aichat-20261123T034247Z-3f9c.tar.gz')
    .action(run((backups) => backups.remove))
}
