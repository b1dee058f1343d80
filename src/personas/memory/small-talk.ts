import { isFunctionWord, plain, unified, wordsOf } from './ranking-terms.ts'

/** The longest small talk: words. A longer text counts as a statement, also with words of small talk alone. */
const mostWords = 10

/**
 * Whether a text is nothing but thanks, greetings, assent, laughter, or a wish about the last answer ("shorter please"):
 * each of its words is one of those lists, or an English function word.
 */
export function isSmallTalk(text: string): boolean {
  const letters = unified(text).replace(/[^\p{L}\p{M}\p{N}]+/gu, '')
  if (letters === '') return true
  if (unspacedTalk.test(letters.toLowerCase())) return true
  if (thanksForTheAnswer.test(text.trim()) && text.length <= 120 && !firstPerson.test(text)) return true
  const words = wordsOf(text).map(plain)
  return (
    words.length <= mostWords && words.every((word) => talk.has(word) || isFunctionWord(word) || laughter.test(word))
  )
}

/** Laughter of any length, in the spellings of several languages. */
const laughter =
  /^(?:(?:ha|he|hi|ja|je|ah|eh|ха|хе)+h?|a*(?:ha){2,}|l+o+l+|lmf?ao+|rofl|xd+|k{3,}|(?:rs){2,}|mdr+|ptdr|[ㅋㅎᄏᄒ]+|w{2,}|h?m+|u+h+|o+h+|a+h+|wo+w+)$/u

