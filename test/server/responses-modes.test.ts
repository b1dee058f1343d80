import { generateObject, generateText, Output, stepCountIs, streamObject, streamText, tool } from 'ai'
import type OpenAI from 'openai'
import { zodResponsesFunction, zodTextFormat } from 'openai/helpers/zod'
import type { ResponseCreateParams, ResponseInput } from 'openai/resources/responses/responses'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { providerSide } from '../helpers/chat/gemini-provider.ts'
import {
  type ClientLibraries,
  type DialectId,
  endpoints,
  openLibraries,
  withLibraries,
} from '../helpers/program/client-libraries.ts'
import { speaking, working } from '../helpers/speech/speaking-model.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('every mode of the libraries that speak the Responses API, before a provider of every dialect')

const model = 'custom-model'
const input = 'Weather in Bern?'
const place = z.object({ city: z.string() })
const zone = z.object({ zone: z.string() })
const format = zodTextFormat(place, 'place')
const bern = { city: 'Bern' }
/** One pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const greeting = `heard 1: ${input}`
/** The whole conversation arrives at the model, each call before its result. */
const worked = `heard 5: ${input} |  | sunny in Bern |  | noon in CET`

/** Each mode must give the value beside it. */
const modes: Record<string, readonly [(libraries: ClientLibraries) => Promise<unknown>, unknown]> = {
  'openai create': [async ({ openai }) => (await openai.responses.create({ model, input })).output_text, greeting],
  'openai stream': [
    async ({ openai }) => {
      const stream = openai.responses.stream({ model, input })
      let text = ''
      stream.on('response.output_text.delta', ({ delta }) => {
        text += delta
      })
      const { output_text: whole, status, usage } = await stream.finalResponse()
      return [text, whole, status, usage?.total_tokens]
    },
    [greeting, greeting, 'completed', 7],
  ],
  'openai parse': [
    async ({ openai }) => (await openai.responses.parse({ model, input, text: { format } })).output_parsed,
    bern,
  ],
  'openai parse, streamed': [
    async ({ openai }) =>
      (await openai.responses.stream({ model, input, text: { format } }).finalResponse()).output_parsed,
    bern,
  ],
  'openai in the background': [
    async ({ openai }) => {
      let response = await openai.responses.create({ model, input, background: true })
      while (response.status === 'queued' || response.status === 'in_progress')
        response = await openai.responses.retrieve(response.id)
      return [response.status, response.output_text]
    },
    ['completed', greeting],
  ],
  'openai with a picture': [
    async ({ openai, provider }) => {
      const image_url = `data:image/png;base64,${png}`
      const content = [
        { type: 'input_text' as const, text: input },
        { type: 'input_image' as const, image_url, detail: 'auto' as const },
      ]
      const { output_text } = await openai.responses.create({ model, input: [{ role: 'user', content }] })
      return [output_text, provider.received.at(-1)!.body.includes(png)]
    },
    [greeting, true],
  ],
  'openai tools, by the id': [({ openai }) => openaiTools(openai, true, false), worked],
  'openai tools, by the id, streamed': [({ openai }) => openaiTools(openai, true, true), worked],
  'openai tools, items sent back': [({ openai }) => openaiTools(openai, false, false), worked],
  'openai tools, items sent back, streamed': [({ openai }) => openaiTools(openai, false, true), worked],
  'ai generateText': [async ({ ai }) => (await generateText({ model: ai(model), prompt: input })).text, greeting],
  'ai streamText': [async ({ ai }) => streamText({ model: ai(model), prompt: input }).text, greeting],
  'ai generateText with tools': [
    async ({ ai }) => (await generateText({ model: ai(model), prompt: input, ...aiTools() })).text,
    worked,
  ],
  'ai streamText with tools': [
    async ({ ai }) => {
      const result = streamText({ model: ai(model), prompt: input, ...aiTools() })
      return [await result.text, await result.finishReason, (await result.totalUsage).totalTokens]
    },
    [worked, 'stop', 21],
  ],
  'ai generateObject': [
    async ({ ai }) => (await generateObject({ model: ai(model), prompt: input, schema: place })).object,
    bern,
  ],
  'ai streamObject': [
    async ({ ai }) => {
      let last: unknown
      for await (const part of streamObject({ model: ai(model), prompt: input, schema: place }).partialObjectStream)
        last = part
      return last
    },
    bern,
  ],
  'ai output of a shape': [
    async ({ ai }) =>
      (await generateText({ model: ai(model), prompt: input, output: Output.object({ schema: place }) })).output,
    bern,
  ],
  'ai over two turns, by references to items': [
    async ({ ai }) => {
      const asked = { role: 'user' as const, content: input }
      const { response } = await generateText({ model: ai(model), messages: [asked] })
      const messages = [asked, ...response.messages, { role: 'user' as const, content: 'And now?' }]
      return streamText({ model: ai(model), messages }).text
    },
    `heard 3: ${input} | ${greeting} | And now?`,
  ],
  'ai as a model that reasons': [
    async ({ ai }) => {
      const openai = { forceReasoning: true, reasoningEffort: 'low', reasoningSummary: 'auto' }
      return (await generateText({ model: ai(model), prompt: input, providerOptions: { openai }, ...aiTools() })).text
    },
    worked,
  ],
  'ai with a picture': [
    async ({ ai, provider }) => {
      const content = [
        { type: 'text' as const, text: input },
        { type: 'image' as const, image: png },
      ]
      const { text } = await generateText({ model: ai(model), messages: [{ role: 'user', content }] })
      return [text, provider.received.at(-1)!.body.includes(png)]
    },
    [greeting, true],
  ],
}

