/**
 * Turns text into speech: `text/` (languages, sentences and their pauses, markup; `text/reading/` says numbers, dates and units),
 * `audio/` (formats, resampling), `engines/NAME/` over `engines/neural/` and `blocks/`, `servers/*.json` (the three servers), and the
 * queue and limits of a service.
 * Uses: `inference`, `process`, `plugins` and `accounts` for providers that speak, the tools; the languages of eld.
 * Begin with: `service.ts`, `router.ts`, `synthesis.ts`, `engines/engine.ts`.
 */
export { answerWith } from './answer.ts'
export { countsOf, piecesOf, skippedOf } from './answer-counts.ts'
export { encodeFile, formatNames, formatOfEnding, mediaTypes } from './audio/formats.ts'
export { createQueue } from './audio/sample-queue.ts'
export { speeds } from './audio/speed.ts'
export { collectSamples, openWavReader } from './audio/wav-reader.ts'
export { createSpeechRouter, type RoutedSpeech, type SpeechRouter } from './router.ts'
export { isServerId, listVoices, readManifest, type ServerId, serverIds } from './servers/manifest.ts'
export { serverOfWeights, weightsName } from './servers/weights.ts'
export { openSpeechService, type ServiceOptions, type SpeechService } from './service.ts'
export { createSpeechCounts, type SpeechCounts } from './speech-counts.ts'
export { speakSentences } from './spoken-sentences.ts'
export { createLexiconReader } from './text/reading/lexicon-file.ts'
export { readWritten, withTurns } from './text/reading/passages.ts'
export { sanitize } from './text/sanitize.ts'
export { countCharacters, pauseAfter, splitChunks } from './text/sentences.ts'
export { isMostlyUnspoken } from './text/unspoken.ts'
