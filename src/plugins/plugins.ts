/**
 * Documents that describe providers of models: read, checked and explained; their keys; the lists and facts of their models.
 * Uses: `accounts`, `formats` and `http`; stores and the sending of requests are interfaces here.
 * Begin with: `manifest.ts` (the fields of a document), `host.ts`, `facts.ts`.
 */
export { embedWithPlugin } from './embeddings.ts'
export { createFactBook, type FactBook, type ShippedFacts, windowSources } from './facts.ts'
export { createPluginHost, type PluginHost, type PluginView } from './host.ts'
export { isKeyName, type KeyHosts, parseKeyHosts } from './key-rules.ts'
export { looksLikeKey, variableOfKey } from './key-shapes.ts'
export { allNamesOf, createKeys, type Keys, type SecretSource } from './keys.ts'
export { factsOfShow } from './listed-facts.ts'
export { createListing, type ListingParts } from './listing.ts'
export { isModelName, type PluginKind, type PluginManifest, pluginManifest } from './manifest.ts'
export { reservedPrefixes } from './manifest-checks.ts'
export { manifestFields } from './manifest-fields.ts'
export { unknownFieldsOf } from './manifest-warnings.ts'
export { abilitiesOf, type ModelFacts, modelFacts } from './model-facts.ts'
export { isPattern, longestName, type Pattern, patternOf, patternRule, withDashedDates } from './model-names.ts'
export { pluginNotFound } from './not-found.ts'
export { createModelLists, type RefreshRequest, type RefreshRow, withListedModels } from './refresh.ts'
export type { PluginStore, StoredPlugins } from './store.ts'
