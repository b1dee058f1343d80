/** Untrusted text for display, without characters that turn the direction, hide between letters, or control. */

/**
 * Control characters but tab, line break and carriage return; characters that turn the direction of writing (Unicode
 * Standard Annex #9); the invisible format characters; half a character. The joiners U+200C and U+200D are none of these:
 * Persian, Indic scripts and emoji need them. Tags (U+E0020 and on) are left where they spell a flag.
 */
const unshown =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0000}-\u{e007f}]|[\u{1d173}-\u{1d17a}]|\p{Cs}/gu

/** Strips control and invisible characters; line breaks and tabs stay. */
export function stripControls(text: string): string {
  return text.replace(unshown, '').replace(/\r(?!\n)/g, '')
}

/** JSON with such characters written as escapes: the same value, harmless to look at. */
export function escapedJson(json: string): string {
  return json.replace(unshown, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** True for one line that shows all it holds: a name's rule, the same for users, personas, conversations and labels. */
export function isPrintableLine(text: string): boolean {
  return text === printableLine(text)
}

/** The text as one such line: invisible characters are stripped, a line break becomes a space. */
export function printableLine(text: string): string {
  return stripControls(text)
    .replace(/[\t\n\r]+/g, ' ')
    .replace(looseJoiner, '')
    .replace(unseen, '')
}

/** A joiner where none has an effect: not between emoji, and not within a word of a script that joins its letters. */
const looseJoiner = new RegExp(
  [
    '(?<!\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\ufe0f|\\p{M}|\\p{Script=Arabic}|\\p{Script=Syriac}|\\p{Script=Mongolian})(?:\\u200c|\\u200d)',
    '(?:\\u200c|\\u200d)(?!\\p{Extended_Pictographic}|\\p{L})',
  ].join('|'),
  'gu',
)

/** Other characters of no width, except joiners, variation selectors and the tags of a flag. */
const unseen =
  /(?!\u200c|\u200d|\ufe0e|\ufe0f|[\u{e0020}-\u{e007f}])(?<!\p{Script=Han}(?=[\u{e0100}-\u{e01ef}]))\p{Default_Ignorable_Code_Point}/gu
