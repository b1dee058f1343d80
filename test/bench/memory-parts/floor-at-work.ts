import { rmSync } from 'node:fs'
import { isOnlyQuestions } from '../../../src/personas/memory/questions.ts'
import { type Answered, type SpawnedDaemon, spawnDaemon } from '../../helpers/program/daemon.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import type { QualitySet, RelevanceQuery } from './quality-data.ts'

/** The memories of a ranking that would enter a prompt: ids with scores, best first. */
type Ranking = readonly { readonly id: string; readonly score: number }[]

/** As in `persona-chat`. */
const mostInPrompt = 8
const charactersInPrompt = 6_000

/** The contents of the memories in each query's prompt. */
type Prompts = readonly (readonly string[])[]

/**
 * The floor at work: the prompts of a daemon in a process of its own, over REST and by `chat --dry-run`, and those that the
 * rankings of this process give. Returns a line for each; they say the same.
 */
export async function floorAtWork(set: QualitySet, rankings: readonly Ranking[], floor: number): Promise<string[]> {
  const here = promptsOf(set, rankings, floor)
  const { rest, dryRun } = await promptsOfDaemon(set)
  const others = (prompts: Prompts) =>
    prompts.filter((prompt, at) => [...prompt].sort().join('\n') !== [...here[at]!].sort().join('\n')).length
  return [
    `in process:          ${counts(set, here)}`,
    `over REST:           ${counts(set, rest)}; ${others(rest)} prompts differ`,
    `by chat --dry-run:   ${counts(set, dryRun)}; ${others(dryRun)} prompts differ`,
  ]
}

function counts({ memories, queries }: QualitySet, prompts: Prompts): string {
  const contents = new Map(memories.map(({ id, content }) => [id, oneLine(content)]))
  const holds = ({ right }: RelevanceQuery, at: number) => right.some((id) => prompts[at]!.includes(contents.get(id)!))
  const strangers = queries.filter(({ answerable }) => !answerable).length
  const silent = queries.filter(({ answerable }, at) => !answerable && prompts[at]!.length === 0).length
  const answered = queries.filter((query, at) => query.answerable && holds(query, at)).length
  return `${silent} of ${strangers} unanswerable questions have an empty prompt, ${answered} of ${queries.length - strangers} answerable ones the memory in it`
}

function promptsOf({ memories }: QualitySet, rankings: readonly Ranking[], floor: number): Prompts {
  const contents = new Map(memories.map(({ id, content }) => [id, content]))
  return rankings.map((ranking) => {
    const chosen: string[] = []
    let length = 0
    // A chat looks at three times as many as it takes.
    for (const { id, score } of ranking.slice(0, 3 * mostInPrompt)) {
      const content = contents.get(id)!
      if (score < floor || chosen.length === mostInPrompt) break
      if (isOnlyQuestions(content) || length + content.length > charactersInPrompt) continue
      length += content.length
      chosen.push(oneLine(content))
    }
    return chosen
  })
}

async function promptsOfDaemon(set: QualitySet): Promise<{ readonly rest: Prompts; readonly dryRun: Prompts }> {
  const environment = { CUSTOM_API_KEY: 'sk-of-the-bench' }
  const daemon = await spawnDaemon(environment)
  try {
    const token = await administrator(daemon)
    const call = async (path: string, body: unknown): Promise<Answered['body']> => {
      const answered = await daemon.call('POST', path, { token, body })
      if (answered.status >= 300) throw new Error(`${path}: ${answered.status} ${JSON.stringify(answered.body)}`)
      return answered.body
    }
    // A preview sends nothing: the provider is never asked.
    await call('/api/plugins/install', pluginAt('http://127.0.0.1:9'))
    await call('/api/plugins/activate/custom', {})
    const { id } = await call('/api/personas', {
      name: 'Bench',
      model: 'custom-model',
      memory_settings: { enabled: true, max_memories: 10_000, auto_cleanup: false },
    })
    await call(`/api/personas/${id}/memory/batch`, {
      memories: set.memories.map(({ content, timestamp }) => ({ content, timestamp, metadata: { source: 'chat' } })),
    })
    const rest: string[][] = []
    const dryRun: string[][] = []
    for (const { query } of set.queries) {
      const messages = [{ role: 'user', content: query }]
      rest.push(remembered(await call('/api/chat/preview', { persona: id, messages })))
      const ran = await runMain(['chat', '--dry-run', '-p', id, '--server', daemon.url, '--', query], {
        environment: { AICHAT_HOME: daemon.home, HOME: daemon.home, AICHAT_TOKEN: token, ...environment },
      })
      if (ran.code !== 0) throw new Error(ran.stderr)
      dryRun.push(remembered(JSON.parse(ran.stdout)))
    }
    return { rest, dryRun }
  } finally {
    await daemon.stop()
    rmSync(daemon.home, { recursive: true, force: true })
  }
}

async function administrator(daemon: SpawnedDaemon): Promise<string> {
  const { status, body } = await daemon.call('POST', '/api/auth/register', {
    body: { username: 'bench', password: 'Passw0rd' },
  })
  if (status !== 201) throw new Error(`register: ${status} ${JSON.stringify(body)}`)
  return body.token
}

/** The memories in a previewed request, wherever the persona places them, each without its date and source. */
function remembered({ body }: { readonly body: { readonly messages: readonly { readonly content: string }[] } }) {
  return body.messages
    .flatMap(({ content }) => content.split('\n'))
    .flatMap((line) => /^- \[[^\]]*\] (.*)$/.exec(line)?.[1] ?? [])
}

/** As a prompt writes a memory. */
function oneLine(content: string): string {
  return content.replace(/[\s\u0000-\u001f\u0085]+/g, ' ').trim()
}
