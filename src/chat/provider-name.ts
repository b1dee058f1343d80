/** The plugins with another provider name in OpenTelemetry (values of `gen_ai.provider.name`). */
const conventional: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
}

/** A plugin, or `local`, as the value of `gen_ai.provider.name`. */
export function providerName(plugin: string): string {
  return Object.hasOwn(conventional, plugin) ? conventional[plugin]! : plugin
}
