/** The languages of the specification, as they are written on the wire, with the codes that clients use for them. */
const languages = {
  English: ['en', 'eng'],
  Chinese: ['zh', 'zho', 'cmn', 'mandarin'],
  Japanese: ['ja', 'jpn', 'jp'],
  Korean: ['ko', 'kor', 'kr'],
  German: ['de', 'deu', 'ger', 'deutsch'],
  French: ['fr', 'fra', 'fre'],
  Spanish: ['es', 'spa'],
  Italian: ['it', 'ita'],
  Portuguese: ['pt', 'por'],
  Russian: ['ru', 'rus'],
} as const

export type Language = keyof typeof languages

export const languageNames = Object.keys(languages) as readonly Language[]

/** A language by its English name or code, in any case, with or without a region (`en-GB`); undefined when it is none of the ten. */
export function findLanguage(name: string): Language | undefined {
  const wanted = name.trim().toLowerCase()
  const code = wanted.split(/[-_]/)[0] ?? ''
  return languageNames.find(
    (language) => language.toLowerCase() === wanted || (languages[language] as readonly string[]).includes(code),
  )
}

/** Scripts that one language, or one family of readers, uses; checked in this order. */
const scripts = [
  { language: 'Japanese', letters: /[\p{sc=Hiragana}\p{sc=Katakana}]/gu },
  { language: 'Korean', letters: /\p{sc=Hangul}/gu },
  { language: 'Chinese', letters: /\p{sc=Han}/gu },
  { language: 'Russian', letters: /\p{sc=Cyrillic}/gu },
  { language: 'Arabic', letters: /\p{sc=Arabic}/gu },
  { language: 'Hebrew', letters: /\p{sc=Hebrew}/gu },
  { language: 'Greek', letters: /\p{sc=Greek}/gu },
  { language: 'Hindi', letters: /\p{sc=Devanagari}/gu },
  { language: 'Thai', letters: /\p{sc=Thai}/gu },
] as const

/** Only the beginning is looked at: the language of a text shows in its first sentences. */
const sampleLength = 4000

/**
 * The language a text is written in, by its English name: one of the ten, or the name of another script's language.
 * Among the languages in Latin letters it says English unless another one is clearly there, so that names, loan words
 * and short phrases do not take English text for something else.
 */
export function detectLanguage(text: string): string {
  const sample = text.slice(0, sampleLength)
  const latin = count(sample, /\p{sc=Latin}/gu)
  const counts = scripts.map(({ language, letters }) => ({ language, letters: count(sample, letters) }))
  const others = counts.reduce((sum, { letters }) => sum + letters, 0)
  // An ideograph or syllable stands for about two letters of an alphabet; a foreign name in an English sentence is no change.
  if (others * 2 <= latin) return detectLatin(sample)
  // Japanese mixes kana into Chinese characters; any noticeable share of kana decides.
  const kana = counts[0]?.letters ?? 0
  if (kana * 10 >= others) return 'Japanese'
  return counts.reduce((best, next) => (next.letters > best.letters ? next : best)).language
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}

/** Frequent words, apart from proper English ones; words that two languages share help neither against the other. */
const words: Readonly<Record<string, ReadonlySet<string>>> = {
  English:
    wordSet(`the of and to a in is it you that he was for on are with as i his they be at one have this from or had by
    hot but some what there we can out other were all your when up use how said an each she which do their time if will
    way about many then them would like so these her him has two more go no could my than been who its now did get may
    me over not after also back any good new want because day most us hello hi hey please thanks thank yes okay ok
    today tomorrow morning night world test speech voice say one two three four five six seven eight nine ten don't
    it's i'm let's can't where why am our first last little just know take people into year see only come think look
    english goodbye bye welcome sorry love great nice very much where's what's that's here ask pour drink for`),
  German:
    wordSet(`der die das und ist nicht ich du er sie es wir ihr ein eine einen einem einer zu mit auf für von dem den des im
    sich auch als an nach wie bei aus war wird sind hat haben aber oder wenn noch nur so kann mein dein kein heute
    guten tag morgen abend danke bitte hallo wo wer warum gut sehr geht dir mir mich dich über schön vom zum zur welt`),
  French:
    wordSet(`le la les un une des et est pas je tu il elle nous vous ils elles que qui dans pour sur avec ce cette ces au aux du
    de en ne se plus mais ou où être avoir fait sont bonjour merci comment très bien oui non c'est j'ai d'un d'une
    qu'il qu'elle n'est aussi leur mon ma mes son sa ses votre notre salut monde aujourd'hui quoi ça suis es êtes va`),
  Spanish:
    wordSet(`el la los las un una y es no que en de del por para con se su lo al como más pero sus le ya o este sí porque esta
    entre cuando muy sin sobre también me hasta hay donde quien desde todo nos uno ni ese eso soy eres estoy está
    hola gracias buenos días cómo estás qué señor mundo hoy bien mi tu yo ella nosotros buenas tardes noches adiós`),
  Italian:
    wordSet(`il lo la i gli le un una e è di che non in per con sono si da del della dei delle nel nella al alla come più ma anche
    se mi ti ci questo questa quello io tu lui lei noi ciao grazie buongiorno perché molto bene ho hai ha sei siamo
    cosa dove quando mondo oggi tutto tutti essere fare sera buona buono prego sto stai`),
  Portuguese:
    wordSet(`o a os as um uma e é de do da dos das em no na nos nas que não por para com se mais como mas foi ao ele ela eu
    você nós isso esta este são está tem ou ser quando muito há já também só pelo pela até olá obrigado obrigada bom
    dia boa noite tarde mundo hoje tudo bem meu minha seu sua aqui onde`),
}

/** Marks that only one of the languages writes. */
const tellingMarks: Readonly<Record<string, RegExp>> = { Spanish: /[¿¡]/, Portuguese: /[ãõ]/, German: /ß/, French: /œ/ }

function detectLatin(sample: string): string {
  // Each word once: a refrain is no evidence.
  const found = [
    ...new Set(
      sample
        .toLowerCase()
        .replace(/’/g, "'")
        .match(/[\p{L}\p{M}']+/gu),
    ),
  ]
  const english = score(found, 'English')
  let best = { language: 'English', score: english }
  for (const language of Object.keys(words)) {
    if (language === 'English') continue
    const hits = score(found, language) + (tellingMarks[language]?.test(sample) ? 1 : 0)
    // Two signs at least, a fair share of the words, and clearly more of them than English ones.
    if (hits >= 2 && hits * 5 >= found.length && hits > 1.3 * english && hits > best.score)
      best = { language, score: hits }
  }
  return best.language
}

function score(found: readonly string[], language: string): number {
  const known = words[language]
  return found.filter((word) => known?.has(word)).length
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
