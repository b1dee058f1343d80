import { isPinned, type MemoryEntry } from './memory.ts'
import { isSmallTalk } from './small-talk.ts'

/** Sources of memories that are turns of conversations. */
const conversations: ReadonlySet<unknown> = new Set(['chat', 'chatgpt', 'claude', 'letta'])

/**
 * Whether a memory is a turn of a conversation that only asked. It is kept as context of the turns around it; it answers
 * nothing, and no other memory has to make room for it.
 */
export function isAsked({ content, metadata }: Pick<MemoryEntry, 'content' | 'metadata'>): boolean {
  return conversations.has(metadata['source']) && !isPinned(metadata) && isOnlyQuestions(content)
}

/** Characters of the longest question; a longer text says something as well. */
export const longestQuestion = 2_000

/**
 * Whether a text only asks: each of its sentences is a question, or small talk beside one. A sentence that states something
 * before its question, as "I can't eat nuts, what may I cook?", is no question.
 */
export function isOnlyQuestions(text: string): boolean {
  if (text.length > longestQuestion || !mayAsk(text)) return false
  let asks = false
  for (const sentence of sentencesOf(text)) {
    if (isQuestion(sentence)) asks = true
    else if (!isSmallTalk(sentence)) return false
  }
  return asks
}

/** A cheap test that every question passes: most memories state something and end with a full stop. */
function mayAsk(text: string): boolean {
  return anyMark.test(text) || /[\p{L}\p{M}\p{N}][\s。]*$/u.test(text.slice(-20))
}

const anyMark = /[?？؟‽⁇⁈⁉;\u037e՞¿]/
const endMark = /[?？؟‽⁇⁈⁉]/

