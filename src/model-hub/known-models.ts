/**
 * The models that can be pulled: the repository, revision and expected hash of each file.
 *
 * A revision is a commit, so its content never changes. A SHA-256 here was published by several projects that pin the same
 * file. Without one, the hub's own digest of that commit counts at the first pull (`x-linked-etag` of a large file is its
 * SHA-256, `etag` of a small one its git blob id); the SHA-256 of the fetched file is then kept in the model's record, and
 * every later pull must find the same.
 */

import { posix } from 'node:path'
import {
  kyutaiRepository,
  publishedVoiceSuffix,
  qwenRepositories,
  voiceFileName,
  voicePaths,
  voiceRepository,
  weightsName,
} from '../../speech/speech.ts'

export type ModelKind = 'chat' | 'embedding' | 'tts'

export interface KnownFile {
  /** `owner/name` on the hub. */
  readonly repository: string
  /** A commit. */
  readonly revision: string
  readonly path: string
  /** Where it lies below the edition's folder. */
  readonly as: string
  readonly sha256?: string
  readonly bytes?: number
  /** Its licence, where that forbids commercial use: it is pulled only after the user agreed to that. */
  readonly nonCommercial?: string
}

/** One form in which a model can be had. Its files lie together in one folder of the models folder. */
export interface Edition {
  /** Below the models folder: the repository's own tree, so that a copy of the repository fits. */
  readonly folder: string
  readonly files: readonly KnownFile[]
  /** Gated: its owner wants a licence accepted first, and only the token of an account that did opens it. */
  readonly gated?: true
}

export interface KnownModel {
  readonly name: string
  readonly kind: ModelKind
  readonly licence: string
  readonly summary: string
  /** The first that can be had is taken; a gated one is tried only with a token. */
  readonly editions: readonly Edition[]
}

/** The chat model that is offered where there is no runner. */
export const defaultChatModel = 'smollm2-360m'

const tokenizerConfig = '4ec77d44f62efeb38d7e044a1db318f6a939438425312dfa333b8382dbad98df'

/** Published by the model's authors as an ONNX export with 8-bit weights (https://huggingface.co/HuggingFaceTB). */
const chatModels: readonly KnownModel[] = [
  {
    name: 'smollm2-360m',
    kind: 'chat',
    licence: 'Apache-2.0',
    summary: 'SmolLM2 360M Instruct: small talk and simple questions in English, about 370 MB',
    editions: [
      repositoryOf('HuggingFaceTB/SmolLM2-360M-Instruct', 'a10cc1512eabd3dde888204e902eca88bddb4951', {
        'config.json': {},
        'generation_config.json': {},
        'tokenizer.json': {},
        'tokenizer_config.json': {},
        'onnx/model_quantized.onnx': {},
      }),
    ],
  },
  {
    name: 'smollm2-135m',
    kind: 'chat',
    licence: 'Apache-2.0',
    summary: 'SmolLM2 135M Instruct: the smallest that answers at all, 139 MB',
    editions: [
      repositoryOf('HuggingFaceTB/SmolLM2-135M-Instruct', '12fd25f77366fa6b3b4b768ec3050bf629380bac', {
        'config.json': { bytes: 861, sha256: '8eb740e8bbe4cff95ea7b4588d17a2432deb16e8075bc5828ff7ba9be94d982a' },
        'generation_config.json': {
          bytes: 132,
          sha256: '87b916edaaab66b3899b9d0dd0752727dff6666686da0504d89ae0a6e055a013',
        },
        'tokenizer.json': {
          bytes: 2_104_556,
          sha256: '9ca9acddb6525a194ec8ac7a87f24fbba7232a9a15ffa1af0c1224fcd888e47c',
        },
        'tokenizer_config.json': { bytes: 3_764, sha256: tokenizerConfig },
        'onnx/model_quantized.onnx': {
          bytes: 137_147_981,
          sha256: 'ecc1a19eece6494e2963cf74f78ace35916e8d0b803168ddd41db00979f18e39',
        },
      }),
    ],
  },
]

