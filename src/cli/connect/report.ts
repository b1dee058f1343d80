import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import type { Pointing, Variables } from './client.ts'
import { clientNamed } from './clients.ts'
import type { Connection } from './record.ts'
import { exportLines, type Shell, shellOf } from './shell.ts'

/** Prints the lines for a shell that point a client here. */
export async function printEnvironment(
  cli: Cli,
  name: string,
  pointing: Pointing,
  shell: Shell | undefined,
): Promise<void> {
  const environment = clientNamed(name).environment!(pointing)
  const { server, model } = pointing
  await print(cli, { client: name, server, model: model.id, environment: present(environment) }, () =>
    exportLines(environment, shell ?? shellOf(cli.io.environment)),
  )
  note(cli, `aichat: the model is ${model.id}; these lines hold a key that works until aichat connect ${name} --undo`)
}

function present(environment: Variables): Record<string, string | null> {
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? null]))
}

/** Prints the connection that was made, and the steps left. */
export async function report(
  cli: Cli,
  name: string,
  pointing: Pointing,
  { files, key }: Connection,
  isDone: boolean,
): Promise<void> {
  const client = clientNamed(name)
  const { server, model, models } = pointing
  const value = {
    client: name,
    server,
    model: model.id,
    models: models.map(({ id }) => id),
    key_id: key?.id ?? null,
    key_file: pointing.keyFile,
    changed: !isDone,
    files: files.map(({ path, backup }) => ({ path, backup })),
  }
  await print(cli, value, () => files.map(({ path }) => path).join('\n'))
  note(cli, `aichat: ${client.name} asks ${server} for ${model.id}${isDone ? ' already' : ''}`)
  for (const { backup } of files) if (backup !== null && !isDone) note(cli, `aichat: the file as it was is ${backup}`)
  if (!isDone) note(cli, `aichat: to undo it: aichat connect ${name} --undo`)
}
