import { Agent, type AgentOutputType, OpenAIProvider, Runner, tool } from '@openai/agents'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { type ClientLibraries, type DialectId, endpoints, withLibraries } from '../helpers/program/client-libraries.ts'
import { speaking, working } from '../helpers/speech/speaking-model.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('OpenAI’s agents, before a provider of every dialect')

const model = 'custom-model'
const weather = tool({
  name: 'weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
})
const clock = tool({
  name: 'clock',
  description: 'The time of a zone',
  parameters: z.object({ zone: z.string() }),
  execute: async ({ zone }) => `noon in ${zone}`,
})

const speech = { 'the Responses API': true, 'chat completions': false }

// A whole run takes each way of speech before each dialect, any other one each dialect with one of them.
for (const [place, api] of (Object.keys(endpoints) as DialectId[]).entries())
  for (const [at, [name, useResponses]] of Object.entries(speech).entries())
    for (const stream of [false, true]) {
      if (!isWholeRun && (place + at * 2 + Number(stream)) % 4 !== 0) continue
      const title = `over ${name}${stream ? ', streamed,' : ''} before a provider of ${api}`

      test(`an agent uses two tools ${title}`, () =>
        withAgents(api, useResponses, async (runner) => {
          const agent = new Agent({ name: 'Helper', instructions: 'Be kind.', model, tools: [weather, clock] })
          const { output } = await answer(runner, agent, stream)
          assert.is(output, 'heard 6: Be kind. | Hello |  | sunny in Bern |  | noon in CET')
        }))

      test(`an agent hands off to another one ${title}`, () =>
        withAgents(api, useResponses, async (runner) => {
          const expert = new Agent({ name: 'Expert', instructions: 'Be exact.', model, tools: [weather] })
          const agent = Agent.create({ name: 'Helper', instructions: 'Hand off.', model, handoffs: [expert] })
          const { output, last } = await answer(runner, agent, stream)
          assert.is(last, 'Expert')
          assert.match(String(output), /^heard 6: Be exact\. \| Hello \| .*Expert.* \|.* \| sunny in Bern$/)
        }))

      test(`an agent answers in a shape ${title}`, () =>
        withAgents(api, useResponses, async (runner) => {
          const agent = new Agent({ name: 'Helper', model, outputType: z.object({ city: z.string() }) })
          assert.equal((await answer(runner, agent, stream)).output, { city: 'Bern' })
        }))
    }

for (const api of Object.keys(endpoints) as DialectId[])
  test(`an agent goes on by the id of the last response before a provider of ${api}`, () =>
    withAgents(api, true, async (runner) => {
      const agent = new Agent({ name: 'Helper', model })
      const first = await runner.run(agent, 'One')
      const second = await runner.run(agent, 'Two', { previousResponseId: first.lastResponseId! })
      assert.is(second.finalOutput, 'heard 3: One | heard 1: One | Two')
    }))

test.run()

/** Runs an agent on `Hello`, reading the events of a stream as they come. */
async function answer<Output extends AgentOutputType>(
  runner: Runner,
  agent: Agent<unknown, Output>,
  stream: boolean,
): Promise<{ readonly output: unknown; readonly last: string | undefined }> {
  if (!stream) {
    const { finalOutput, lastAgent } = await runner.run(agent, 'Hello')
    return { output: finalOutput, last: lastAgent?.name }
  }
  const result = await runner.run(agent, 'Hello', { stream: true })
  for await (const _ of result);
  await result.completed
  return { output: result.finalOutput, last: result.lastAgent?.name }
}

/** Traces would go to OpenAI. */
function withAgents(api: DialectId, useResponses: boolean, work: (runner: Runner) => Promise<void>): Promise<void> {
  const run = ({ openai }: ClientLibraries) => {
    const modelProvider = new OpenAIProvider({ openAIClient: openai, useResponses })
    return work(new Runner({ modelProvider, tracingDisabled: true }))
  }
  return withLibraries(speaking(api, working), run, { plugin: { api }, maxRetries: 0 })
}
