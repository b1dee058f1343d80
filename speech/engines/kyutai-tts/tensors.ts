/** The names of a model's tensors: as its authors spell them, and as the graphs use them. */
import { partName, type TensorFile, withNames, withParts } from '../../../src/inference/inference.ts'
import { codecBooks } from '../../blocks/residual-vectors.ts'

export const conditioner = (name: string, part: string) => `condition_provider.conditioners.${name}.${part}`

/** The tensors of the language model that are no layers. */
export const tensorNames = {
  text: 'text_emb',
  textHead: 'text_linear.weight',
  lastNorm: 'out_norm.alpha',
  depthText: 'depformer_text_emb',
  /** Rows of the codes of a codebook, from 0. */
  codes: (book: number) => `emb.${book}.weight`,
  depthCodes: (book: number) => `depformer_emb.${book}.weight`,
  depthSpread: (book: number) => `depformer_emb.${book}.low_rank.weight`,
  depthIn: (set: number) => `depformer_in.${set}.weight`,
  head: (book: number) => `linears.${book}.weight`,
} as const

/** The parts of a fused projection. */
export const fused = { query: 0, key: 1, value: 2 } as const

/** The tensor names of the published file. The authors' programs use two spellings. */
function published(name: string): string {
  return name
    .replace(/\bin_proj\.weight$/, 'in_proj_weight')
    .replace(/^(transformer\..*)\.in_projs\.0\.weight$/, '$1.in_proj_weight')
    .replace(/^(transformer\..*)\.out_projs\.0\.weight$/, '$1.out_proj.weight')
    .replace(
      /^(depformer\..*)\.in_projs\.(\d+)\.weight$/,
      (_, place, set) => `${place}.${partName('in_proj_weight', set)}`,
    )
    .replace(
      /^(depformer\..*)\.out_projs\.(\d+)\.weight$/,
      (_, place, set) => `${place}.${partName('out_proj.weight', set)}`,
    )
}

/** The file of a language model in the published spelling. */
export function languageFile(file: TensorFile): TensorFile {
  return withNames(file, published)
}

/** The file with stacked matrices split: by set of the depth transformer, and into query, key and value. */
export function dividedFile(file: TensorFile, sets: number): TensorFile {
  return withParts(file, (name) => {
    if (/^depformer\..*\.(in_proj_weight|out_proj\.weight)$/.test(name)) return sets
    return name.endsWith('cross_attention.in_proj_weight') ? 3 : undefined
  })
}

/** The convolutions and projections of the codec as the blocks name them. */
function blockName(name: string): string {
  return name
    .replace(/^(decoder\..*)\.conv\.conv\./, '$1.conv.')
    .replace(/^(decoder\..*)\.convtr\.convtr\./, '$1.convtr.')
    .replace(/in_proj_weight$/, 'in_proj.weight')
    .replace(/_codebook\.cluster_size$/, '_codebook.cluster_usage')
    .replace(/_codebook\.(embed_sum|embed_avg)$/, '_codebook.embedding_sum')
}

/** The file of a codec in the blocks' spelling. */
export function codecFile(file: TensorFile): TensorFile {
  return withNames(file, blockName)
}

/** A block's name as the authors spell it: in messages. */
export function codecName(name: string): string {
  return name
    .replace(/^(decoder\..*)\.conv\.(weight|bias)$/, '$1.conv.conv.$2')
    .replace(/^(decoder\..*)\.convtr\.(weight|bias)$/, '$1.convtr.convtr.$2')
    .replace(/in_proj\.weight$/, 'in_proj_weight')
}

export const quantizerBooks = (count: number) =>
  codecBooks(count, { first: 'quantizer.rvq_first', rest: 'quantizer.rvq_rest' }, 'output_proj')
export const upsampling = 'upsample.convtr.convtr.convtr'
export const codecTransformer = 'decoder_transformer.transformer'
export const codecConvolutions = 'decoder.model'
