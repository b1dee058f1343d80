/**
 * The text ids of Qwen3-TTS: byte-level BPE (Sennrich et al. 2016, arXiv:1508.07909) over NFC, cut by the pattern of Qwen2.
 * Text from outside is plain text: no spelling of it becomes a special token.
 */
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { z } from 'zod'
import { AppError } from '../../../src/errors.ts'
import { readBytes, readJson } from '../neural/model-files.ts'
import type { ModelFile } from './configuration.ts'

export interface TextTokenizer {
  /** The ids of plain text: `<|im_end|>` in it is ten characters. */
  encode(text: string): number[]
  /** The ids of a template of our own, in which special tokens are named. */
  encodeTemplate(text: string): number[]
}

/** https://huggingface.co/Qwen/Qwen2-7B/blob/main/tokenizer.json; written without inline flags. */
const pattern =
  "'(?:[sSſ]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

const vocabularyFile = z.record(z.string(), z.int().nonnegative())
const settingsFile = z.looseObject({
  added_tokens_decoder: z.record(z.string(), z.looseObject({ content: z.string() })),
})

/** The special tokens that a prompt names, with the key of the configuration that must say the same id. */
const special = {
  '<|im_start|>': 'im_start_token_id',
  '<|im_end|>': 'im_end_token_id',
  '<tts_pad>': 'tts_pad_token_id',
  '<tts_text_bos>': 'tts_bos_token_id',
  '<tts_text_eod>': 'tts_eos_token_id',
} as const

/** Opens the tokenizer of a folder. Throws an AppError naming the file that is missing, damaged or another model's. */
export async function openTokenizer(folder: string, model: ModelFile): Promise<TextTokenizer> {
  const path = join(folder, 'vocab.json')
  const vocabulary = vocabularyFile.safeParse(await readJson(path))
  if (!vocabulary.success) throw foreign(path, ['it is not a table of ids'])
  const mergesPath = join(folder, 'merges.txt')
  const merges = String(await readBytes(mergesPath))
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#version'))
  const settingsPath = join(folder, 'tokenizer_config.json')
  const settings = settingsFile.safeParse(await readJson(settingsPath))
  if (!settings.success) throw foreign(settingsPath, ['it has no added_tokens_decoder'])
  const added = new Map(
    Object.entries(settings.data.added_tokens_decoder).map(([key, { content }]) => [content, Number(key)]),
  )
  const problems = [
    ...Object.entries(special)
      .filter(([content, key]) => added.get(content) !== model[key])
      .map(
        ([content, key]) =>
          `tokenizer_config.json gives ${content} the id ${added.get(content)}, config.json ${model[key]} (${key})`,
      ),
    ...vocabularyProblems(vocabulary.data, merges, model.talker_config.text_vocab_size),
  ]
  if (problems.length > 0) throw foreign(folder, problems)
  return createTokenizer(vocabulary.data, merges, added, folder)
}

function createTokenizer(
  vocabulary: Readonly<Record<string, number>>,
  merges: readonly string[],
  added: ReadonlyMap<string, number>,
  folder: string,
): TextTokenizer {
  const definition = {
    version: '1.0',
    added_tokens: [],
    normalizer: { type: 'NFC' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab: vocabulary, merges: [...merges], unk_token: null, byte_fallback: false },
  }
  let library: Tokenizer
  try {
    library = new Tokenizer(definition, {})
  } catch (cause) {
    throw new AppError('invalid', `The tokenizer in ${folder} cannot be read`, { cause })
  }
  const marks = new RegExp(`(${[...added.keys()].map(escaped).join('|')})`)
  const encode = (text: string) =>
    text === '' ? [] : [...library.encode(text.replace(/\p{Surrogate}/gu, '\uFFFD'), { add_special_tokens: false }).ids]
  const encodeTemplate = (text: string) =>
    text.split(marks).flatMap((part) => {
      const id = added.get(part)
      return id === undefined ? encode(part) : [id]
    })
  return { encode, encodeTemplate }
}

/** An id beyond the text table, or a merge that makes no piece, shows a tokenizer of another model. */
function vocabularyProblems(
  vocabulary: Readonly<Record<string, number>>,
  merges: readonly string[],
  rows: number,
): string[] {
  const problems: string[] = []
  const ids = Object.values(vocabulary)
  const largest = ids.reduce((most, id) => Math.max(most, id), 0)
  if (ids.length < 256) problems.push(`vocab.json has only ${ids.length} pieces`)
  if (new Set(ids).size !== ids.length) problems.push('vocab.json gives two pieces the same id')
  if (largest >= rows) problems.push(`vocab.json has the id ${largest}, and the text table only ${rows} rows`)
  const lost = merges.filter((merge) => !Object.hasOwn(vocabulary, merge.replace(' ', '')))
  if (lost.length > 0)
    problems.push(`merges.txt makes ${lost.length} pieces that are not in vocab.json, such as "${lost[0]}"`)
  return problems
}

function foreign(path: string, details: readonly string[]): AppError {
  return new AppError('invalid', `${path} does not hold the tokenizer of this model`, { details: details.slice(0, 20) })
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
