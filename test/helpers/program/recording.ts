import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const recorded = new Map<string, number>()

/**
 * Records a terminal where `AICHAT_TEST_RECORDINGS` names a folder: one file for each, to be played by `asciinema play FILE`
 * (its format asciicast v2: a header, then a line `[seconds, "o", text]` for each output).
 */
export function openRecording(words: readonly string[], [columns, rows]: readonly [number, number]) {
  const folder = process.env['AICHAT_TEST_RECORDINGS']
  if (!folder) return () => {}
  const title = ['aichat', ...words].join(' ')
  const name = title.replaceAll(/[^\w.-]+/g, '-').slice(0, 60)
  const count = (recorded.get(name) ?? 0) + 1
  recorded.set(name, count)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}-${process.pid}-${count}.cast`)
  writeFileSync(file, `${JSON.stringify({ version: 2, width: columns, height: rows, title })}\n`)
  const began = performance.now()
  return (text: string) => {
    const seconds = Math.round(performance.now() - began) / 1000
    appendFileSync(file, `${JSON.stringify([seconds, 'o', text])}\n`)
  }
}