// A whole run takes each mode before each dialect, any other one each mode before one of them.
for (const [at, api] of (Object.keys(endpoints) as DialectId[]).entries()) {
  let libraries: Awaited<ReturnType<typeof openLibraries>>
  test.before(async () => {
    libraries = await openLibraries(speaking(api, working), { plugin: { api }, maxRetries: 0 })
  })
  test.after(() => libraries.close())
  for (const [place, [mode, [run, wanted]]] of Object.entries(modes).entries())
    if (isWholeRun || (place + at) % Object.keys(endpoints).length === 0)
      test(`${mode} before a provider of ${api}`, async () => assert.equal(await run(libraries), wanted))
}

for (const api of Object.keys(endpoints) as DialectId[])
  test(`calls that have the same id in every turn keep their own results before a provider of ${api}`, () =>
    withLibraries(
      speaking(api, (request) => {
        const { tool_calls: calls, ...said } = working(request)
        return calls ? { ...said, tool_calls: calls.map((call) => ({ ...call, id: 'call_0' })) } : said
      }),
      async ({ openai, ai, provider }) => {
        for (const keeps of [true, false]) assert.is(await openaiTools(openai, keeps, false), worked)
        for (const client of [ai(model), ai.chat(model)])
          assert.is((await generateText({ model: client, prompt: input, ...aiTools() })).text, worked)
        const { body, url } = provider.received.at(-1)!
        const names = providerSide(api).readRequest(JSON.parse(body), url).messages
        if (api === 'gemini' || api === 'ollama')
          assert.equal(
            names.filter(({ role }) => role === 'tool').map(({ name }) => name),
            ['weather', 'clock'],
          )
      },
      { plugin: { api }, maxRetries: 0 },
    ))

test.run()

/** Two tools over three turns, as OpenAI's documentation shows it. */
async function openaiTools(openai: OpenAI, keeps: boolean, streams: boolean): Promise<string> {
  const tools = [
    zodResponsesFunction({ name: 'weather', parameters: place, function: forecast }),
    zodResponsesFunction({ name: 'clock', parameters: zone, function: time }),
  ]
  const ask = ({ stream: _, ...body }: ResponseCreateParams) =>
    streams ? openai.responses.stream(body).finalResponse() : openai.responses.create(body)
  const include = ['reasoning.encrypted_content' as const]
  const kind = keeps ? { model, tools } : { model, tools, store: false, include }
  const items: ResponseInput = [{ role: 'user', content: input }]
  let response: OpenAI.Responses.Response = await ask({ ...kind, input })
  for (let turn = 1; turn < 3; turn++) {
    const calls = response.output.filter((item) => item.type === 'function_call')
    const outputs = calls.map((call) => ({
      type: 'function_call_output' as const,
      call_id: call.call_id,
      output: call.name === 'weather' ? forecast(JSON.parse(call.arguments)) : time(JSON.parse(call.arguments)),
    }))
    items.push(...(response.output as ResponseInput), ...outputs)
    response = await ask(
      keeps ? { ...kind, input: outputs, previous_response_id: response.id } : { ...kind, input: items },
    )
  }
  return response.output_text
}

function aiTools() {
  return {
    tools: {
      weather: tool({ inputSchema: place, execute: async (input) => forecast(input) }),
      clock: tool({ inputSchema: zone, execute: async (input) => time(input) }),
    },
    stopWhen: stepCountIs(4),
  }
}

function forecast({ city }: z.infer<typeof place>): string {
  return `sunny in ${city}`
}

function time(input: z.infer<typeof zone>): string {
  return `noon in ${input.zone}`
}
