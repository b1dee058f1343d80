/** The kinds of recording that people have and that are not WAV, by their first bytes: refused by name, with the way to convert them. */

interface Kind {
  readonly name: string
  readonly extension: string
  /** The first 12 bytes in Latin 1. */
  readonly start: RegExp
}

const kinds: readonly Kind[] = [
  { name: 'FLAC', extension: 'flac', start: /^fLaC/s },
  // A tag in front, or the sync word of a frame: MPEG 1, 2 or 2.5, layer III.
  { name: 'MP3', extension: 'mp3', start: /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/s },
  { name: 'AAC', extension: 'aac', start: /^\xff[\xf0\xf1\xf8\xf9]/s },
  { name: 'Ogg', extension: 'ogg', start: /^OggS/s },
  { name: 'MPEG-4', extension: 'm4a', start: /^.{4}ftyp/s },
  { name: 'WebM', extension: 'webm', start: /^\x1aE\xdf\xa3/s },
  { name: 'AIFF', extension: 'aiff', start: /^FORM.{4}AIF[FC]/s },
]

/** The kind of a recording that is not WAV; undefined for bytes that begin as none of them. */
export function otherRecording(bytes: Uint8Array): { readonly name: string; readonly advice: string } | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  const kind = kinds.find((each) => each.start.test(start))
  if (!kind) return undefined
  return { name: kind.name, advice: `convert it: ffmpeg -i clip.${kind.extension} clip.wav` }
}
