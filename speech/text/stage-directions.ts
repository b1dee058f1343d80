import { directionIn } from './english-directions.ts'
import { rolePlayedIn } from './english-roles.ts'
import { wordSet } from './word-set.ts'

/** Longer parentheses are never looked into. */
export const longestDirection = 120

/** Sounds, voices and gestures that a script puts in parentheses, in the languages of the speech servers but English. */
const cues = wordSet(`
  lacht lachend lachen gelächter kichert kichern seufzt seufzend seufzen hustet räuspert weint weinend schluchzt flüstert
  flüsternd flüstern grinst grinsend stöhnt schluckt räuspernd atmet luft stimme schultern aufgeregt nervös überrascht
  ironisch sarkastisch verlegen fröhlich verärgert schreit schreiend lächelt lächelnd nickt gähnt schweigt applaus leise laut wütend traurig zögernd
  voix voz voce rit rires rire riant ricane soupire soupir soupirs soupirant tousse chuchote chuchotant murmure pleure pleurant crie
  criant souriante inspire expire hésite tremblante sarcastique nerveux nerveuse ému émue énervé énervée criant sourit souriant silence applaudissements doucement ironique
  ríe ríen risas risa riendo suspira suspiro suspirando tose susurra susurrando llora llorando grita gritando sonríe
  sonríen nervioso nerviosa emocionado emocionada enojado enojada sarcástico respira bosteza sonriendo pausa silencio aplausos suavemente
  ride ridono ridendo risate sospira sospiro sospirando tossisce sussurra sussurrando piange piangendo grida gridando
  sorride sorridendo silenzio applausi piano
  ri risos rindo suspira suspirando tosse sussurra sussurrando chora chorando sorri sorrindo silêncio
  смех смеётся смеется смеются вздох вздыхает кашляет шёпотом шепотом шепчет плачет рыдает кричит улыбается кивает зевает
  пауза молчание аплодисменты тихо громко грустно
  笑 笑い 爆笑 大笑 大笑い 苦笑 微笑 冷笑 哭 哭泣 泣 泣く 叹气 嘆氣 叹息 ため息 溜息 低声 小声 大声 耳语 囁く 咳 咳嗽 咳払い
  停顿 停頓 沉默 沈黙 间 間 掌声 拍手 鼓掌 音乐 音楽 点头 うなずく 微笑む 轻声 怒 喘ぐ
  웃음 웃으며 웃는다 하하 한숨 한숨을 속삭이며 속삭임 기침 울음 울며 흐느낌 침묵 박수 미소 미소를 음악 정적 작게 크게
`)

/** Words that may stand beside such a cue. */
const companions = wordSet(`
  leiser lauter tiefer zitternder ruhiger tief ein aus holt zuckt verdreht augen den seine ihre hält inne er sie es sich laut leise leicht kurz kurze lange und mit dann wieder der die das stimme publikum
  il elle ils elles on la le les un une à voix basse haute et puis longue courte public
  él ella ellos en voz baja alta el la los un una y larga breve público
  lui lei loro a voce bassa alta e lunga breve pubblico il lo la gli
  ele ela eles em voz baixa alta e longa breve o os as
  он она они и долгая короткая с в зале горько тяжело
`)

/**
 * Whether the text in parentheses or brackets is a stage direction such as `in a low voice`, `takes a deep breath`, `long
 * pause` or `笑`, which is not to be read aloud. Every word must be one
 * that directions are made of: a kept direction is a small flaw, a lost half sentence is a large one.
 */
export function isStageDirection(inside: string): boolean {
  if (inside.length > longestDirection || /[\p{N}@/=]/u.test(inside)) return false
  return directionIn(inside) !== undefined || isForeignDirection(inside)
}

/**
 * Whether the text between asterisks, which emphasise as well, is a stage direction. Where a sentence begins or ends, an
 * action (`sighs`, `leans closer`) is one; inside one, it is none behind its subject (`He *laughs* at it`). A manner
 * (`softly`) is one only in small letters where a sentence begins, since there a word of the sentence would have a capital.
 *
 * @param before the text before the first asterisk, at least its last sentence
 * @param after the text behind the last
 * @param isBold the asterisks are doubled, which headings and warnings have: its verb must be told by the narrower rules
 */
