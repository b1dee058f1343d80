import * as assert from 'uvu/assert'
import {
  globOf,
  type KeyRights,
  permitsOf,
  requireChatPersona,
  requireListed,
  requireScopes,
} from '../../../src/accounts/keys/rights.ts'
import { fc } from '../../helpers/properties.ts'
import { rejects } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the rights of API keys')
const rights = (more: Partial<KeyRights> = {}): KeyRights => ({ id: 'k', scopes: ['chat'], ...more })
const permits = (more: Partial<KeyRights>, place: string): boolean => {
  const colon = place.indexOf(':')
  const [plugin, model] = [place.slice(0, colon), place.slice(colon + 1)]
  return permitsOf(rights(more))!({ plugin: plugin === 'local' ? null : plugin, model })
}

test('without lists every place is permitted', () => {
  assert.equal([permitsOf(undefined), permitsOf(rights())], [undefined, undefined])
  assert.is(permitsOf(rights({ personas: ['p'] })), undefined)
})

for (const [pattern, allowed, refused] of [
  ['gpt-4o', ['openai:gpt-4o', 'azure:gpt-4o', 'local:gpt-4o'], ['openai:gpt-4o-mini', 'openai:GPT-4o', 'gpt-4o:x']],
  ['gpt-4o*', ['openai:gpt-4o', 'openai:gpt-4o-mini'], ['openrouter:openai/gpt-4o', 'gpt-4o:llama']],
  ['g*', ['openai:gpt-5'], ['groq:llama']],
  ['openai:*', ['openai:gpt-4o', 'openai:a:b'], ['openrouter:openai:x', 'local:openai']],
  ['local:*', ['local:llama3:8b'], ['localhost:llama3', 'openai:local']],
  ['*:llama3:8b', ['local:llama3:8b', 'groq:llama3:8b'], ['local:llama3', 'local:llama3:8b-q4']],
  ['open*:*-mini', ['openai:o-mini', 'openrouter:x-mini'], ['groq:o-mini', 'openai:o-mini-2']],
] as const)
  test(`the model pattern ${pattern} fits what it says`, () => {
    for (const place of allowed) assert.ok(permits({ models: [pattern] }, place), place)
    for (const place of refused) assert.not(permits({ models: [pattern] }, place), place)
  })

test('a list of plugins holds for this machine too, and both lists must permit a place', () => {
  assert.ok(permits({ plugins: ['openai', 'local'] }, 'local:llama'))
  assert.not(permits({ plugins: ['openai'] }, 'local:llama'))
  assert.not(permits({ plugins: ['openai'], models: ['llama'] }, 'groq:llama'))
  assert.not(permits({ plugins: ['openai'], models: ['llama'] }, 'openai:gpt'))
})

test('patterns fit exactly what the same regular expression fits', () => {
  const pieces = fc.array(fc.constantFrom('*', 'a', 'b', '.', '\\'), { maxLength: 8 })
  fc.assert(
    fc.property(pieces, pieces, (pattern, text) => {
      const expression = pattern
        .map((piece) => (piece === '*' ? '.*' : `\\${piece}`.replace(/\\([ab])/, '$1')))
        .join('')
      const joined = text.join('')
      assert.is(globOf(pattern.join(''))(joined), new RegExp(`^${expression}$`).test(joined))
    }),
  )
})

test('a hostile pattern takes no longer than a plain one', () => {
  // A regular expression would need more than the age of the universe.
  assert.not(globOf('*a'.repeat(100))(`${'a'.repeat(299)}b`))
})

test('each scope of a rule is needed, and a route without a rule is closed', async () => {
  requireScopes(rights({ scopes: ['personas', 'memory'] }), ['personas', 'memory'])
  requireScopes(rights(), 'chat')
  const refusals: readonly (readonly [Parameters<typeof requireScopes>[1], RegExp])[] = [
    ['memory', /lacks the scope memory/],
    [['chat', 'memory'], /lacks the scope memory/],
    [undefined, /may not do this/],
  ]
  for (const [rule, words] of refusals)
    await rejects(
      failing(() => requireScopes(rights(), rule)),
      'key_scope',
      words,
    )
})

test('a key chats as the personas of its list, or with the scope as any', async () => {
  requireChatPersona(undefined, undefined)
  requireChatPersona(rights({ personas: ['ada'] }), 'ada')
  requireChatPersona(rights({ scopes: ['personas'] }), undefined)
  for (const [had, persona] of [
    [rights(), 'ada'],
    [rights({ personas: ['ada'] }), 'bob'],
    [rights({ personas: ['ada'] }), undefined],
    [rights({ personas: ['ada'], scopes: ['personas'] }), 'bob'],
  ] as const)
    await rejects(
      failing(() => requireChatPersona(had, persona)),
      'key_scope',
      /persona/,
    )
  requireListed(rights(), 'bob')
})

test.run()

async function failing(run: () => void): Promise<void> {
  run()
}
