import { z } from 'zod'
import type { Operation } from '../operations/operation.ts'

type Json = Record<string, unknown>

const errorSchema = {
  type: 'object',
  required: ['error', 'details'],
  properties: {
    error: { type: 'string', description: 'One sentence a user can act on.' },
    details: { type: 'array', items: { type: 'string' }, description: 'One line per problem.' },
    code: { type: 'string' },
    request_id: { type: 'string' },
  },
}

const reasons: Record<number, string> = {
  400: 'The request does not hold what it must',
  401: 'A valid token is missing',
  403: 'Not permitted',
  404: 'There is no such thing',
  413: 'The body is too large',
  415: 'The body is of the wrong type',
  422: 'A provider refuses what the request says',
  429: 'Too many attempts; Retry-After says when to come back',
  500: 'Internal error',
  502: "A provider's answer cannot be read",
  503: 'Nobody can answer now',
  504: 'No answer in time',
}

/** The OpenAPI 3.1 document of the table of operations: every path, input, output and status. */
export function openApi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'aichat-toolkit',
      version,
      description: 'Chat with any model provider, local speech, and personas with a memory.',
    },
    // Relative to where the document was read, which a proxy may call otherwise than we do.
    servers: [{ url: '/' }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Error: errorSchema },
    },
    paths,
  }
}

function describe(operation: Operation): Json {
  const {
    properties = {},
    required = [],
    ...rest
  } = schemaOf(operation.input, 'input') as { properties?: Record<string, Json>; required?: string[] } & Json
  const inPath = [...operation.path.matchAll(/:(\w+)/g)].map((match) => match[1]!)
  const hasBody = operation.method === 'POST' || operation.method === 'PUT'
  const outside = Object.keys(properties).filter(
    (name) => inPath.includes(name) || !hasBody || (operation.bodyField !== undefined && name !== operation.bodyField),
  )
  const parameters = outside.map((name) => ({
    name,
    in: inPath.includes(name) ? 'path' : 'query',
    required: inPath.includes(name) || required.includes(name),
    schema: properties[name],
  }))
  const bodyFields = Object.fromEntries(Object.entries(properties).filter(([name]) => !outside.includes(name)))
  const body = operation.bodyField
    ? bodyFields[operation.bodyField]
    : { ...rest, properties: bodyFields, required: required.filter((name) => name in bodyFields) }
  const status = String(operation.status ?? 200)
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.name.split('.')[0]],
    security: operation.access === 'public' ? [] : [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody &&
      (operation.upload || Object.keys(bodyFields).length > 0) && {
        requestBody: { required: true, content: { [bodyType(operation)]: { schema: body } } },
      }),
    responses: {
      [status]: {
        description: 'Done',
        content: {
          ...(operation.produces
            ? Object.fromEntries(operation.produces.map((type) => [type, {}]))
            : { 'application/json': { schema: schemaOf(operation.output, 'output') } }),
          ...(operation.stream && {
            'text/event-stream': { schema: { type: 'string', description: 'One JSON value per event, then [DONE].' } },
          }),
        },
      },
      ...failures(operation, hasBody),
    },
  }
}

function bodyType(operation: Operation): string {
  if (operation.upload?.as === 'multipart') return 'multipart/form-data'
  return operation.upload ? 'application/octet-stream' : 'application/json'
}

function failures(operation: Operation, hasBody: boolean): Json {
  const statuses = new Set([400, 403, 500, 503])
  if (operation.access !== 'public') statuses.add(401)
  if (operation.path.includes(':')) statuses.add(404)
  if (hasBody) for (const status of [413, 415]) statuses.add(status)
  if (operation.name === 'chat.complete') statuses.add(422)
  if (operation.name.startsWith('chat.') || operation.name.startsWith('auth.')) statuses.add(429)
  if (operation.stream || operation.produces?.includes('audio/wav'))
    for (const status of [404, 502, 504]) statuses.add(status)
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return Object.fromEntries(
    [...statuses].sort().map((status) => [String(status), { description: reasons[status], content }]),
  )
}

/** A zod schema as JSON Schema; answers may gain fields, so nothing forbids unknown ones. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return json
}
