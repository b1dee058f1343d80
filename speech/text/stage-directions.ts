import { directionIn } from './english-directions.ts'

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
 * Judges what stands in parentheses or brackets: true for a stage direction such as `in a low voice`, `takes a deep
 * breath`, `long pause` or `笑`, which tells how something is said and is not to be read aloud. Every word must be one
 * that directions are made of: a kept direction is a small flaw, a lost half sentence is a large one.
 */
export function isStageDirection(inside: string): boolean {
  if (inside.length > longestDirection || /[\p{N}@/=]/u.test(inside)) return false
  return directionIn(inside) !== undefined || isForeignDirection(inside)
}

/**
 * Judges what stands between asterisks, which emphasise as well. What happens (`sighs`, `leans closer`) is a direction
 * where a sentence begins or ends; how it is said (`softly`) only in small letters where one begins, since there a word of
 * the sentence would have a capital.
 */
export function isStarredDirection(inside: string, before: string, after: string): boolean {
  if (!isStageDirection(inside)) return false
  const begins = /(?:^|[.!?…:;,—–"”»)\]])\s*$/.test(before) && !/^\p{Lu}/u.test(inside)
  if (directionIn(inside) === 'manner') return begins && /^\s|^$/.test(after)
  return begins || /^\s*$/.test(after) || (/[.!?…]\s*$/.test(before) && /^\s/.test(after))
}

function isForeignDirection(inside: string): boolean {
  const words = inside.toLowerCase().match(/[\p{L}\p{M}'’-]+/gu) ?? []
  if (words.length === 0 || words.length > 6) return false
  return words.some((word) => cues.has(word)) && words.every((word) => cues.has(word) || companions.has(word))
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
