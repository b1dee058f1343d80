import type { UnspacedLanguage } from './language-words.ts'

/** Characters of Chinese particles, pronouns, common verbs and question words: they tell little in a query. */
const chineseParticles = new Set(
  '的了是我你他她它们在有和吗呢吧啊么什怎谁哪几多少为这那个把被给对就也都很还要会能可以到从与及或请一不没上下里叫',
)

/** Pairs of characters with the role of weak words: name, explain, number, telephone, and pieces of "what". */
const weakPairs = new Set(
  '名前 説明 教え 番号 名字 解释 告诉 写一 什么 电话 请解 释什 叫什 么名 이름 설명 알려 말해 번호 가기 기로 하기'.split(
    ' ',
  ),
)

/** Korean particles and endings after a noun. */
const koreanEnding =
  /(?:이야|에서는|에서|에게|한테|으로|이랑|부터|까지|이가|은|는|이|가|을|를|에|의|로|와|과|도|만|야|랑|씨)$/u

/** Korean pronouns, question words and endings of requests. */
const koreanFunctionWords = new Set(
  `나 내 내가 나는 나한테 우리 잘 저 제 언제 언제야 뭐 뭐야 뭘 무엇 어디 어디에 어디야 누구 누가 얼마 얼마나 얼마였지 얼마야 어떻게 어떤 왜 몇
  무슨 어느 좀 더 또 그 이 줘 해 거 것 걸 수 때 지금 씨 하기로 했더라 했지 했어 있어 없어 해줘 뭐였지 였지 이야`.split(
    /\s+/,
  ),
)

/** First-person pronouns. */
const selfPattern = /[我咱俺私僕]|うち|나는|내가|우리|나의|제가|저는|나한테|내 /u

/** Whether a text of such a language speaks of its author. */
export function isAboutSelfUnspaced(text: string): boolean {
  return selfPattern.test(text)
}

/** A Korean word without its particle; undefined for a function word. Words of other languages come back as they are. */
export function withoutParticle(word: string, language: UnspacedLanguage): string | undefined {
  if (language !== 'ko') return word
  const bare = word.replace(koreanEnding, '')
  const kept = bare.length >= 2 ? bare : word
  return koreanFunctionWords.has(word) || koreanFunctionWords.has(kept) ? undefined : kept
}

/**
 * The weight of one or two characters as a query term, from 0 to 1: a pair of content characters counts in full, one with a
 * particle beside it less, a single character a third, particles and kana alone nothing.
 */
export function worthOfCharacters(term: string, language: UnspacedLanguage): number {
  const characters = [...term]
  const isParticle = (character: string) =>
    language === 'zh'
      ? chineseParticles.has(character)
      : language === 'ja' && /[\p{Script=Hiragana}ー]/u.test(character)
  const particles = characters.filter(isParticle).length
  if (particles === characters.length) return 0
  const single = characters.length === 1 && /\p{Script=Han}/u.test(term) ? 0.35 : 1
  return (particles > 0 ? 0.3 : 1) * single * (weakPairs.has(term) ? 0.25 : 1)
}
