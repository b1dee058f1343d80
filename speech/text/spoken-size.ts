/** Digits are spoken as words, and signs of these scripts as whole syllables. */
const digitSize = 4
const signSize = 3
/** A breath between clauses or sentences. */
const breathSize = 4

/** How much there is to speak in a text, in letters of an alphabet: its time is near to proportional to this. */
export function spokenSize(text: string): number {
  let size = 0
  for (const [sign] of text.matchAll(
    /[\p{L}\p{N}]|(?<![,.;:!?…，。、；：！？])[,.;:!?…，。、；：！？]+(?=\s|$)|[，。、；：！？]/gu,
  )) {
    if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(sign)) size += signSize
    else if (/\p{N}/u.test(sign)) size += digitSize
    else size += /\p{L}/u.test(sign) ? 1 : breathSize
  }
  return size
}
