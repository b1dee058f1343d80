/** The names under which the weights of a speech server's variants are pulled. */

/** The variant with weights that are pulled under the server's own name. */
const defaultVariants: Readonly<Record<string, string>> = { 'voxa-tts': 'customvoice-1.7b' }

/** The server's name, and behind it the variant where it is not the default one. */
export function weightsName(server: string, variant?: string): string {
  const plain = defaultVariants[server]
  const wanted = variant?.toLowerCase()
  return plain === undefined || wanted === undefined || wanted === plain ? server : `${server}-${wanted}`
}

/** The speech server that speaks with weights of that name. */
export function serverOfWeights(name: string): string {
  if (name === 'voxb-tts-1.6b') return name
  return name.startsWith('voxa-tts') ? 'voxa-tts' : 'voxb-tts'
}
