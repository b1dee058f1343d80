import { arrowsBetween, inCircles, product, roomOf, sources, textOf, upwardImports } from '../helpers/source-tree.ts'
import { print } from './parts/figures.ts'

type Lines = { readonly code: number; readonly comment: number; readonly blank: number }

type Sized = { readonly name: string; readonly lines: number }

/** Prints the shape of the product: rooms, arrows, circles, the largest files and functions, lines, words of comments. */
export async function bench(): Promise<void> {
  for (const [title, groupOf] of [
    ['rooms', roomOf],
    ['folders', folderOf],
  ] as const) {
    const arrows = arrowsBetween(groupOf)
    const number = [...arrows.values()].reduce((sum, targets) => sum + targets.size, 0)
    print(
      `${title}: ${arrows.size}, arrows between them ${number}, in circles ${inCircles(arrows).join(' ') || 'none'}`,
    )
    for (const group of [...arrows.keys()].sort()) {
      const files = product.filter((file) => groupOf(file) === group)
      const { code, comment, blank } = total(files.map(linesOf))
      const targets = [...arrows.get(group)!].map((target) => target.replace(/^src\//, '')).sort()
      print(`  ${group}: ${files.length} files, ${code + comment + blank} lines → ${targets.join(' ') || 'nothing'}`)
    }
  }
  const upward = upwardImports()
  print(`imports that run up a layer: ${upward.length}`)
  for (const { from, to } of upward) print(`  ${from} → ${to}`)
  print('largest files, in lines:')
  printLargest(product.map((file) => ({ name: file, lines: textOf(file).split('\n').length - 1 })))
  print('largest functions, in lines:')
  printLargest(product.flatMap(functionsIn))
  for (const folder of ['src and speech', 'test']) {
    const files = folder === 'test' ? sources.filter((file) => !product.includes(file)) : product
    const { code, comment, blank } = total(files.map(linesOf))
    print(`${folder}: ${code + comment + blank} lines: ${code} code, ${comment} comment, ${blank} blank`)
    const comments = files.flatMap((file) => textOf(file).split('\n').filter(isComment)).join('\n')
    const words = (pattern: RegExp) => comments.match(pattern)?.length ?? 0
    print(
      `  in comments: who, whoever, whose, nobody, somebody ${words(/\b(?:who|whoever|whose|nobody|somebody)\b/gi)}`,
    )
    print(`  in comments: what, whatever ${words(/\bwhat(?:ever)?\b/gi)}`)
  }
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}

function printLargest(all: readonly Sized[]): void {
  const largest = [...all].sort((a, b) => b.lines - a.lines || a.name.localeCompare(b.name)).slice(0, 8)
  for (const { name, lines } of largest) print(`  ${lines} ${name}`)
}

/** A line that is comment alone, in biome's formatting. */
function isComment(line: string): boolean {
  return /^\s*(?:\/\/|\/\*|\*)/.test(line)
}

function linesOf(file: string): Lines {
  const lines = textOf(file).split('\n').slice(0, -1)
  const comment = lines.filter(isComment).length
  const blank = lines.filter((line) => line.trim() === '').length
  return { code: lines.length - comment - blank, comment, blank }
}

function total(all: readonly Lines[]): Lines {
  const sum = (field: keyof Lines) => all.reduce((found, lines) => found + lines[field], 0)
  return { code: sum('code'), comment: sum('comment'), blank: sum('blank') }
}

/** The named functions and methods of a file: in biome's formatting one ends at the next `}` with its own indent. */
function functionsIn(file: string): readonly Sized[] {
  const lines = textOf(file).split('\n')
  return lines.flatMap((line, at) => {
    const [, indent, ...names] = begin.exec(line) ?? []
    const name = names.find((each) => each !== undefined)
    if (indent === undefined || name === undefined || keywords.includes(name)) return []
    const atIndent = new RegExp(`^${indent}(?=[^ ])`)
    const end = lines.findIndex((each, index) => index > at && atIndent.test(each) && !/^ *\)/.test(each))
    // A call or a signature without a body ends otherwise.
    if (end === -1 || !/^ *\},?$/.test(lines[end]!)) return []
    return [{ name: `${name} in ${file}:${at + 1}`, lines: end - at + 1 }]
  })
}

const begin = /^( *)(?:export )?(?:async )?(?:function\*? (\w+)|(?:const|let) (\w+) = (?:async )?\(|\*?(\w+)\().*[({[]$/
const keywords = ['if', 'for', 'while', 'switch', 'catch', 'return']
