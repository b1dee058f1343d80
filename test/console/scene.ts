import { once } from 'node:events'
import { closing } from '../helpers/disposal.ts'
import { openDaemon, type TestDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import {
  type Answer,
  completion,
  completionEvents,
  json,
  openStandIn,
  type StandIn,
} from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { haveBrowser, openBrowser, type TestBrowser } from './browser.ts'
import { type Furniture, furnish } from './furniture.ts'

/** A daemon with its console, two providers and a browser. */
export interface Scene extends TestDaemon {
  readonly browser: TestBrowser
  /** `custom`, which is active and falls back to `second`. */
  readonly provider: StandIn
  readonly second: StandIn
}

interface Wire {
  readonly model: string
  readonly messages: readonly { readonly content: unknown }[]
  readonly stream?: boolean
}

/** The answer of the fake providers, which a person would like to read. */
const wellWritten = [
  '### Tea for two\n\n',
  'Take **two grams** of leaves for each cup:\n\n',
  '1. Warm the pot.\n2. Pour water of *80 °C*.\n3. Wait two minutes.\n\n',
  '| leaf | minutes |\n|---|---|\n| green | 2 |\n| black | 4 |\n\n',
  '```sh\naichat chat "More tea?"\n```\n',
]

/**
 * Answers by the words of the last message: `fail` is an error of the first provider, `go on` a stream that ends only
 * when its reader leaves, anything else a whole answer.
 */
const provider: Answer = async ({ body }, response) => {
  const { messages, model, stream } = JSON.parse(body) as Wire
  const asked = JSON.stringify(messages.at(-1)?.content ?? '')
  if (/\bfail\b/.test(asked) && model !== 'second-model')
    return json(response, 503, { error: { message: 'The model is overloaded' } })
  if (!stream) return json(response, 200, completion(wellWritten.join('')))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (!/go on/.test(asked)) return void response.end(completionEvents(wellWritten).join(''))
  const [opening = '', first = '', word = ''] = completionEvents(['Word after word ', 'and on '])
  // Nothing moves after these words, so that what is to be clicked stands still.
  response.write(opening + first + word.repeat(3))
  await once(response, 'close')
}

/** Opens a scene without users. */
async function openScene(environment: Record<string, string> = {}): Promise<Scene> {
  const standIns = [await openStandIn(provider), await openStandIn(provider)] as const
  const browser = await openBrowser()
  const daemon = await openDaemon({ CUSTOM_API_KEY: 'sk-of-the-test', ...environment })
  const [first, second] = standIns
  const { plugins } = daemon.installation.app
  const retry = { attempts: 1 }
  await plugins.install(pluginAt(second.url, { id: 'second', name: 'Second', model_map: ['second-model'], retry }))
  await plugins.install(
    pluginAt(first.url, { model_map: ['custom-model', 'other-model'], fallback: ['second'], retry }),
  )
  await plugins.activate('custom')
  return {
    ...daemon,
    browser,
    provider: first,
    second,
    async close() {
      await browser.close()
      await daemon.close()
      for (const standIn of standIns) await standIn.close()
    },
  }
}

/** Does something in a scene without users and closes it. */
export async function withScene(
  work: (scene: Scene) => Promise<void>,
  environment?: Record<string, string>,
): Promise<void> {
  await using scene = closing(await openScene(environment))
  await work(scene)
}

/** A scene with users and their records. */
export interface Furnished extends Scene, Furniture {}

/** A suite whose tests share one furnished scene, which the first of them opens; skipped where no browser is. */
export interface SceneSuite {
  (title: string, work: (scene: Furnished) => Promise<void>): void
  /** A test that opens its own scene, or none. */
  alone(title: string, work: () => Promise<void>): void
  after(close: () => Promise<unknown> | undefined): void
  run(): void
}

export function sceneSuite(name: string, memories = 3): SceneSuite {
  const inner = suite(name)
  const test = haveBrowser ? inner : inner.skip
  let opened: Promise<Furnished> | undefined
  const open = async () => {
    const scene = await openScene()
    return { ...scene, ...(await furnish(scene, memories)) }
  }
  inner.after.each(async () => (await opened)?.browser.clear())
  inner.after(async () => (await opened)?.close())
  const shared = (title: string, work: (scene: Furnished) => Promise<void>) =>
    void test(title, async () => {
      opened ??= open()
      await work(await opened)
    })
  return Object.assign(shared, {
    alone: (title: string, work: () => Promise<void>) => void test(title, work),
    after: (close: () => Promise<unknown> | undefined) => void inner.after(async () => void (await close())),
    run: () => void inner.run(),
  })
}
