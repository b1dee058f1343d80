/** The tokenizers of models: SentencePiece's `tokenizer.model`, or `tokenizer.json`, as for Dutch. */
import { Tokenizer as Library } from '@huggingface/tokenizers'
import { AppError } from '../../../src/errors.ts'
import { readBytes } from './model-files.ts'
import { readPieces, type Tokenizer } from './sentence-pieces.ts'

/**
 * Reads the tokenizer of the model in `folder`. Throws an AppError that names the file when it is missing, damaged, of an unknown
 * kind, or of another size than the model's; `stated` says where the model's size stands.
 */
export async function openTokenizer(
  path: string,
  folder: string,
  { expected, stated }: { readonly expected: number; readonly stated: string },
): Promise<Tokenizer> {
  const bytes = await readBytes(path)
  const tokenizer = path.endsWith('.json') ? readJson(bytes.toString(), path) : readPieces(bytes, path)
  if (tokenizer.size === expected) return tokenizer
  throw new AppError('invalid', `${path} does not belong to the model in ${folder}`, {
    details: [`it has ${tokenizer.size} pieces, and ${stated}`],
  })
}

function readJson(text: string, path: string): Tokenizer {
  try {
    const library = new Library(JSON.parse(text) as object, {})
    return {
      size: library.get_vocab().size,
      encode: (spoken) => [...library.encode(spoken, { add_special_tokens: false }).ids],
      decode: (ids) => (ids.length === 0 ? '' : library.decode([...ids], { skip_special_tokens: true })),
    }
  } catch (cause) {
    throw new AppError('invalid', `${path} is no tokenizer for this engine`, { cause })
  }
}
