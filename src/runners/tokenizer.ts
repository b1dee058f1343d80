import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'
import { AppError } from '../errors.ts'

/** Splits texts as an embedding model was trained to read them. */
export interface TextTokenizer {
  /** The ids of a text's word pieces, with the model's begin and end tokens where `framed`. */
  encode(text: string, framed: boolean): readonly number[]
  /** The id of the piece that stands for unknown ones; undefined where the model has none. */
  readonly unknown: number | undefined
}

/**
 * Opens a model's `tokenizer.json`, and next to it `tokenizer_config.json` where the model brings one (`isConfigured`).
 * Throws `invalid` naming the folder.
 */
export function openTokenizer(folder: string, name: string, isConfigured: boolean): TextTokenizer {
  const read = (file: string): object => JSON.parse(readFileSync(join(folder, file), 'utf8')) as object
  try {
    const definition = read('tokenizer.json')
    const tokenizer = new Tokenizer(definition, isConfigured ? read('tokenizer_config.json') : {})
    const { unk_token: unknown } = (definition as { readonly model: { readonly unk_token?: string } }).model
    return {
      encode: (text, framed) => tokenizer.encode(text, { add_special_tokens: framed }).ids,
      unknown: unknown === undefined ? undefined : tokenizer.token_to_id(unknown),
    }
  } catch (cause) {
    throw new AppError('invalid', `The tokenizer of ${name} in ${folder} cannot be read: pull the model again`, {
      cause,
    })
  }
}
