/** The greeting with which a card's character begins a conversation; '' for none. */
export function greetingOf(text: unknown, character: string): string {
  if (typeof text !== 'string') return ''
  return text
    .trim()
    .replaceAll(/\{\{char\}\}/gi, () => character)
    .replaceAll(/\{\{user\}\}/gi, 'you')
}
