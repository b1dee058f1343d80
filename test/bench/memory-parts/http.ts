import type { EmbeddingSpace } from '../../../src/personas/memory/memory.ts'
import { openDaemon } from '../../helpers/program/daemon.ts'
import { json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { keepAll, percentiles } from './scope.ts'
import type { createText } from './text.ts'

const model = 'bench-embed:latest'
const digest = 'b'.repeat(64)

/**
 * The same search asked of the daemon: includes the token, JSON, and the query's vector from a fake runner, which
 * computes in this process and so has its answers prepared. 1,000 memories among 200 other scopes of 20.
 */
export async function overHttp(dimension: number, text: ReturnType<typeof createText>): Promise<string> {
  const answers = Array.from({ length: 100 }, () => JSON.stringify({ embeddings: [[...text.vector(dimension)]] }))
  let answered = 0
  const runner = await openStandIn((request, response) => {
    if (request.url === '/api/tags')
      return json(response, 200, { models: [{ name: model, digest, capabilities: ['embedding'] }] })
    if (request.url === '/api/show') return json(response, 200, { capabilities: ['embedding'] })
    response.setHeader('content-type', 'application/json').end(answers[answered++ % answers.length])
  })
  const daemon = await openDaemon({ OLLAMA_HOST: runner.host })
  const { token, user } = await daemon.register('bench')
  const area = await daemon.installation.app.personas()
  const space: EmbeddingSpace = { key: `ollama/${model}@${digest.slice(0, 12)}/${dimension}`, model, dimension }
  const fill = async (count: number): Promise<string> => {
    const persona = await area.personas.create(user.id, {
      name: 'bench',
      model: 'm',
      parameters: {},
      embedding_model: model,
      memory_settings: { auto_cleanup: false },
    })
    const memories = Array.from({ length: count }, () => ({
      content: text.sentence(),
      timestamp: text.time(),
      importance_score: 0.5,
      metadata: {},
      vector: { space, values: text.vector(dimension) },
    }))
    await area.stores.memories.add({ personaId: persona.id, userId: user.id }, memories, keepAll)
    return persona.id
  }
  for (let other = 0; other < 200; other++) await fill(20)
  const id = await fill(1000)
  const times: number[] = []
  for (let round = 0; round < 320; round++) {
    const query = text.question()
    const start = performance.now()
    const { status, body } = await daemon.call('POST', `/api/personas/${id}/memory/search`, { token, body: { query } })
    if (status !== 200 || body.mode !== 'hybrid') throw new Error(`search: ${status} ${JSON.stringify(body)}`)
    if (round >= 20) times.push(performance.now() - start)
  }
  await daemon.close()
  await runner.close()
  return percentiles(times)
}