function sentencesOf(text: string): readonly string[] {
  const all: string[] = []
  for (const piece of text.split(/(?<=[.!?…؟‽⁇⁈⁉]["'”’»)\]]?)\s+|(?<=[。！？])|\n/u)) {
    const last = all.at(-1)
    if (last !== undefined && abbreviated.test(last)) all[all.length - 1] = `${last} ${piece}`
    else if (piece.trim() !== '') all.push(piece.trim())
  }
  return all
}

const abbreviated = /(?<!\p{L})(?:Dr|Mr|Mrs|Ms|St|Prof|Sr|Sra|Nr|No|Str|Mt|vs|ca|approx|bzw|e\.g|i\.e|z\.B)\.$/u

function isQuestion(sentence: string): boolean {
  const tail = sentence.slice(lastWordEnd(sentence))
  const isMarked =
    endMark.test(tail) || /[՞¿]/.test(sentence) || (/[;\u037e]/.test(tail) && /\p{Script=Greek}/u.test(sentence))
  if (isMarked) return !statesFirst(sentence)
  return !/[.!！…]/.test(tail) && unmarked.some((pattern) => pattern.test(sentence))
}

function lastWordEnd(sentence: string): number {
  const after = sentence.split(/[\p{L}\p{M}\p{N}]/u).at(-1)!
  return sentence.length - after.length
}

/** Whether a clause before the last one states something. */
function statesFirst(sentence: string): boolean {
  const clauses = sentence.split(/[,，、;:：—–]|¿/u).map((clause) => clause.trim())
  return clauses.slice(0, -1).some((clause) => {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(clause))
      return clause.length >= 4 && !unspacedAsking.test(clause)
    const [first = '', ...rest] = clause.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? []
    return rest.length >= 2 && !openers.has(first.split(/['’]/)[0]!) && !lostWords.test(clause)
  })
}

/** Phrases that only say why one asks. */
const lostWords =
  /^(?:i (?:have|had) (?:a|another|one)(?: \p{L}+)? question|i (?:forgot|forget|wonder|(?:do not|don['’]?t|can ?not|can['’]?t) (?:know|remember|recall))|ich (?:hab\p{L}* (?:eine|noch eine) frage|weiß nicht|frage mich))/iu

const unspacedAsking =
  /[谁誰哪吗嗎何]|什[么麼]|怎[么麼]|[多几幾]少|どこ|いつ|だれ|なに|どの|どう|如果|的时候|もし|とき$|なら$|たら$/u

/** First words of clauses that ask, or that only say when, where or whom: in the languages of `unmarked`. */
const openers: ReadonlySet<string> = new Set(
  `what which where when who whose whom why how do does did is are was were am can could should will would have has had may if
   in on at for from to with by about after before since during as while given because between under near of hi hey hello ok okay
   so well and but or please sorry thanks last next this yesterday today tomorrow just again quick tell remind say
   was welche welcher welches welchen wo wann wer wen wem wie warum wieso wenn falls in im am an auf bei für mit von vor nach
   seit aus über zu zum zur und aber oder also hallo bitte letzte letzten nächste gestern heute morgen sag
   que quel quelle quels quelles où quand qui comment pourquoi combien est si dans en à au aux pour avec par sur chez depuis
   avant après de du et mais ou bonjour salut dis hier demain
   qué cuál dónde cuándo quién cómo cuánto cuando por en para con de del desde antes después y pero o hola oye ayer hoy mañana
   che cosa quale dove chi come perché quanto se nel nella per con da di su dopo prima e ma ciao ieri oggi domani
   onde quando quem qual como quanto se em no na para com de depois antes e mas olá ontem hoje amanhã
   waar wanneer wie wat welke hoe waarom als in op bij voor met van na sinds en maar of hoi gisteren vandaag morgen
   gdzie kiedy kto co jak jaki jaka jakie która który które czy jeśli w we na do z ze od po przed dla ale cześć wczoraj dziś jutro
   где когда кто что как какой какая какое какие куда откуда почему сколько если в во на у к с со от до из по для и но а привет
   вчера сегодня завтра де коли хто що який яка яке які скільки якщо від після
   var när vem vad vilken vilket hur varför om på hos för med från efter innan och men hej igår idag
   hvor hvornår hvem hvad hva hvilken hvilket hvordan når hvis til ved fra efter etter
   nerede ne kim hangi kaç nasıl neden eğer ve ama merhaba dün bugün yarın
   أين متى من ما ماذا كيف كم هل لماذا إذا في على إلى مع
   πού πότε ποιος ποια ποιο πώς τι γιατί πόσο αν στο στη στην σε για με από και γεια`
    .split(/\s+/)
    .filter(Boolean),
)

/**
 * How questions without any mark begin or, where the verb is last, end. Only wordings that open no statement: "where I live",
 * "quand j'étais jeune" and "cuando vivía" state something.
 */
const unmarked: readonly RegExp[] = [
  String.raw`^GREETING(?:what|where|when|who|how)['’]?s (?:my|our|your|the|his|her|their|this|that)\b`,
  String.raw`^GREETING(?:(?:about|at|by|for|from|in|on|to|with) )?(?:what|where|when|who|whom|why|how) (?:did|do|does|is|are|was|were|am|can|could|should|will|would|have|has|had)\b`,
  String.raw`^GREETING(?:(?:about|at|by|for|from|in|on|to|with) )?(?:what|which|whose|how) (?:(?!(?:i|you|we|he|she|it|they|me|my|our|matters|counts|happened|helps|works|worked|makes|made)\b)\p{L}+ ){1,2}(?:did|do|does|is|are|was|were|am|can|should|will|would|have|has)\b`,
  String.raw`^GREETING(?:(?:do|does|did) (?:i|we|you|he|she|they|my|our|the)|(?:am|have|was|should|can|may|could) i)\b`,
  String.raw`^GREETING(?:(?:an|auf|bei|für|in|mit|um|von|zu) )?(?:wo|wann|wer|wem|wen|wie|was|warum|wieso|woher|wohin|welche[rsnm]?) (?!(?:ich|du|er|sie|es|wir|ihr|man|mich|mir|uns|mein\p{L}*|unser\p{L}*|der|die|das|immer|gesagt)\b)\p{L}+`,
  String.raw`^GREETING(?:qu['’]est-ce |est-ce qu|quel(?:le)?s? |combien d|pourquoi |(?:(?:à|avec|chez|de|pour) )?(?:où|quand|qui|comment) (?:est|sont|était|ai-je|suis-je|dois-je|s['’]appelle)\b)`,
  '^GREETING(?:(?:por|a|de|en|con) )?(?:dónde|cuándo|qué|quién(?:es)?|cuál(?:es)?|cómo|cuánt[oa]s?) ',
  String.raw`^GREETING(?:(?:(?:a|con|da|di|in|per) )?(?:dove|come|chi|quale|quali|quant[oaie]|che cosa|cosa) (?:è|sono|era|si|devo|posso|ho|abbiamo)|quando è|qual è|perché)\b`,
  String.raw`^GREETING(?:(?:a|com|de|em|para) )?(?:onde|quando|quem|qual|quais|como|o que|quant[oa]s?) (?:é|são|era|está|estão|fica|foi|devo|se chama)\b`,
  String.raw`^GREETING(?:(?:aan|bij|in|met|op|van|voor) )?(?:waar|wanneer|wie|wat|welke?|hoe|waarom|hoeveel) (?:\p{L}+ )?(?:is|zijn|was|waren|heb|heeft|had|moet|woon|werk|heet|heten|staat|ligt)\b`,
  String.raw`^GREETING(?:czy |(?:gdzie|kiedy|kto|co|jak|ile|jak[ai]\p{L}*|któr\p{L}+) (?:\p{L}+ )?(?:jest|są|był\p{L}*|mam|mamy|ma|się|mieszkam|pracuję)\b)`,
  String.raw`^GREETING(?:(?:где|куда|откуда|почему|зачем|сколько|чей|чья|куди|звідки|чому|скільки|чий|чия) (?!(?:я|мы|ми)\b)|как(?:ой|ая|ое|ие) |як(?:ий|а|е|і) |(?:от|у|с|к|о|для|від|з|про) (?:кого|кем|ком|кому|чего|чем|ким|чого) |(?:как|кто|что|як|хто|що) (?:зовут|звати|называется|такое|у меня|мой|моя|моё|мій)\b|(?:когда|коли) (?:у меня|у мене|мой|моя|моё|день|мій)\b|де (?:мій|моя|моє|я)\b)`,
  String.raw`^GREETING(?:var|när|vem|vad|vilke[nt]|hur|varför|hvor|hvornår|hvem|hvad|hva|hvilke[nt]|hvordan|når) (?:\p{L}+ )?(?:är|er|har|hade|heter|hedder|bor|jobbar|ska|skal|gör)\b`,
  String.raw`^(?:nerede|ne zaman|hangi|kaç|nasıl|neden) |\s(?:nerede|nerde|kim|ne zaman|kaç|hangisi|m[ıiuü](?:y[ıiuü][mz]|s[ıiuü]n|yd[ıiuü])?)$`,
  '^(?:请问)?(?:谁|誰|哪|什[么麼]|怎[么麼]|为什么|為什麼|几点|多少)|(?:吗|嗎|呢|在哪里?|在哪儿|是什[么麼]|是[谁誰]|叫什[么麼]|多少|几点|什[么麼]时候)。?$',
  '(?:(?:です|ます|でした|ました|でしょう)か|だっけ|(?:どこ|いつ|誰|だれ|何|なに|いくつ|いくら)(?:だ|です|だった|かな|なの)?)。?$',
  '(?:(?:입니|습니|ㅂ니|을|일)까요?|[었았였있없]나요|[인은던]가요|(?:뭐|어디|언제|누구|얼마|몇)(?:이?야|지|였지|예요|이에요)?)$',
  '^(?:أين|متى|ماذا|كيف|كم|هل|لماذا|ما (?:هو|هي|اسم)|من (?:هو|هي)) ',
  String.raw`^(?:क्या|कहाँ|कहां|कब|कौन|कैसे|कितन\S*|क्यों) |(?:कहाँ|कहां|कब|क्या|कौन) (?:है|हैं|था|थी|थे)$`,
  String.raw`^(?:πού|πότε|ποιος|ποια|ποιο|πώς|πόσ\p{L}*|τι) `,
].map(
  (source) =>
    new RegExp(
      source
        .replaceAll('GREETING', '(?:(?:hi|hey|hello|ok|so|and|hallo|salut|hola|ciao|olá|hoi|cześć|привет|hej)[,!]? )?')
        .replaceAll(String.raw`\b`, String.raw`(?![\p{L}\p{M}])`),
      'iu',
    ),
)