export function isStarredDirection(inside: string, before: string, after: string, isBold = false): boolean {
  if (inside.length > longestDirection || /[\p{N}@/=]/u.test(inside)) return false
  const ends = /^\s*$/.test(after) || (/[.!?…]\s*$/.test(before) && /^\s/.test(after))
  const isFirst = /(?:^|[.!?…:;,—–"”»)\]])\s*$/.test(before)
  const kind = isStageDirection(inside) ? (directionIn(inside) ?? 'action') : undefined
  if (kind === 'manner') return isFirst && !/^\p{Lu}/u.test(inside) && /^\s|^$/.test(after)
  const form = isBold && kind === undefined ? undefined : rolePlayedIn(inside)
  if (kind === undefined && form === undefined) return false
  if (isFirst && !/^\p{Lu}/u.test(inside)) return true
  // A role's action may begin with a capital, a title has more of them.
  if (isFirst && form !== undefined && /\s/.test(inside)) return true
  if (ends && kind !== undefined) return true
  const isMany = /\s/.test(inside)
  if (form === 's') return !subjectBefore.test(before) && (isMany || !/\p{Lu}\p{Ll}+\s$/u.test(before))
  if (form === 'clause') return !clauseBefore.test(before)
  return form === 'ing' && isMany && !participleBefore.test(before) && !subjectBefore.test(before)
}

const articles = 'the|an?|my|your|his|her|its|our|their|this|that|these|those|each|every|some|any|no|one'

/** Behind one of these no subject ends. */
const auxiliaries =
  'is|are|was|were|be|been|has|have|had|will|would|could|should|can|may|might|must|do|does|did|not|never|always|just|really|very|so|too|and|or|but|to|said|says|told|went|came|got|made|took|gave|knew|saw|ran'

/** A clause begins here. */
const opening =
  '(?:(?:^|[.!?…:;,—–"“(]\\s*)|\\b(?:and|but|or|because|that|when|if|while|where|so|then|as|since|although|though|until|unless|how|why)\\s+)'

/**
 * The subject of a verb in the third person: a pronoun, an article that wants a noun, or an article and a noun where a
 * clause begins. Elsewhere `it`, `that` and nouns are objects: `I told you that *sighs*`.
 */
const subjectBefore = new RegExp(
  `(?:(?:^|\\P{L})(?:he|she|who|which|what|everyone|everybody|someone|somebody|nobody|anyone|everything|something|nothing|anything|the|an?|my|your|his|our|their|its|every|each|(?:${articles})\\s+[\\p{L}'’-]+\\s+that)|${opening}(?:it|this|that|(?:${articles})(?:\\s+(?!(?:${auxiliaries})\\b)[\\p{L}'’-]+(?<!ed|n['’]t)){1,2}))\\s+$`,
  'iu',
)

/** Words after which a clause of its own goes on with the sentence. */
const clauseBefore =
  /(?:^|\P{L})(?:and|but|or|because|that|when|if|while|where|so|as|since|although|though|until|unless|how|why|what|of|in|on|at|to|with|by|for|is|was)\s+$/iu

/** Words that a participle belongs to. */
const participleBefore =
  /(?:(?:^|\P{L})(?:am|is|are|was|were|be|been|being|not|keeps?|kept|keeping|starts?|started|stops?|stopped|loves?|loved|likes?|liked|hates?|hated|enjoys?|enjoyed|by|of|for|from|in|on|at|to|with|without|about|before|after|while|when|and|or|than|just|still|really|go|goes|went|spend|spent|see|saw|hear|heard|feel|felt|mind|minds|avoid|avoids|consider|the|an?|my|your|his|her|its|our|their|no|some|any)|['’](?:m|s|re|ve))\s+$/iu

function isForeignDirection(inside: string): boolean {
  const words = inside.toLowerCase().match(/[\p{L}\p{M}'’-]+/gu) ?? []
  if (words.length === 0 || words.length > 6) return false
  return words.some((word) => cues.has(word)) && words.every((word) => cues.has(word) || companions.has(word))
}
