import { isDeepStrictEqual } from 'node:util'
import {
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsIn,
  objectsOf,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Message, ResponseFormat, Tool } from '../../protocol/messages.ts'
import { splitAnswers, withExtra } from '../shared/alternation.ts'
import { checkedRequest, checkRequest, requestBody } from '../shared/request-check.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { field, inBothCases, readAssistant, readPart, readParts } from './content.ts'
import { isGeminiSchema, toJsonSchema } from './schema.ts'

/** Reads a request in Gemini's dialect. The URL names the model and the method, streamed or not. */
export function readRequest(body: unknown, url = ''): ChatRequest {
  const { fields, turns } = requestBody(listed(body), 'contents')
  checkTurns(turns, field(fields, 'systemInstruction'))
  const config = objectOf(field(fields, 'generationConfig'))
  const request = compact({
    model: modelIn(url),
    messages: [...readSystem(field(fields, 'systemInstruction')), ...readTurns(turns)],
    temperature: config['temperature'],
    top_p: field(config, 'topP'),
    top_k: field(config, 'topK'),
    max_tokens: field(config, 'maxOutputTokens'),
    stop: field(config, 'stopSequences'),
    seed: config['seed'],
    n: field(config, 'candidateCount'),
    presence_penalty: field(config, 'presencePenalty'),
    frequency_penalty: field(config, 'frequencyPenalty'),
    response_format: readFormat(config),
    tools: fields['tools'] === undefined ? undefined : objectsIn(fields['tools']).flatMap(readTool),
    tool_choice: readToolChoice(fields),
    stream: /:streamGenerateContent/i.test(url) ? true : undefined,
    extra_content: readExtra(fields, config),
  })
  return checkedRequest(request)
}

/** A body with a single turn instead of the list, as Google's documentation writes it too. */
function listed(body: unknown): unknown {
  return isObject(body) && isObject(body['contents']) ? { ...body, contents: [body['contents']] } : body
}

function checkTurns(turns: readonly JsonObject[], system: unknown): void {
  const { expect, done } = checkRequest()
  expect(system === undefined || system === null || isObject(system), 'systemInstruction', 'must be an object')
  for (const [index, turn] of turns.entries()) {
    const { role, parts } = turn
    const known = role === undefined || role === 'user' || role === 'model' || role === 'function'
    expect(known, `contents[${index}].role`, 'must be user or model')
    const fine = parts === undefined || isObject(parts) || (Array.isArray(parts) && parts.every(isObject))
    expect(fine, `contents[${index}].parts`, 'must be a list of objects')
  }
  done()
}

function modelIn(url: string): string {
  const name = /\/(?:models|tunedModels)\/([^:/?#]+)/.exec(url)?.[1]
  return name && name !== '{model}' ? decodeURIComponent(name) : ''
}

function readSystem(instruction: unknown): readonly Message[] {
  if (!isObject(instruction)) return []
  const { role } = instruction
  const content = readParts(objectsIn(instruction['parts']))
  return [{ role: 'system', content, ...withExtra('gemini', role === undefined ? undefined : { role }) }]
}

/** Gemini's calls need no id: those without get one, and the answers of tools find theirs by name, in order. */
function readTurns(turns: readonly JsonObject[]): readonly Message[] {
  let count = 0
  let open: { readonly id: string; readonly name: string }[] = []

  function idFor(answer: JsonObject): string {
    const name = stringOf(answer['name']) ?? ''
    const own = stringOf(answer['id'])
    const at = open.findIndex((call) => (own ? call.id === own : call.name === name))
    const [found] = at === -1 ? [] : open.splice(at, 1)
    return own ?? found?.id ?? generatedId('', count++)
  }

  return turns.flatMap((turn) => {
    const parts = objectsIn(turn['parts'])
    if (turn['role'] !== 'model')
      return splitAnswers(
        parts,
        (part) => {
          const answer = field(part, 'functionResponse')
          return isObject(answer) ? readAnswer(answer, idFor(answer)) : undefined
        },
        (others) => ({ role: 'user', content: readParts(others) }),
      )
    const message = readAssistant(parts, () => generatedId('', count++))
    open = [...open, ...(message.tool_calls ?? []).map((call) => ({ id: call.id, name: call.function.name }))]
    return [message]
  })
}

const answerFields = new Set(['id', 'name', 'response', 'parts'])

function readAnswer(answer: JsonObject, id: string): Message {
  const text = answerText(objectOf(answer['response']))
  const media = objectsOf(answer['parts']).map(readPart)
  return {
    role: 'tool',
    tool_call_id: id,
    ...(typeof answer['name'] === 'string' && { name: answer['name'] }),
    content: media.length > 0 ? [{ type: 'text', text }, ...media] : text,
    ...withExtra('gemini', restOf(answer, answerFields)),
  }
}

/** A tool's answer: the text under `output` where that is the only field, else the whole object as JSON. */
function answerText(response: JsonObject): string {
  const { output, ...rest } = response
  const isText = typeof output === 'string' && Object.keys(rest).length === 0
  return isText && !output.trimStart().startsWith('{') ? output : JSON.stringify(response)
}

function readFormat(config: JsonObject): ResponseFormat | undefined {
  if (field(config, 'responseMimeType') !== 'application/json') return undefined
  const schema = field(config, 'responseJsonSchema') ?? field(config, 'responseSchema')
  if (!isObject(schema)) return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'answer', schema: toJsonSchema(schema) } }
}