/** all-MiniLM-L6-v2 as an ONNX export with 8-bit weights (https://huggingface.co/Xenova/all-MiniLM-L6-v2). */
const embeddingModels: readonly KnownModel[] = [
  {
    name: 'minilm',
    kind: 'embedding',
    licence: 'Apache-2.0',
    summary: 'all-MiniLM-L6-v2: sentence embeddings of 384 numbers for English, 24 MB',
    editions: [
      repositoryOf('Xenova/all-MiniLM-L6-v2', '751bff37182d3f1213fa05d7196b954e230abad9', {
        'config.json': { bytes: 650, sha256: '7135149f7cffa1a573466c6e4d8423ed73b62fd2332c575bf738a0d033f70df7' },
        'tokenizer.json': {
          bytes: 711_661,
          sha256: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
        },
        'tokenizer_config.json': {
          bytes: 366,
          sha256: '9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3',
        },
        'onnx/model_quantized.onnx': {
          bytes: 22_972_370,
          sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
        },
      }),
    ],
  },
]

/** The languages of pocket-tts with the voice that speaks each best. */
const pocketLanguages: readonly (readonly [suffix: string, language: string, voice: string, size: string])[] = [
  ['', 'english', 'alba', '275 MB'],
  ['-2026-09', 'english_2026-09', 'alba', '275 MB'],
  ['-2026-09-24l', 'english_2026-09_24l', 'alba', '850 MB'],
  ['-german', 'german', 'juergen', '280 MB'],
  ['-german-24l', 'german_24l', 'juergen', '850 MB'],
  ['-french', 'french_24l', 'estelle', '850 MB'],
  ['-italian', 'italian', 'giovanni', '280 MB'],
  ['-italian-24l', 'italian_24l', 'giovanni', '850 MB'],
  ['-portuguese', 'portuguese', 'rafael', '280 MB'],
  ['-portuguese-24l', 'portuguese_24l', 'rafael', '850 MB'],
  ['-dutch', 'dutch', 'daan', '280 MB'],
  ['-spanish', 'spanish', 'lola', '280 MB'],
  ['-spanish-24l', 'spanish_24l', 'lola', '850 MB'],
]

interface Source {
  readonly repository: string
  readonly revision: string
}

const gatedWeights: Source = {
  repository: 'kyutai/pocket-tts',
  revision: '39592ff23c9ef80098bb74895d104c26275fe2c9',
}
const openWeights: Source = {
  repository: 'kyutai/pocket-tts-without-voice-cloning',
  revision: 'd29db7978e464fb90cb3359ee0c69a273b9142cc',
}
const openVoices: Source = { ...openWeights, revision: 'e041936c75475d350b405bc870bcf7c22da4e9e6' }

/** Where a generation of models lies: its weights, open and gated, and its voices. */
interface Generation {
  readonly gated: Source
  readonly open: Source
  readonly voices: Source
  readonly tokenizer: string
}

const firstGeneration: Generation = {
  tokenizer: 'tokenizer.model',
  gated: gatedWeights,
  open: openWeights,
  voices: openVoices,
}

/** Of September 2026: English, trained to be sure of unfinished sentences. */
const secondGeneration: Generation = {
  gated: { ...gatedWeights, revision: '983151f13aaeab1b13c1e5e3c2c383d49a9edf3f' },
  open: { ...openWeights, revision: 'e7205b6ee50e654a5ea19f0e9df2b0813b05e921' },
  voices: { ...openWeights, revision: '1e08e6a23401048648a9fdcfde2f89348215c2a7' },
  tokenizer: 'tokenizer.model',
}

const dutchGeneration: Generation = {
  gated: { ...gatedWeights, revision: '2dd944b099d06bb9edbd221fef138685711d9bf0' },
  open: { ...openWeights, revision: '4e1e0a3e611c51c0b4ed8174fc10f32a54644303' },
  voices: secondGeneration.voices,
  tokenizer: 'tokenizer.json',
}

function generationOf(language: string): Generation {
  if (language === 'dutch') return dutchGeneration
  return language.includes('_2026-09') ? secondGeneration : firstGeneration
}

/** The voices of speech server B. */
const pocketVoices = ['alba', 'marius', 'javert', 'jean', 'fantine', 'cosette', 'eponine', 'azelma']

/** Those that were made from recordings for non-commercial use (the EARS and Expresso corpora). */
const nonCommercialVoices: ReadonlySet<string> = new Set(['jean', 'cosette'])

/**
 * Kyutai's pocket-tts in its authors' own tree (https://huggingface.co/kyutai/pocket-tts). Two repositories share it: the
 * gated one has the weights that clone voices, the open one has these as zeros, and all the rest.
 */
