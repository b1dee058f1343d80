/**
 * Judges what stands in parentheses. A stage direction tells how something is said and is not to be read aloud; anything
 * else is part of the text. Every word must belong to the closed lists below, and one of them must be a cue: a kept
 * direction is a small flaw, a lost half sentence is a large one.
 */

/** Longer parentheses are never looked into. */
export const longestDirection = 120

/** Sounds, voices and gestures that a script puts in parentheses, as written in the ten languages. */
const cues = wordSet(`
  laugh laughs laughing laughter laughed chuckle chuckles chuckling giggle giggles giggling snicker snickers smirk smirks
  sigh sighs sighing sighed gasp gasps gasping groan groans groaning moan moans moaning grunt grunts cough coughs coughing
  sob sobs sobbing cry cries crying weep weeps weeping sniff sniffs sniffle sniffles sneeze sneezes yawn yawns yawning
  whisper whispers whispering whispered murmur murmurs murmuring mutter mutters muttering shout shouts shouting yell yells
  yelling scream screams screaming sing sings singing hum hums humming whistle whistles whistling growl growls hiss hisses
  smile smiles smiling grin grins grinning nod nods nodding shrug shrugs shrugging frown frowns frowning wink winks winking
  pause pauses pausing beat silence clears throat-clearing applause clapping claps cheering cheers music inhales exhales
  softly quietly loudly angrily sadly happily cheerfully excitedly nervously sarcastically ironically gently slowly
  dramatically sternly bitterly playfully teasingly breathlessly tearfully mockingly hesitantly whispery deadpan aside
  lacht lachend lachen gelächter kichert kichern seufzt seufzend seufzen hustet räuspert weint weinend schluchzt flüstert
  flüsternd flüstern schreit schreiend lächelt lächelnd nickt gähnt schweigt applaus leise laut wütend traurig zögernd
  rit rires rire riant ricane soupire soupir soupirs soupirant tousse chuchote chuchotant murmure pleure pleurant crie
  criant sourit souriant silence applaudissements doucement ironique
  ríe ríen risas risa riendo suspira suspiro suspirando tose susurra susurrando llora llorando grita gritando sonríe
  sonriendo pausa silencio aplausos suavemente
  ride ridono ridendo risate sospira sospiro sospirando tossisce sussurra sussurrando piange piangendo grida gridando
  sorride sorridendo silenzio applausi piano
  ri risos rindo suspira suspirando tosse sussurra sussurrando chora chorando sorri sorrindo silêncio
  смех смеётся смеется смеются вздох вздыхает кашляет шёпотом шепотом шепчет плачет рыдает кричит улыбается кивает зевает
  пауза молчание аплодисменты тихо громко грустно
  笑 笑い 爆笑 大笑 大笑い 苦笑 微笑 冷笑 哭 哭泣 泣 泣く 叹气 嘆氣 叹息 ため息 溜息 低声 小声 大声 耳语 囁く 咳 咳嗽 咳払い
  停顿 停頓 沉默 沈黙 间 間 掌声 拍手 鼓掌 音乐 音楽 点头 うなずく 微笑む 轻声 怒 喘ぐ
  웃음 웃으며 웃는다 하하 한숨 한숨을 속삭이며 속삭임 기침 울음 울며 흐느낌 침묵 박수 미소 미소를 음악 정적 작게 크게
`)

/** Words that may stand beside a cue. English adverbs in -ly count too. */
const companions = wordSet(`
  a an the he she they his her their him to himself herself themselves with in under and then again very more still long
  short brief brief- big small deep heavy nervous awkward light soft loud quiet low little slight evil hearty throat voice
  breath tone crowd audience everyone all off on out
  er sie es sich laut leise leicht kurz kurze lange und mit dann wieder der die das stimme publikum
  il elle ils elles on la le les un une à voix basse haute et puis longue courte public
  él ella ellos en voz baja alta el la los un una y larga breve público
  lui lei loro a voce bassa alta e lunga breve pubblico il lo la gli
  ele ela eles em voz baixa alta e longa breve o os as
  он она они и долгая короткая с в зале горько тяжело
`)

/** True when the inside of a pair of parentheses is a stage direction, such as `laughs`, `long pause` or `笑`. */
export function isStageDirection(inside: string): boolean {
  if (inside.length > longestDirection) return false
  const words = inside.toLowerCase().match(/[\p{L}\p{M}'’-]+/gu) ?? []
  if (words.length === 0 || words.length > 6 || /[\p{N}@/=]/u.test(inside)) return false
  return words.some((word) => cues.has(word)) && words.every(belongs)
}

function belongs(word: string): boolean {
  return cues.has(word) || companions.has(word) || /^[a-z]{3,}ly$/.test(word)
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