const toolFields = inBothCases('functionDeclarations')

function readTool(tool: JsonObject): readonly (Tool | ForeignPart)[] {
  const functions = objectsIn(field(tool, 'functionDeclarations')).map(readFunction)
  const own = restOf(tool, toolFields)
  return own ? [...functions, { type: 'foreign', dialect: 'gemini', value: own }] : functions
}

const functionFields = inBothCases('name', 'description', 'parameters', 'parametersJsonSchema')

function readFunction(declaration: JsonObject): Tool {
  const { name, description, parameters } = declaration
  const json = field(declaration, 'parametersJsonSchema')
  const schema = isObject(json) ? json : isObject(parameters) ? toJsonSchema(parameters) : undefined
  const own = { ...restOf(declaration, functionFields), ...ownSchema(schema, parameters, json) }
  const described = compact({ name, description, parameters: schema }) as unknown as Tool['function']
  return {
    type: 'function',
    function: described,
    ...withExtra('gemini', Object.keys(own).length > 0 ? own : undefined),
  }
}

/** The schema in Gemini's own spelling and field, where writing ours would give another. */
function ownSchema(schema: JsonObject | undefined, parameters: unknown, json: unknown): JsonObject {
  if (schema === undefined) return {}
  if (isObject(json)) return isGeminiSchema(schema) ? { parametersJsonSchema: json } : {}
  return isGeminiSchema(schema) && isDeepStrictEqual(schema, parameters) ? {} : { parameters }
}

function callingConfig(fields: JsonObject): JsonObject {
  return objectOf(field(objectOf(field(fields, 'toolConfig')), 'functionCallingConfig'))
}

function readToolChoice(fields: JsonObject): ChatRequest['tool_choice'] {
  const config = callingConfig(fields)
  const names = field(config, 'allowedFunctionNames')
  const [name, ...others] = Array.isArray(names) ? names : []
  if (config['mode'] === 'AUTO') return 'auto'
  if (config['mode'] === 'NONE') return 'none'
  if (config['mode'] !== 'ANY') return undefined
  return typeof name === 'string' && others.length === 0 ? { type: 'function', function: { name } } : 'required'
}

const requestFields = inBothCases('contents', 'systemInstruction', 'generationConfig', 'tools', 'toolConfig', 'model')

const configFields = inBothCases(
  ...['temperature', 'topP', 'topK', 'maxOutputTokens', 'stopSequences', 'seed', 'candidateCount', 'presencePenalty'],
  ...['frequencyPenalty', 'responseMimeType', 'responseJsonSchema'],
)

function readExtra(fields: JsonObject, config: JsonObject): ChatRequest['extra_content'] {
  const hasConfig = field(fields, 'generationConfig') !== undefined
  const mime = field(config, 'responseMimeType')
  const own = {
    ...restOf(config, configFields),
    ...(mime !== undefined && mime !== 'application/json' && { responseMimeType: mime }),
  }
  const toolConfig = field(fields, 'toolConfig')
  const extra = {
    ...restOf(fields, requestFields),
    ...(hasConfig && { generationConfig: own }),
    ...(toolConfig !== undefined && { toolConfig }),
  }
  return Object.keys(extra).length > 0 ? { gemini: extra } : undefined
}
