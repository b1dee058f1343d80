// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { deflateSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { closing } from '../../helpers/disposal.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'
import { type Asking, openAsking } from './asked-files.ts'
import { assembled, pdfOf } from './pdf-file.ts'

const test = suite('aichat chat -f, of PDFs')

test('the text of a PDF goes in page by page, with its title', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'report.pdf': pdfOf(['First words', 'Second words'], { title: 'A <report>' }) })
    const path = join(folder, 'report.pdf')
    const { code, parts, stderr } = await ask([path])
    assert.equal([code, stderr], [0, ''])
    const tag = `<file path="${path}" type="application/pdf" title="A &lt;report&gt;" pages="2">`
    assert.is(parts[0]!.text, `${tag}\n[page 1]\nFirst words\n\n[page 2]\nSecond words\n</file>`)
  }))

test.whole('a PDF goes in from a pattern and a pipe, and is left out of a folder', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'a.pdf': pdfOf(['From a pattern']), 'note.txt': 'N' })
    assert.match((await ask([join(folder, '*.pdf')])).parts[0]!.text!, /From a pattern/)
    assert.match((await ask(['-'], { input: pdfOf(['From a pipe']) })).parts[0]!.text!, /From a pipe/)
    const { parts, stderr } = await ask([folder])
    assert.is(parts.length, 1)
    assert.match(stderr, /a\.pdf: not text/)
  }),
)

test.whole('a PDF that is broken, encrypted or without text is exit 65, each with its reason', () =>
  asking(async ({ ask, folder, write }) => {
    write({
      'broken.pdf': '%PDF-1.7\nnothing else',
      'fake.pdf': Buffer.from([0, 1, 2]),
      'locked.pdf': pdfOf(['Hidden'], { encrypt: true }),
      'scan.pdf': pdfOf(['']),
    })
    const reasons = [
      ['broken.pdf', 'is damaged, or not a PDF'],
      ['locked.pdf', 'is encrypted: save it without its password first'],
      ['scan.pdf', 'holds no text: its pages are pictures'],
      ['fake.pdf', 'is damaged, or not a PDF'],
    ] as const
    for (const [name, reason] of isWholeRun ? reasons : reasons.slice(0, 3)) {
      const { code, stderr, parts } = await ask([join(folder, name)])
      assert.equal([code, parts], [65, []])
      assert.is(stderr.trim(), `aichat: ${join(folder, name)} ${reason}`)
    }
  }),
)

test.whole('a PDF that unpacks to gigabytes ends with an error', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'bomb.pdf': bomb() })
    const { code, stderr } = await ask([join(folder, 'bomb.pdf')])
    assert.is(code, 65)
    assert.match(
      stderr,
      /bomb\.pdf (?:is damaged, or needs more than 256 MiB of memory to be|takes more than 10 seconds to) read/,
    )
  }),
)

test.whole('Ctrl-C ends the reading of a PDF', () =>
  asking(async ({ folder, write }) => {
    write({ 'bomb.pdf': bomb() })
    const [program, ...args] = aichatCommand
    const child = spawn(program!, [...args, 'chat', '-f', join(folder, 'bomb.pdf'), 'x'], {
      env: { PATH: process.env['PATH'], HOME: folder, AICHAT_HOME: join(folder, 'home') },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'exit')
    // The process that reads the PDF has started: signals are handled from here on.
    const children = `/proc/${child.pid}/task/${child.pid}/children`
    while (child.exitCode === null && readFileSync(children, 'utf8') === '') await setTimeout(20)
    child.kill('SIGINT')
    const [code] = await ended
    assert.is(code, 130)
  }),
)

test.run()

/** Zeros, packed twice and named 64 times as the content of one page: some kilobytes that become four gigabytes. */
function bomb(): Buffer {
  const zeros = deflateSync(deflateSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 }), { level: 9 })
  const head = `<< /Length ${zeros.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n`
  const stream = Buffer.concat([Buffer.from(head), zeros, Buffer.from('\nendstream')])
  const contents = '4 0 R '.repeat(64)
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents [${contents}] >>`
  return assembled(
    ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 1 /Kids [3 0 R] >>', page, stream],
    '/Root 1 0 R',
  )
}

async function asking(run: (parts: Asking) => Promise<void>): Promise<void> {
  await using parts = closing(await openAsking())
  await run(parts)
}
