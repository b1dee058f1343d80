type Decode = (text: string) => string

/** The decoder of the names of characters, such as `&Auml;`, with its table of 2,231: loaded when a text has such a name. */
let decode: Decode | undefined

/** Loads the table where a text needs it; resolves with whether the text is to be read again. */
export async function loadEntities(text: string): Promise<boolean> {
  if (decode || !/&[a-z][a-z0-9]{1,31};/i.test(text)) return false
  decode = (await import('entities/decode')).decodeHTMLStrict
  return true
}

/** In the place of the one that markdown-it imports, see bin/bundle.mjs: until the table is there, names stay as they are. */
export const decodeHTMLStrict: Decode = (text) => decode?.(text) ?? text
