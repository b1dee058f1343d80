/** What players show of a file. */
export type Tags = ReturnType<typeof tagsOf>

/** Characters of a title: the beginning of the text. */
const titleLength = 80

/** The tags of a spoken text. The artist is the voice, or the engine where that has no name. */
export function tagsOf(text: string, voice: unknown, engine: string) {
  const signs = [
    ...text
      .slice(0, 1000)
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim(),
  ]
  const title = signs.slice(0, titleLength).join('')
  return {
    title: signs.length > titleLength ? `${title.trimEnd()}…` : title,
    voice: typeof voice === 'string' && voice !== '' ? voice : engine,
    engine,
  }
}

/** An ID3 tag of version 2.4, as MP3 files begin with. */
export function id3Tag({ title, voice, engine }: Tags): Buffer {
  const frames = [textFrame('TIT2', title), textFrame('TPE1', voice), textFrame('TSSE', `aichat, ${engine}`)]
  const body = Buffer.concat(frames)
  return Buffer.concat([Buffer.from('ID3\u0004\0\0', 'latin1'), sevenBits(body.length), body])
}

function textFrame(id: string, text: string): Buffer {
  const body = Buffer.concat([Buffer.from([3]), Buffer.from(text)])
  return Buffer.concat([Buffer.from(id, 'latin1'), sevenBits(body.length), Buffer.alloc(2), body])
}

/** Four bytes of seven bits each. */
function sevenBits(size: number): Buffer {
  return Buffer.from([21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f))
}

/** The comments of Opus and FLAC files, as Vorbis has them. */
export function vorbisComments({ title, voice, engine }: Tags): Buffer {
  const comments = [`TITLE=${title}`, `ARTIST=${voice}`, `ENCODER=aichat, ${engine}`].map((line) => Buffer.from(line))
  const vendor = Buffer.from('aichat')
  const parts = [lengthOf(vendor.length), vendor, lengthOf(comments.length)]
  return Buffer.concat([...parts, ...comments.flatMap((comment) => [lengthOf(comment.length), comment])])
}

function lengthOf(size: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(size)
  return bytes
}
