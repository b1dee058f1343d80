import { z } from 'zod'
import type { Operation } from '../operations/operations.ts'
import { formType, jsonType } from './media-type.ts'
import { dialectErrors, otherPaths } from './openapi-routes.ts'

type Json = Record<string, unknown>

const errorSchema = z.looseObject({
  error: z.string().meta({ description: 'One sentence a user can act on.' }),
  details: z.array(z.string()).meta({ description: 'One line per problem.' }),
  code: z.string().optional(),
  request_id: z.string().optional(),
})

const reasons: Record<number, string> = {
  400: 'Invalid request',
  401: 'A valid token is missing',
  403: 'Not permitted',
  404: 'Not found',
  406: 'The client accepts no answer of these types',
  408: 'The body was not received in time',
  409: 'It was changed meanwhile',
  413: 'The body is too large',
  415: 'The body is of the wrong type',
  422: 'A provider refuses the content of the request',
  426: 'WebSockets are not served',
  429: 'Too many attempts, or too many requests at the same time; Retry-After says when to come back',
  500: 'Internal error',
  502: "A provider's answer cannot be read",
  503: 'No model can answer now',
  504: 'No answer in time',
}

/** The OpenAPI 3.1 document of all routes: every path, input, output and status. */
export function openApi(operations: readonly Operation[], version: string): Json {
  const paths = otherPaths(failuresOf, schemaOf)
  const errors = Object.fromEntries(
    Object.entries({ Error: errorSchema, ...dialectErrors }).map(([name, schema]) => [
      name,
      schemaOf(schema, 'output'),
    ]),
  )
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
    // Relative to the address of the document, which a proxy may change.
    servers: [{ url: '/' }],
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The token of a login, or an API key (aic_…), which needs the scopes that an operation names; operations without scopes are closed to keys.',
        },
      },
      schemas: { ...errors, ...bodySchemas(operations) },
    },
    paths,
  }
}

/** The bodies that areas validate, by the names under which operations refer to them. */
function bodySchemas(operations: readonly Operation[]): Json {
  const bodies = operations.flatMap(({ bodySchema: body }) =>
    body ? [[body.name, schemaOf(body.schema, 'input')]] : [],
  )
  return Object.fromEntries(bodies)
}

function describe(operation: Operation): Json {
  const {
    properties = {},
    required = [],
    ...rest
  } = schemaOf(operation.input, 'input') as { properties?: Record<string, Json>; required?: string[] } & Json
  const inPath = [...operation.path.matchAll(/:(\w+)/g)].map((match) => match[1]!)
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(operation.method)
  const inQuery = (name: string) => !hasBody || operation.query?.includes(name) === true
  const outside = Object.keys(properties).filter((name) => inPath.includes(name) || inQuery(name))
  const parameters = outside.map((name) => ({
    name,
    in: inPath.includes(name) ? 'path' : 'query',
    required: inPath.includes(name) || required.includes(name),
    schema: properties[name],
  }))
  const bodyFields = Object.fromEntries(Object.entries(properties).filter(([name]) => !outside.includes(name)))
  const needed = required.filter((name) => name in bodyFields)
  const field = operation.bodyField ?? operation.upload?.field
  const body =
    operation.bodyField === undefined
      ? { ...rest, properties: bodyFields, ...(needed.length > 0 && { required: needed }) }
      : bodyFields[operation.bodyField]
  const status = String(operation.status ?? 200)
  return {
    operationId: operation.name,
    summary: operation.summary,
    tags: [operation.name.split('.')[0]],
    security: operation.access === 'public' ? [] : [{ bearer: [operation.scope ?? []].flat() }],
    ...(parameters.length > 0 && { parameters }),
    ...(hasBody &&
      (field !== undefined || Object.keys(bodyFields).length > 0) && {
        requestBody: {
          // Operations with a package give its absence a meaning.
          required: operation.upload?.as !== 'stream' && (field !== undefined || needed.length > 0),
          content: Object.fromEntries(
            bodyTypes(operation).map((type) => [type, { schema: shownBody(operation, body) }]),
          ),
        },
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
      ...failuresOf(statusesOf(operation), 'Error'),
    },
  }
}

function bodyTypes({ upload }: Operation): readonly string[] {
  if (upload?.as === 'multipart') return [formType]
  return upload?.types ?? [jsonType]
}

function shownBody({ upload, bodySchema }: Operation, body: unknown): unknown {
  if (bodySchema) return { $ref: `#/components/schemas/${bodySchema.name}` }
  if (upload?.as === 'stream') return {}
  if (!upload) return body
  const file = { type: 'string', format: 'binary' }
  return { type: 'object', required: [upload.field], properties: { [upload.field]: file } }
}

/** The statuses of an operation's failures: those that follow from its other fields, and those that it lists. */
function statusesOf({ access, path, method, failures = [] }: Operation): readonly number[] {
  return [
    ...[400, 403, 429, 500, 503],
    ...(access === 'public' ? [] : [401]),
    ...(path.includes(':') ? [404] : []),
    ...(method === 'GET' ? [] : [408, 413, 415]),
    ...failures,
  ]
}

function failuresOf(statuses: readonly number[], schema: string): Json {
  const content = { [jsonType]: { schema: { $ref: `#/components/schemas/${schema}` } } }
  const sorted = [...new Set(statuses)].sort((a, b) => a - b)
  return Object.fromEntries(sorted.map((status) => [String(status), { description: reasons[status], content }]))
}

/** A zod schema as JSON Schema, without `additionalProperties: false`: answers may gain fields. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // TypeScript's `readonly` says nothing of the API.
      delete jsonSchema.readOnly
    },
  })
  return json
}