const pocketModels: readonly KnownModel[] = pocketLanguages.map(([suffix, language, voice, size]) => ({
  name: `voxb-tts${suffix}`,
  kind: 'tts',
  licence: 'CC-BY-4.0, with uses that its authors prohibit (https://huggingface.co/kyutai/pocket-tts)',
  summary: `pocket-tts for ${spokenName(language)}, about ${size}`,
  editions: [pocketEdition(language, voice, true), pocketEdition(language, voice, false)],
}))

/** The codec is the same in every repository of Qwen3-TTS. */
const qwenCodec = { sha256: '836b7b357f5ea43e889936a3709af68dfe3751881acefe4ecf0dbd30ba571258' }

interface QwenVariant {
  readonly variant: string
  readonly revision: string
  readonly summary: string
  readonly pins?: Readonly<Record<string, Pick<KnownFile, 'sha256' | 'bytes'>>>
}

/** The variants of speech server A, the default one first. */
const qwenVariants: readonly QwenVariant[] = [
  {
    variant: 'customvoice-1.7b',
    revision: '0c0e3051f131929182e2c023b9537f8b1c68adfe',
    summary:
      'nine voices that follow instructions, ten languages, 4.5 GB to download, 1.5 GB more on disk, 2.4 GB of memory',
  },
  {
    variant: 'customvoice-0.6b',
    revision: '85e237c12c027371202489a0ec509ded67b5e4b5',
    summary: 'nine voices, ten languages, 2.5 GB to download, 0.6 GB more on disk, 1.4 GB of memory',
    pins: {
      'config.json': {
        bytes: 4_908,
        sha256: '81aca2b6fac304944d8acf345272d8a9a727d5fc2e2e66b222ab4729340c7455',
      },
      'vocab.json': {
        bytes: 2_776_833,
        sha256: 'ca10d7e9fb3ed18575dd1e277a2579c16d108e32f27439684afa0e10b1440910',
      },
      'merges.txt': {
        bytes: 1_671_839,
        sha256: '599bab54075088774b1733fde865d5bd747cbcc7a547c5bc12610e874e26f5e3',
      },
      'tokenizer_config.json': {
        bytes: 7_344,
        sha256: 'dc3c31c3bdaedd5016382bb3cbe07323026775ad51f5a4fb564505992ae4a670',
      },
    },
  },
  {
    variant: 'voicedesign-1.7b',
    revision: '5ecdb67327fd37bb2e042aab12ff7391903235d3',
    summary: 'voices from a description, ten languages, 4.5 GB to download, 1.5 GB more on disk, 2.4 GB of memory',
    pins: { 'model.safetensors': { sha256: '391e8db219f292c515297cdceeb43e4eae67cdde35fa57e79a6a8a532fca0522' } },
  },
  {
    variant: 'base-1.7b',
    revision: 'fd4b254389122332181a7c3db7f27e918eec64e3',
    summary: 'voice cloning, ten languages, 4.5 GB to download, 1.5 GB more on disk, 2.4 GB of memory',
    pins: { 'model.safetensors': { sha256: '38fc7fc51c5e776e840414b6fd443962e9411b9654888fd7913e4da643cb857c' } },
  },
  {
    variant: 'base-0.6b',
    revision: '5d83992436eae1d760afd27aff78a71d676296fc',
    summary: 'voice cloning, ten languages, 2.5 GB to download, 0.6 GB more on disk, 1.4 GB of memory',
    pins: { 'model.safetensors': { sha256: '180b3b10eb1c9f1b4db7806d5475bae3071c0243c299d49926bab1da3b6946f6' } },
  },
]

const qwenFiles = [
  'config.json',
  'generation_config.json',
  'vocab.json',
  'merges.txt',
  'tokenizer_config.json',
  'model.safetensors',
  'speech_tokenizer/config.json',
  'speech_tokenizer/model.safetensors',
]

/** Qwen3-TTS in its authors' own repositories (https://huggingface.co/Qwen). */
const qwenModels: readonly KnownModel[] = qwenVariants.map(({ variant, revision, summary, pins = {} }) => ({
  name: weightsName('voxa-tts', variant),
  kind: 'tts',
  licence: 'Apache-2.0',
  summary: `Qwen3-TTS ${variant}: ${summary}`,
  editions: [
    repositoryOf(
      qwenRepositories[variant]!,
      revision,
      Object.fromEntries(
        qwenFiles.map((path) => [path, path === 'speech_tokenizer/model.safetensors' ? qwenCodec : (pins[path] ?? {})]),
      ),
    ),
  ],
}))

