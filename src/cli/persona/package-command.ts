import type { Command } from 'commander'
import { type Cli, show, table } from '../terminal/cli.ts'
import type { ExportOptions, ImportOptions } from './package.ts'

/** `aichat persona backup|restore|export|import|verify`: whole personas. What the commands do is loaded when one runs. */
export function addPersonaPackageCommands(persona: Command, cli: Cli): void {
  persona
    .command('backup <id>')
    .description('back up a persona on this machine, or list its backups')
    .option('--list', 'list the backups, newest first')
    .action(async (id: string, options: { list?: boolean }) => {
      const { backUpPersona, listBackups } = await import('../../operations/packages.ts')
      if (!options.list) return show(cli, await cli.ask(backUpPersona, { id }), ({ backup_id }) => backup_id)
      await show(cli, await cli.ask(listBackups, { id }), ({ backups }) =>
        table(cli, backups, [
          ['BACKUP', (row) => row.backup_id],
          ['TIME', (row) => new Date(row.created_at).toISOString().slice(0, 19).replace('T', ' ')],
          ['MEMORIES', (row) => String(row.memories)],
          ['BYTES', (row) => String(row.bytes)],
          ['WHY', (row) => row.reason.replace('_', ' ')],
        ]),
      )
    })

  persona
    .command('restore <id> [backup]')
    .description('put a backup, or the newest, in the place of a persona; what it replaces is backed up first')
    .action(async (id: string, backup: string | undefined) => {
      const { restore } = await import('./package.ts')
      await restore(cli, id, backup)
    })

  persona
    .command('export <id>')
    .description('write a whole persona as a package, or as a character card')
    .option('-o, --output <file>', 'write it to a file; a card to a .png becomes a picture')
    .option('--format <format>', 'json, container (smaller, for large ones), or card', 'json')
    .option('--encrypt', 'seal it with a passphrase, so that `age -d` opens it')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .option('--no-embeddings', 'leave the vectors out')
    .option('--force', 'replace the file')
    .action(async (id: string, options: ExportOptions) => {
      const { exportToFile } = await import('./package.ts')
      await exportToFile(cli, id, options)
    })

  persona
    .command('import <file>')
    .description('take in a package or a character card, from a file or stdin with -')
    .option('--mode <mode>', 'create, merge, or replace', 'create')
    .option('--into <id>', 'the persona to merge into or to replace')
    .option('--model <model>', 'the chat model of a character card')
    .option('--dry-run', 'say what would happen')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .action(async (file: string, options: ImportOptions) => {
      const { importFile } = await import('./package.ts')
      await importFile(cli, file, options)
    })

  persona
    .command('verify <source>')
    .description('check a package in a file or from stdin (-), or the stored persona of that id')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .action(async (source: string, options: { passphraseStdin?: boolean }) => {
      const { verify } = await import('./verify.ts')
      await verify(cli, source, options.passphraseStdin === true)
    })
}
