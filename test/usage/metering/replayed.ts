import type { Delta } from '../../../src/chat/protocol/messages.ts'
import type { LedgerRow } from '../../../src/usage/ledger/ledger.ts'
import { dialectOf, requestOf } from '../../helpers/chat/exchange-checks.ts'
import { type Exchange, isStreamed } from '../../helpers/chat/exchanges.ts'
import { type Installation, openInstallation } from '../../helpers/program/installation.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'

/** The product with a fake provider that plays exchanges, and the rows that it books for them. */
export interface Replayed {
  /** Plays an exchange and returns its row in the ledger. */
  play(exchange: Exchange, end?: End): Promise<Played>
  readonly app: Installation['app']
}

/** The way an exchange ends: by itself, by a provider that breaks off after these bytes, or by a caller that leaves. */
export interface End {
  readonly bytes?: Buffer
  /** The caller leaves with this chunk, from 1 on. */
  readonly chunk?: number
}

export interface Played {
  /** Undefined where nothing was sent. */
  readonly row: LedgerRow | undefined
  /** UTF-8 bytes of the text, thoughts and arguments that the caller got, and the chunks that held them. */
  readonly delivered: number
  readonly chunks: number
}

/** Opens it, does something with it and closes it. The provider names no plugin that bills on. */
export async function withReplay(work: (replayed: Replayed) => Promise<void>): Promise<void> {
  let playing: { readonly exchange: Exchange; readonly cut: Buffer | undefined } | undefined
  await using provider = await openStandIn((_request, response) => {
    const { exchange, cut } = playing!
    response.writeHead(exchange.status, { 'content-type': exchange.headers['content-type'] ?? 'application/json' })
    if (cut === undefined) return void response.end(exchange.answer)
    response.write(cut, () => response.destroy())
  })
  await using installation = openInstallation()
  const { app } = installation
  let played = 0
  const { ledger, ...area } = await app.usage()
  const store = await area.store()
  const { router } = await app.chat()
  await work({
    app,
    async play(exchange, { bytes, chunk = Number.POSITIVE_INFINITY } = {}) {
      playing = { exchange, cut: bytes }
      const request = requestOf(exchange)
      const model = request.model || 'a-model'
      const { pathname, search } = new URL(exchange.url)
      const plugin = `replayed-${++played}`
      await app.plugins.install({
        id: plugin,
        name: 'Replayed',
        type: 'chat',
        endpoint: `${provider.url}${pathname}${search}`,
        auth: { header: '', key_env: '' },
        model_map: [model],
        api: dialectOf(exchange).id,
        retry: { attempts: 1 },
      })
      const call = { request: { ...request, model }, plugin, fallback: false }
      let [delivered, chunks] = [0, 0]
      try {
        if (!isStreamed(exchange)) await router.complete(call)
        else
          for await (const { choices } of (await router.stream(call)).chunks) {
            chunks++
            for (const { delta } of choices) delivered += lengthOf(delta)
            if (chunks === chunk) break
          }
      } catch {
        // A refusal or a cut: only the row matters.
      }
      await app.plugins.remove(plugin)
      await ledger.settle()
      const rows: LedgerRow[] = []
      const query = { since: '2000-01-01', until: '2999-12-31', plugin }
      for await (const batch of await store.rows(query)) rows.push(...batch)
      if (rows.length > 1) throw new Error(`${exchange.name}: ${rows.length} rows for one attempt`)
      return { row: rows[0], delivered, chunks }
    },
  })
}

function lengthOf({ content, refusal, reasoning_content: thoughts, tool_calls: calls }: Delta): number {
  const texts = [
    content,
    refusal,
    thoughts,
    ...(calls ?? []).flatMap(({ function: called }) => [called?.name, called?.arguments]),
  ]
  // A call has a frame beside its words.
  const frames = (calls ?? []).filter(({ function: called }) => called?.name).length * 28
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), frames)
}