/** The voices of speech server C that were made from the Expresso corpus. */
const isForNonCommercialUse = (voice: string) => voicePaths[voice]!.startsWith('expresso/')

/** Kyutai TTS 1.6B in its authors' own repositories (https://huggingface.co/kyutai/tts-1.6b-en_fr). */
const kyutaiModel: KnownModel = {
  name: 'voxb-tts-1.6b',
  kind: 'tts',
  licence: 'CC-BY-4.0',
  summary:
    'Kyutai TTS 1.6B: eleven voices with guidance, English and French, 4.1 GB to download, 1.8 GB more on disk, 2.4 GB of memory',
  editions: [
    {
      folder: kyutaiRepository,
      files: [
        ...repositoryOf(kyutaiRepository, 'f65439609986c392cb12df63938abcc550c3fb15', {
          'config.json': {},
          'dsm_tts_1e68beda@240.safetensors': {
            bytes: 3_683_719_712,
            sha256: '726ddadd90a080c89cbc6b217745296ef32d8e25666d30f81a09e8ae5c9e0f0c',
          },
          'tokenizer-e351c8d8-checkpoint125.safetensors': {
            bytes: 384_644_900,
            sha256: '09b782f0629851a271227fb9d36db65c041790365f11bbe5d3d59369cf863f50',
          },
          'tokenizer_spm_8k_en_fr_audio.model': {
            bytes: 120_378,
            sha256: 'cd87dd5d17169151782ac700280ec057e5d658a9afbe238a048ea5ff318cce69',
          },
        }).files,
        ...Object.entries(voicePaths)
          .filter(([voice]) => voiceFileName(voice) === voice)
          .map(([voice, path]) => ({
            repository: voiceRepository,
            revision: '323332d33f997de8394f24a193e1a76df720e01a',
            path: path + publishedVoiceSuffix,
            as: `voices/${voice}.safetensors`,
            ...(isForNonCommercialUse(voice) && { nonCommercial: 'CC-BY-NC-4.0' }),
          })),
      ],
    },
  ],
}

/** The parts under a non-commercial licence: names without folder and ending, and the licences. */
export function nonCommercialParts({ editions }: KnownModel): {
  readonly names: string[]
  readonly licences: string[]
} {
  const files = editions.flatMap((edition) => edition.files).filter((file) => file.nonCommercial !== undefined)
  const names = new Set(files.map(({ as }) => posix.basename(as, posix.extname(as))))
  return { names: [...names].sort(), licences: [...new Set(files.map(({ nonCommercial }) => nonCommercial!))].sort() }
}

/** Every model by its name. */
export const knownModels: ReadonlyMap<string, KnownModel> = new Map(
  [...chatModels, ...embeddingModels, ...pocketModels, ...qwenModels, kyutaiModel].map((model) => [model.name, model]),
)

function repositoryOf(
  repository: string,
  revision: string,
  files: Readonly<Record<string, Pick<KnownFile, 'sha256' | 'bytes'>>>,
): Edition {
  return {
    folder: repository,
    files: Object.entries(files).map(([path, pin]) => ({ repository, revision, path, as: path, ...pin })),
  }
}

/** Such as "English of 2026-09, the large form". */
function spokenName(language: string): string {
  return language
    .replace('_24l', ', the large form')
    .replace('_20', ' of 20')
    .replace(/^./, (first) => first.toUpperCase())
}

function pocketEdition(language: string, voice: string, gated: boolean): Edition {
  const { gated: closed, open, voices, tokenizer } = generationOf(language)
  const weights = gated ? closed : open
  const folder = `languages/${language}`
  const file = ({ repository, revision }: Source, name: string): KnownFile => ({
    repository,
    revision,
    path: `${folder}/${name}`,
    as: name,
  })
  return {
    folder: `${weights.repository}/${folder}`,
    files: [
      file(weights, 'model.safetensors'),
      file(open, tokenizer),
      ...[...new Set([...pocketVoices, voice])].map((name) => ({
        ...file(voices, `embeddings/${name}.safetensors`),
        ...(nonCommercialVoices.has(name) && { nonCommercial: 'CC-BY-NC-4.0' }),
      })),
    ],
    ...(gated && { gated }),
  }
}