/** "Thanks, that worked …": the thanks, and their reason. */
const thanksForTheAnswer =
  /^(?:thanks?(?: you| a lot| so much)*|thx|cheers|great|perfect|danke(?: dir| schön)?|merci|gracias|grazie|obrigad[oa]|bedankt|dzięki|спасибо|tack)[,.!\s]+(?:that|it|this|das|es|ça|cela|eso|esto|questo|isso|dat|to|это|det)(?:['’]s| is| was| has| ist| hat| est| a| è| ha)?\s*(?:now\s+)?(?:work|help|did|fix|solv|perfect|great|exactly|what|geklappt|geholfen|funktion|marche|fonctionn|aid|funcion|sirv|ayud|hilft|passt|werkt|helpt|działa|помог|работа|hjälp|fungerar)/iu

const firstPerson =
  /(?:^|[^\p{L}])(?:i|i['’]m|my|me|we|our|ich|mein\p{L}*|je|mon|ma|mes|yo|mi|mis|io|mio|mia|eu|meu|minha|ik|mijn|я|мой|моя|мы)(?![\p{L}])/iu

/**
 * Chinese, Japanese and Korean: such texts are matched as a whole, without their spaces and punctuation. The first that fits
 * at a place is taken for good, so a beginning of another stands behind it: with a choice, a long laugh would take for ever.
 */
const unspacedTalk = new RegExp(
  `^(?:(?=(${[
    '谢谢|多谢|感谢|谢了|谢啦|谢謝|謝謝|感謝|你好|您好|嗨|好的|好吧|嗯|哦|噢|是的|对的|没错|不是|不用|不客气|没事|没问题|可以|行|明白了?|知道了?|懂了',
    '哈|呵|嘿|再见|拜拜|早上好|晚上好|早安|晚安|太好了|太棒了|很好|不错|完美|厉害|继续|请继续|再来一次|再来|短一点|简短一点|简单一点|长一点|详细一点|短点|简单点|了解(?:です|しました)?|请|你|您|了|啦|吧|啊|呀|的|非常|很|再|一次|更|谢|好|是|对|對|不',
    'ありがとう(?:ございます|ございました)?|どうも|こんにちは|こんばんは|おはよう(?:ございます)?|おやすみ(?:なさい)?|はい|うん|ええ|いいえ|いや|わかりました|わかった|分かりました',
    'オッケー|おk|ok|さようなら|またね|すごい|最高|完璧|いいね|いいです|なるほど|笑|草|もっと|短く|簡単に|長く|詳しく|もう一度|続けて|お願い(?:します)?|ください|してください|して|です|ね|よ',
    '감사(?:합니다|해요)|고마워요?|고맙습니다|안녕(?:하세요|히계세요)?|네|예|응|아니[요오]?|좋아요?|좋습니다|좋네요|알겠(?:습니다|어요)|알았어요?|오케이|[ㅋㅎᄏᄒ]|잘가요?|더|짧게|길게|간단하게|쉽게|자세히|다시|한번',
    '계속|해줘|해주세요|부탁(?:해요|합니다|드려요)?|정말|너무|완벽(?:해요)?|최고(?:예요|네요)?',
  ].join('|')}))\\1)+$`,
  'u',
)

/** Words that carry no fact, by language. */
const talk: ReadonlySet<string> = new Set(
  [
    // English
    `hi hello hey hiya thanks thank thx ty tysm cheers ok okay okey k kk yes yeah yep yup no nope nah sure great good nice
     cool awesome amazing perfect excellent wonderful fantastic brilliant lovely super fine alright right correct exactly
     true bye goodbye cya later please pls plz sorry welcome morning evening afternoon night again shorter longer simpler
     clearer better slower faster briefer short long simple brief continue proceed next stop wait retry go repeat elaborate
     another different detail details detailed works worked working helps helped got understood gotcha see lot appreciated
     problem worries interesting funny indeed agreed done try makes make sense concise version explain rephrase rewrite
     noted remember glad know anything else need help feel free ask assist like well hehehe yay ugh oops damn omg btw idk nvm np yw`,
    // German
    `hallo moin servus danke dankeschön dank vielen herzlichen bitte ja jo jep nein ne nee doch klar genau gut super toll
     prima klasse perfekt okay stimmt richtig alles verstanden tschüss bis später bald guten tag abend nacht gern gerne
     kürzer länger einfacher ausführlicher nochmal nochmals noch mal einmal weiter mehr anders besser sehr das ist es so
     wunderbar ausgezeichnet hilft geholfen passt schön und dir ihnen etwas bisschen`,
    // French
    `bonjour salut coucou bonsoir merci beaucoup bien oui ouais non daccord d accord c est parfait super génial top excellent bravo au
     revoir bientôt plus court courte long longue simple encore stp svp sil te vous plaît continue suite de rien très cest
     ça marche compris exact une fois`,
    // Spanish
    `hola gracias muchas mil sí no vale claro perfecto genial bien muy bueno buena buenos buenas días tardes noches adiós
     hasta luego pronto por favor más corto corta largo larga simple sencillo otra vez sigue continúa de nada eso es
     entendido exacto tanto`,
    // Italian
    `ciao grazie mille tante sì va bene perfetto ottimo bello bravo certo esatto capito buongiorno buonasera buonanotte
     arrivederci prego per favore più breve corto corta lungo semplice ancora continua di nulla molto`,
    // Portuguese
    `olá oi obrigado obrigada muito sim não claro certo perfeito ótimo ótima legal beleza bom boa tarde noite tchau adeus
     até logo por favor mais curto curta longo simples de novo outra vez continua valeu entendi isso nada`,
    // Dutch
    `hoi dag bedankt dank dankjewel je u wel ja nee prima goed mooi leuk perfect oké klopt precies snap doei tot ziens
     graag alsjeblieft alstublieft korter langer eenvoudiger nog een keer verder meer heel erg`,
    // Polish
    `cześć hej witaj dzień dobry dobranoc dzięki dziękuję bardzo proszę tak nie jasne pewnie dobrze dobra świetnie idealnie
     okej spoko rozumiem pa do widzenia krócej krótsze dłużej prościej jeszcze raz dalej więcej`,
    // Russian and Ukrainian
    `привет здравствуй здравствуйте спасибо большое огромное благодарю пожалуйста да нет ага угу хорошо ладно окей ок
     отлично супер класс круто понятно понял поняла ясно пока до свидания доброе утро добрый день вечер спокойной ночи
     короче длиннее проще подробнее ещё раз дальше продолжай больше не за что очень лол привіт дякую так ні добре гаразд
     чудово будь ласка зрозуміло бувай коротше ще`,
    // Swedish, Danish, Norwegian
    `hejsan tack så mycket nej okej bra jättebra toppen precis snälla kortare längre enklare igen mer fortsätt hejdå tak
     takk mange nei fint kortere igjen mere`,
    // Turkish
    `merhaba selam teşekkürler teşekkür ederim sağol evet hayır tamam peki güzel harika mükemmel lütfen daha kısa uzun
     basit tekrar devam anladım görüşürüz hoşça kal günaydın iyi geceler çok`,
    // Czech, Finnish, Romanian, Hungarian
    `děkuji díky ano dobře prosím kratší kiitos joo kyllä ei hyvä selvä mulțumesc mersi bine köszönöm köszi igen nem jó
     rendben rövidebben`,
    // Arabic and Hindi
    `شكرا شكرًا جزيلا نعم لا حسنا تمام مرحبا السلام عليكم ممتاز رائع مع السلامة من فضلك أقصر धन्यवाद शुक्रिया हाँ हां नहीं ठीक है
     अच्छा नमस्ते`,
  ]
    .join(' ')
    .split(/\s+/)
    .map((word) => plain(word.toLowerCase())),
)
