/** Characters of a message beyond which it is a document rather than talk: its sentences are no rules of its author. */
const longestTalk = 2_000

/** Characters of the longest sentence that becomes a line. */
const longestSentence = 300

/**
 * The sentences of a message that are its author's own words and state something: without attached files, code, quoted lines and
 * quotations, and without questions, suppositions and doubts. None for a long message.
 */
export function ownSentences(message: string): readonly string[] {
  const own = withoutFiles(message)
    .replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/gu, '\n')
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('>'))
    .join('\n')
  if (own.length > longestTalk) return []
  return own
    .split(/(?<=[.!?…؟।])\s+|(?<=[。！？])|\n|(?<=[;；])\s*/u)
    .map((sentence) => sentence.trim())
    .filter(
      (sentence) =>
        sentence !== '' &&
        sentence.length <= longestSentence &&
        !/[?？؟]\s*$/u.test(sentence) &&
        !/["“”„«»「」『』]/u.test(sentence) &&
        !opensTextOfOthers.test(sentence) &&
        !supposes.test(sentence),
    )
}

/** A message without the files that `aichat chat -f` puts into it, each from `<file …>` to `</file`; one without an end to the end. */
function withoutFiles(message: string): string {
  const pieces = message.split(/<file\b/iu)
  const rest = pieces.slice(1).map((piece) => {
    const end = piece.toLowerCase().indexOf('</file')
    return end < 0 ? '' : piece.slice(piece.indexOf('>', end) + 1)
  })
  return [pieces[0], ...rest].join('\n')
}

/** A colon behind which something stands that is to be worked on or was said by others: "Translate: …", "It says: …". */
const opensTextOfOthers =
  /^[^:：]{0,80}(?:translate|summari[sz]e|proofread|rewrite|says?|said|wrote|writes|reads|übersetze?|sag(?:t|te)|schr(?:ei|ie)bt?|traduis|traduce|traduci|traduz|vertaal|przetłumacz|переведи|переклади|çevir|ترجم|अनुवाद|翻訳|翻译|翻譯)\S*[^:：]{0,40}[:：]/iu

/** Words that begin a supposition, or that make a statement a doubt or a story. */
const supposes =
  /^(?:(?:and|but|so|und|aber|et|mais|y|pero|e|ma|mas|en|maar|i|ale|и|но|а|і|але|ve|ama) )?(?:if|when|whenever|suppose|imagine|pretend|let['’]s say|unless|assuming|wenn|falls|angenommen|stell dir vor|si|imagine|supposons|cuando|imagina|supongamos|se|immagina|supponiamo|quando|imagine|suponha|als|stel|wanneer|jeśli|jeżeli|gdyby|gdy|wyobraź|если|когда|представь|якщо|коли|уяви|eğer|diyelim|farz|إذا|لو|تخيل|अगर|यदि|मान लो|もし|如果|假如|假设|要是)(?![\p{L}\p{M}])|^(?:もし|如果|假如|假设|要是)|(?<![\p{L}\p{M}])(?:maybe|perhaps|might|wonder|whether|not sure|I think I may|vielleicht|ob ich|peut-être|quizás?|tal vez|forse|talvez|misschien|może|chyba|может быть|возможно|можливо|belki|ربما|शायद)(?![\p{L}\p{M}])|かもしれ|かな$|也许|可能|或许/iu
