/** Seconds of a duration such as `7d`, `12h`, `30 minutes`, or a number of seconds; undefined for an invalid one. */
export function parseLifetime(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(s|sec|second|m|min|minute|h|hour|d|day|w|week|y|year)?s?$/i.exec(text.trim())
  if (!match) return undefined
  const factors = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_557_600 }
  const unit = (match[2] ?? 's').charAt(0).toLowerCase() as keyof typeof factors
  const value = Math.floor(Number(match[1]) * factors[unit])
  // Ten years: beyond that a number is a slip, and a date may not be representable.
  return value >= 1 && value <= 10 * factors.y ? value : undefined
}
