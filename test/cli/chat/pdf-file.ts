/** A PDF with a page for each text; a text is of ASCII letters. `encrypt` adds a dictionary as of a file with a password. */
export function pdfOf(texts: readonly string[], { title = '', encrypt = false } = {}): Buffer {
  const pages = texts.map((_, index) => 4 + 2 * index)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${texts.length} /Kids [${pages.map((number) => `${number} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...texts.flatMap((text, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      streamOf(text === '' ? '' : `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`),
    ]),
    `<< /Title (${title}) >>`,
    `<< /Filter /Standard /V 1 /R 2 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> /P -4 >>`,
  ]
  const encryption = encrypt ? ` /Encrypt ${objects.length} 0 R /ID [<00> <00>]` : ''
  return assembled(objects, `/Root 1 0 R /Info ${objects.length - 1} 0 R${encryption}`)
}

/** The objects as a file, with its table of places (ISO 32000-1, 7.5). */
export function assembled(objects: readonly (string | Buffer)[], trailer: string): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.4\n')]
  const places: number[] = []
  let length = pieces[0]!.length
  const add = (piece: Buffer) => {
    pieces.push(piece)
    length += piece.length
  }
  for (const [index, object] of objects.entries()) {
    places.push(length)
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]))
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`
  const start = length
  add(Buffer.from(`${end}trailer << /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`))
  return Buffer.concat(pieces)
}

function streamOf(content: string): string {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`
}
