import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { chatModels, rowsOf } from '../../src/plugins/catalog.ts'
import { type ModelsSource, type PluginManifest, parseManifest } from '../../src/plugins/manifest.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('which rows of a list are chat models')

const rules = { keyNames: [], allowPrivate: true, pinned: new Map() }
const now = Date.parse('2027-01-01T00:00:00Z')

function sourceOf(id: string): ModelsSource {
  const path = fileURLToPath(new URL(`./plugins/${id}.json`, import.meta.resolve('#package')))
  const manifest: PluginManifest = parseManifest(JSON.parse(readFileSync(path, 'utf8')), rules)
  return manifest.models_source!
}

function kept(id: string, answer: unknown): readonly string[] {
  const { include: _include, ...source } = sourceOf(id)
  return chatModels(rowsOf(answer, source)!, source, now)
}

test('OpenAI: by name, also names of models to come', () => {
  const chat = ['gpt-6', 'gpt-6-mini-2027-01-01', 'o5-mini', 'o10', 'chatgpt-6-latest', 'ft:gpt-6:org::a', 'gpt-oss-2']
  const others = ['whisper-5', 'tts-3-hd', 'text-embedding-9', 'omni-moderation-9', 'sora-3', 'dall-e-4', 'babbage-002']
  const alike = ['gpt-realtime-2', 'gpt-6-audio', 'gpt-image-3', 'gpt-6-transcribe', 'gpt-6-codex', 'gpt-6-mini-tts']
  const withoutChat = ['o7-deep-research', 'o12-pro', 'codex-mini', 'gpt-3.5-turbo-instruct', 'ft:babbage-002:org::a']
  const data = [...others, ...alike, ...withoutChat, ...chat].map((id) => ({ id, object: 'model', extra: { a: [1] } }))
  data.push({ id: 'gpt-4', object: 'model', extra: { a: [1] }, shutdown_date: '2026-12-31' } as (typeof data)[number])
  assert.equal(kept('openai', { object: 'list', data }), chat)
})

test('Groq: active models that write text, but for guards and voices', () => {
  const chat = [{ id: 'llama-5' }, { id: 'a/b', output_modalities: ['text'], active: true }]
  const others = ['whisper-5', 'meta-llama/llama-guard-9', 'openai/gpt-oss-safeguard', 'x/orpheus-v2', 'nomic-embed-9']
  const data = [
    ...chat,
    ...others.map((id) => ({ id, active: true })),
    { id: 'off', active: false },
    { id: 'draws', output_modalities: ['image'] },
  ]
  assert.equal(kept('groq', { data }), ['llama-5', 'a/b'])
})

test('Gemini: models that generate content, but for pictures, voices and vectors', () => {
  const row = (name: string, method = 'generateContent') => ({ name, supportedGenerationMethods: [method] })
  const chat = ['gemini-4-flash', 'gemma-9', 'gemini-flash-latest', 'learnlm-9']
  const others = ['gemini-4-flash-image', 'gemini-4-pro-tts', 'imagen-9', 'veo-9', 'gemini-4-native-audio', 'aqa']
  const models = [...others, ...chat].map((name) => row(`models/${name}`))
  const more = [
    row('models/gemini-embedding-9', 'embedContent'),
    row('models/live', 'bidiGenerateContent'),
    { name: 'x' },
  ]
  assert.equal(kept('gemini', { models: [...models, ...more] }), chat)
})

test('Mistral: chat models that are neither archived nor past their day', () => {
  const row = (id: string, more = {}) => ({ id, capabilities: { completion_chat: true }, ...more })
  const data = [
    row('mistral-large-9'),
    row('ft:mistral-9:a', { type: 'fine-tuned', archived: false, deprecation: null }),
    row('soon', { deprecation: '2027-06-01T00:00:00Z' }),
    row('past', { deprecation: '2026-06-01T00:00:00Z' }),
    row('archived', { archived: true }),
    { id: 'mistral-embed-3', capabilities: { completion_chat: false } },
    { id: 'without' },
  ]
  assert.equal(kept('mistral', { data }), ['mistral-large-9', 'ft:mistral-9:a', 'soon'])
})

test('GitHub and OpenRouter: models that write text', () => {
  const github = [
    { id: 'openai/gpt-9', rate_limit_tier: 'high', supported_output_modalities: ['text'] },
    { id: 'x/embed', rate_limit_tier: 'embeddings', supported_output_modalities: ['embeddings'] },
    { id: 'x/nothing', supported_output_modalities: [] },
    { id: 'old-host', task: 'chat-completion' },
    { id: 'old-embed', task: 'embeddings' },
  ]
  assert.equal(kept('github', github), ['openai/gpt-9', 'old-host'])
  const row = (id: string, outputs: string[], more = {}) => ({
    id,
    architecture: { output_modalities: outputs },
    ...more,
  })
  const data = [
    row('a/b:free', ['text']),
    row('a/both', ['image', 'text'], { expiration_date: null }),
    row('a/draws', ['image']),
    row('a/gone', ['text'], { expiration_date: '2026-11-30' }),
  ]
  assert.equal(kept('openrouter', { data }), ['a/b:free', 'a/both'])
})

test('Anthropic: every row that is a model', () => {
  const data = [{ type: 'model', id: 'claude-opus-6' }, { type: 'batch', id: 'other' }, { id: 'untyped' }]
  assert.equal(kept('anthropic', { data }), ['claude-opus-6', 'untyped'])
})

test('a list of names alone is a list', () => {
  const source = { url: 'https://example.org', items: 'models', id: 'name', drop: ['embed'] }
  const rows = rowsOf({ models: ['a', 'b-embed', 7, null, { name: 'c' }] }, source)!
  assert.equal(chatModels(rows, source, now), ['a', 'c'])
})

test('a name of a megabyte is matched as quickly as any', () => {
  const source = { url: 'https://example.org', items: '', id: 'id', drop: ['a*a*b'] }
  const rows = rowsOf([{ id: 'a'.repeat(1_000_000) }, { id: 'c' }], source)!
  assert.is(chatModels(rows, source, now).length, 2)
})

test.run()
