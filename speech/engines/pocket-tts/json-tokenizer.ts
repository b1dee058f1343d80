/** Tokenizers that the authors publish as `tokenizer.json`, as for Dutch. */
import { Tokenizer as Library } from '@huggingface/tokenizers'
import { AppError } from '../../../src/errors.ts'
import { readText } from '../neural/model-files.ts'
import type { Tokenizer } from './tokenizer.ts'

/** Reads a tokenizer; throws an AppError that names the file when it is missing, damaged or of an unknown kind. */
export async function openJsonTokenizer(path: string): Promise<Tokenizer> {
  const text = await readText(path)
  try {
    const definition = JSON.parse(text) as object
    const library = new Library(definition, {})
    return {
      size: library.get_vocab().size,
      encode: (spoken) => [...library.encode(spoken, { add_special_tokens: false }).ids],
      decode: (ids) => (ids.length === 0 ? '' : library.decode([...ids], { skip_special_tokens: true })),
    }
  } catch (cause) {
    throw new AppError('invalid', `${path} is no tokenizer for this engine`, { cause })
  }
}
