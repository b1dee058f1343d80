import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type App, openApp } from '../../app/app.ts'
import { toAppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'

/** A finding of `aichat doctor`. */
interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  readonly fix?: string
}

/** Checks this installation, and prints the next step and the findings; exit 1 when a check failed. */
export async function examine(cli: Cli): Promise<void> {
  const findings: Finding[] = []
  const settings = await runCheck(findings, 'settings', async () => {
    const found = await cli.settings()
    return { value: found, detail: `read from ${found.paths.config}` }
  })
  for (const warning of settings?.warnings ?? [])
    findings.push({ check: 'settings', status: 'warning', detail: warning, fix: 'aichat config unset removes it' })
  if (settings) await examineInstallation(settings, findings)
  if (findings.some(({ status }) => status === 'failed')) cli.exit = 1
  await print(cli, { next: nextStep(findings), checks: findings }, ({ next, checks }) =>
    [
      `Next: ${next}`,
      '',
      ...checks.map(
        ({ check, status, detail, fix }) =>
          `${status.padEnd(8)} ${check}: ${detail}${fix ? `\n         → ${fix}` : ''}`,
      ),
    ].join('\n'),
  )
}

async function examineInstallation(settings: Settings, findings: Finding[]): Promise<void> {
  const found = folders(settings)
  findings.push(...found)
  const isRefused = found.some(({ status }) => status === 'failed')
  // A database that instances share holds the plugins too: without it, there is no app to examine.
  const app = settings.database
    ? await runCheck(findings, 'database', async () => {
        const value = await openApp(settings, { examines: true })
        return { value, detail: await detailOrClose(value) }
      })
    : isRefused
      ? await runCheck(findings, 'installation', async () => ({
          value: await openApp(settings),
          detail: 'can be read',
        }))
      : await openApp(settings)
  try {
    if (app) await examineApp(app, findings)
    await runCheck(findings, 'onnxruntime-node', nativeRuntime, 'warning')
  } finally {
    await app?.close()
  }
}

async function examineApp(app: App, findings: Finding[]): Promise<void> {
  if (!app.database) await runCheck(findings, 'database', async () => ({ detail: await app.checkStorage() }))
  await runCheck(findings, 'plugins', async () => plugins(app, findings))
  await runCheck(findings, 'local runner', () => runner(app))
  await runCheck(findings, 'chats', () => chats(app, findings))
}

async function detailOrClose(app: App): Promise<string> {
  try {
    return await app.checkStorage()
  } catch (reason) {
    await app.close()
    throw reason
  }
}

/** Runs a check, which throws on a problem, and records its finding. */
async function runCheck<T>(
  findings: Finding[],
  check: string,
  run: () => Promise<{ readonly value?: T; readonly detail: string } | undefined>,
  severity: 'failed' | 'warning' = 'failed',
): Promise<T | undefined> {
  try {
    const found = await run()
    if (found) findings.push({ check, status: 'ok', detail: found.detail })
    return found?.value
  } catch (thrown) {
    const { message, details, code } = toAppError(thrown)
    const reason = code === 'internal' && thrown instanceof Error ? thrown.message.split('\n')[0]! : message
    const advice = details.join('; ')
    findings.push({ check, status: severity, detail: reason, ...(advice && { fix: advice }) })
    return undefined
  }
}

function folders({ paths }: Settings): readonly Finding[] {
  return [...new Set([paths.config, paths.data])].map((folder) => {
    const stat = existsSync(folder) ? statSync(folder) : undefined
    const place = stat ? folder : nearestTo(folder)
    try {
      accessSync(place, constants.W_OK)
      // A folder is made in a folder alone.
      if (!statSync(place).isDirectory()) throw new Error('no folder')
    } catch {
      return {
        check: 'folder',
        status: 'failed',
        detail: stat ? `${folder} cannot be written` : `${folder} cannot be created: ${place} cannot be written`,
        fix: stat ? 'chown it to the user of aichat' : 'set AICHAT_HOME to another folder',
      }
    }
    if (!stat) return { check: 'folder', status: 'ok', detail: `${folder} will be created at first use` }
    const open = process.platform !== 'win32' && (stat.mode & 0o077) !== 0
    return open
      ? { check: 'folder', status: 'warning', detail: `${folder} can be read by others`, fix: `chmod 700 ${folder}` }
      : { check: 'folder', status: 'ok', detail: folder }
  })
}

/** The part of a path that exists. */
function nearestTo(folder: string): string {
  const above = dirname(folder)
  return above === folder || existsSync(above) ? above : nearestTo(above)
}

function plugins(app: App, findings: Finding[]): { detail: string } {
  for (const { id, problems } of app.plugins.broken()) {
    findings.push({
      check: 'plugins',
      status: 'failed',
      detail: `invalid plugin "${id}": ${problems.join('; ')}`,
      fix: `correct or remove its file in ${join(app.settings.paths.data, 'plugins')}`,
    })
  }
  const active = app.plugins.list().filter((plugin) => plugin.active)
  for (const { id, state, auth } of active) {
    if (state === 'key_missing')
      findings.push({
        check: 'plugins',
        status: 'failed',
        detail: `${id} is active and ${auth.key_env} is not set`,
        fix: `aichat setup --provider ${id} asks for it, or set ${auth.key_env}`,
      })
    if (state === 'retired')
      findings.push({
        check: 'plugins',
        status: 'warning',
        detail: `${id} is active and retired`,
        fix: 'activate another plugin',
      })
  }
  return { detail: active.length === 0 ? 'none is active' : `active: ${active.map(({ id }) => id).join(', ')}` }
}

async function runner(app: App): Promise<{ detail: string }> {
  const { ollama } = await app.chat()
  const models = await ollama.models()
  return { detail: models ? `${ollama.url} has ${counted(models.length, 'model')}` : `no answer at ${ollama.url}` }
}

/** Checks that a question without a model's name has a model, without asking it: that may cost money. */
async function chats(app: App, findings: Finding[]): Promise<{ detail: string } | undefined> {
  const active = app.plugins
    .list()
    .find((plugin) => plugin.active && plugin.type !== 'tts' && plugin.type !== 'embedding')
  if (active?.key_set) return { detail: `${active.name} is set up; aichat plugin test ${active.id} asks it` }
  const { ollama, embedded } = await app.chat()
  if ((await ollama.models())?.some(({ embedding }) => !embedding) || embedded.models().length > 0)
    return { detail: 'a model on this machine answers' }
  findings.push({ check: 'chats', status: 'warning', detail: 'no model answers', fix: 'aichat setup' })
  return undefined
}

/** What to do next: of all that is wrong the first thing, what failed before what is only a warning. */
function nextStep(findings: readonly Finding[]): string {
  const wrong = findings.filter(({ status, fix }) => status !== 'ok' && fix !== undefined)
  const first =
    wrong.find(({ status }) => status === 'failed') ?? wrong.find(({ check }) => check === 'chats') ?? wrong[0]
  return first ? `${first.detail}: ${first.fix}` : 'nothing is wrong: ask something with aichat'
}

async function nativeRuntime(): Promise<{ detail: string }> {
  const { requireRuntime } = await import('../../inference/session.ts')
  await requireRuntime()
  return { detail: 'loads' }
}
