import { lazily } from '../words/lazily.ts'
import { readWords } from '../words/read-words.ts'

/**
 * Whether a text does no more than tell the model to make something: "Translate this: …", "Gib mir drei Ideen". A text that
 * also says something about its author, or how to treat them from now on, is more than that.
 */
export function isRequest(text: string): boolean {
  const start = text.trim().replace(greeting, '')
  if (standing.test(start)) return false
  if (
    !beginnings().some((pattern) => pattern.test(start)) &&
    !endings.some((pattern) => pattern.test(firstSentence(start)))
  )
    return false
  const first = firstSentence(start)
  // A colon or a quotation mark opens the text to work on, which is not about its author.
  if (/[:：]\s|[:：]$|["“„«「『]/u.test(first)) return true
  return !authorSpeaks.test(start.slice(first.length))
}

/** The first sentence, or the first line. */
function firstSentence(text: string): string {
  return /^[\s\S]*?(?:[.!?](?=\s|$)|[。！？]|\n|$)/u.exec(text)?.[0] ?? text
}

/** Words before a request: a greeting, thanks or a link to the turn before. */
const greeting =
  /^(?:(?:hi|hello|hey|ok|okay|so|now|and|then|also|great|thanks|thank you|hallo|danke|und|also|bonjour|merci|et|hola|gracias|y|ciao|grazie|olá|obrigad[oa]|привет|спасибо|а|и)(?:[,.!]\s*|\s+)){1,3}(?=\p{L})/iu

/** Wishes that hold for later, which are preferences. */
const standing =
  /(?:^|[^\p{L}])(?:remember|don['’]?t forget|keep in mind|note that|from now on|in (?:the )?future|always|never|call me|merk(?:e)? dir|denk(?:e)? daran|ab jetzt|in zukunft|immer|nie(?:mals)?|nenn mich|souviens|rappelle-toi|n['’]oublie|retiens|désormais|dorénavant|toujours|jamais|appelle-moi|recuerda|no olvides|a partir de ahora|siempre|nunca|llámame|ricorda|non dimenticare|d['’]ora in poi|sempre|mai|chiamami|lembra|lembre|não esqueças?|a partir de agora|onthoud|vergeet niet|voortaan|altijd|nooit|zapamiętaj|pamiętaj|nie zapomnij|od teraz|zawsze|nigdy|запомни|помни|не забудь|отныне|всегда|никогда|kom ihåg|hatırla|unutma)(?![\p{L}])|记住|别忘|以后|总是|永远|从现在|覚えて|忘れないで|これから|いつも|기억해|잊지|앞으로|항상/iu

/** The author as a subject or owner. */
const authorSpeaks =
  /(?:^|[^\p{L}])(?:i|i['’](?:m|ve|ll|d)|my|mine|we|our|ich|mein\p{L}*|wir|unser\p{L}*|je|j['’]\p{L}+|mon|ma|mes|nous|notre|nos|yo|soy|tengo|mi|mis|nuestr\p{L}*|io|sono|ho|mio|mia|miei|mie|eu|sou|tenho|meu|minha|ik|mijn|ja|jestem|mam|mój|moja|moje|я|мой|моя|моё|мои|мы|наш\p{L}*|jag|min|mitt|mina)(?![\p{L}])|我|私|僕|俺|저는|제가|나는|내가|우리/iu

/** How requests begin, by language, with words that several of the patterns hold in braces; they see a text without its greeting. */
const { beginnings: wordings, ...parts } = readWords<{
  readonly beginnings: Readonly<Record<string, readonly string[]>>
  readonly object: string
  readonly things: string
  readonly products: string
}>('requests')

const beginnings = lazily((): readonly RegExp[] =>
  Object.values(wordings)
    .flat()
    .map((source) => source.replace(/\{(object|things|products)\}/g, (_, name: keyof typeof parts) => parts[name]))
    .map((source) => new RegExp(`^(?:${source.replaceAll('\\b', '(?![\\p{L}\\p{M}])')})`, 'iu')),
)

/** The endings of requests, in languages with the verb last. */
const endings: readonly RegExp[] = [
  /(?:書いて|翻訳して|訳して|要約して|まとめて|説明して|教えて|作って|作成して|直して|添削して|考えて|リストアップして|挙げて|比較して|計算して|見せて|提案して)(?:ください|下さい|くれ(?:ますか|ませんか|る)?|ほしい(?:です)?|欲しい(?:です)?|もらえますか|いただけますか)?[。！!？?\s]*$/u,
  /(?:써|적어|작성해|번역해|요약해|정리해|설명해|알려|만들어|고쳐|추천해|비교해|계산해|보여|다듬어|바꿔|지어|제안해)\s?(?:줘요?|주세요|주실래요|줄래요?|주시겠어요|주십시오)[.!?\s]*$/u,
  /(?:^|\s)(?:yaz|çevir|özetle|açıkla|düzelt|listele|anlat|öner|karşılaştır|hesapla|oluştur|hazırla)(?:ın|in|un|ün|ınız|iniz|ar mısın|er misin|ır mısın|ir misin|abilir misin|ebilir misin|r mısın|r misin)?(?:\s+lütfen)?[.!?\s]*$/iu,
]
