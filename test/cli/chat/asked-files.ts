import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../helpers/folders.ts'
import type { Finished, Home, RunOptions } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completion, json, openStandIn } from '../../helpers/providers/fake-provider.ts'

/** A part of a message as a provider gets it. */
export type SentPart = { readonly text?: string; readonly image_url?: { readonly url: string } }

/** A home with a provider that answers, and a folder for the files of questions. */
export interface Asking {
  readonly home: Home
  readonly folder: string
  /** Writes files below the folder by their paths. */
  write(files: Readonly<Record<string, string | Uint8Array>>): void
  /** Asks about values of -f; resolves with the run and the parts that the provider got, none where it got nothing. */
  ask(values: readonly string[], options?: RunOptions): Promise<Finished & { readonly parts: readonly SentPart[] }>
  close(): Promise<void>
}

export async function openAsking(): Promise<Asking> {
  const folder = temporaryFolder()
  const stand = await openStandIn((_request, response) => json(response, 200, completion('Read')))
  const home = openFastHome({ CUSTOM_API_KEY: 'sk-canary-0123456789' })
  const install = ['plugin', 'install', '-', '--activate']
  await home.aichat(install, { input: JSON.stringify(pluginAt(stand.url, { retry: { attempts: 1 } })) })
  return {
    home,
    folder,
    write(files) {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), content)
      }
    },
    async ask(values, options) {
      const before = stand.received.length
      const words = ['chat', '-S', '--no-fallback', ...values.flatMap((value) => ['-f', value]), 'What is this?']
      const ran = await home.aichat(words, options)
      const request = stand.received.length > before ? JSON.parse(stand.received.at(-1)!.body) : undefined
      return { ...ran, parts: request?.messages.at(-1).content.slice(0, -1) ?? [] }
    },
    async close() {
      await stand.close()
      home.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The names that the tags of files give, in order. */
export function namesOf(parts: readonly SentPart[]): readonly (string | undefined)[] {
  return parts.flatMap(({ text }) => (text === undefined ? [] : [/^<file (?:path|url)="([^"]*)"/.exec(text)?.[1]]))
}
