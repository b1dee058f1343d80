/**
 * Whether the author asks not to keep what they say: "off the record", "don't remember this". Said of others or of the past
 * ("I don't remember this place") it is no such wish.
 */
export function isOffTheRecord(text: string): boolean {
  return offTheRecord.some((pattern) => pattern.test(text))
}

/** What the author asks to forget, as "my birthday" in "Please forget my birthday"; undefined for any other text. */
export function forgetRequest(text: string): string | undefined {
  const sentence = text.trim()
  if (sentence.length > longestRequest || /[.!?。！？]\s*\S/u.test(sentence)) return undefined
  for (const pattern of requests) {
    const target = pattern.exec(sentence)?.groups?.['target']
    if (target !== undefined) return target.replace(/(?<![\s.!?。！？])[\s.!?。！？]+$/u, '')
  }
  return undefined
}

/** Characters of a request to forget: a longer text says something as well. */
const longestRequest = 200

const start = String.raw`(?:^|[.!?;:,(\n–—-]\s?|please |pls |but |and |so )`

const offTheRecord: readonly RegExp[] = [
  // English
  String.raw`(?<!\p{L})(?:off[ -]the[ -]record|(?:this (?:stays|is)|keep (?:this|it)|just) between (?:us|you and me)|not for (?:the record|your memory))(?!\p{L})`,
  String.raw`${start}(?:do not|don['’]?t|never) (?:you )?(?:remember|memori[sz]e|store|save|record|keep|log|retain) (?:this|that|it|any(?:thing)?|what i)(?! (?:in the|place|time|well|there|as)\b)(?!\p{L})`,
  String.raw`${start}(?:do not|don['’]?t|never) (?:add|write|put|keep|save|store) (?:this|that|it|any of this) (?:in|into|to) (?:your |the )?(?:memory|memories|mind|record|notes)(?!\p{L})`,
  `${start}forget (?:that )?(?:what )?i (?:just |ever )?(?:said|told|wrote|mentioned)(?: you)?(?: this| that| it)?(?:[.!,]|$)`,
  // German
  String.raw`${start}(?:merk|merke|merken sie|behalt|behalte|speicher|speichere|notier|notiere) (?:dir |sich )?(?:das|dies|es)(?: hier)?(?: bitte)? nicht(?!\p{L})|(?<!\p{L})(?:unter uns gesagt|bleibt unter uns|nicht (?:merken|speichern)|vergiss (?:das|es) (?:gleich )?wieder)(?!\p{L})`,
  // French
  String.raw`(?<!\p{L})(?:ne (?:retien[sz]?|retenez|mémorise[sz]?|garde[sz]?|enregistre[sz]?|note[sz]?) pas (?:ça|cela|ceci)|ne t['’]en souviens pas|ça reste entre nous|entre nous)(?!\p{L})`,
  // Spanish
  String.raw`(?<!\p{L})(?:no (?:recuerdes|memorices|guardes|anotes|registres) (?:esto|eso)|extraoficialmente|(?:que )?(?:esto )?quede entre nosotros|entre nosotros)(?!\p{L})`,
  // Italian
  String.raw`(?<!\p{L})(?:non (?:ricordare|memorizzare|salvare|registrare|annotare|ricordarti) (?:questo|ciò|quello che)|resti tra noi|che resti fra noi|detto tra noi)(?!\p{L})`,
  // Portuguese
  String.raw`(?<!\p{L})(?:não (?:te lembres d|se lembre d|memorize[s]? |guarde[s]? |grave[s]? |registre[s]? |anote[s]? )(?:isto|isso)|(?:que )?fica entre nós|em off)(?!\p{L})`,
  // Dutch
  String.raw`(?<!\p{L})(?:(?:onthoud|bewaar|noteer) (?:dit|dat)(?: alsjeblieft)? niet|dit blijft onder ons|onder ons gezegd)(?!\p{L})`,
  // Polish
  String.raw`(?<!\p{L})(?:nie (?:zapamiętuj|zapisuj|zachowuj|zapamiętaj) teg[o]|niech to zostanie między nami|to zostaje między nami|między nami mówiąc)(?!\p{L})`,
  // Russian and Ukrainian
  String.raw`(?<!\p{L})(?:не (?:запоминай|запоминайте|сохраняй|сохраняйте|записывай|записывайте) (?:это|этого)|не для протокола|(?:это )?между нами|не (?:запам['’ʼ]ятовуй|зберігай|записуй)(?:те)? (?:це|цього)|не для протоколу|між нами)(?!\p{L})`,
  // Swedish, Danish, Norwegian
  String.raw`(?<!\p{L})(?:(?:kom inte ihåg|spara inte|husk ikke|gem ikke|lagre ikke|ikke husk|ikke lagre) (?:det här|detta|det|dette)|(?:det här )?stannar mellan oss|mellan oss sagt|(?:det )?bliver mellem os|(?:det )?blir mellom oss)(?!\p{L})`,
  // Turkish
  String.raw`(?<!\p{L})(?:bunu (?:hatırlama|kaydetme|aklında tutma|saklama|not etme)(?:yın|yin)?|aramızda kalsın|kayıt dışı)(?!\p{L})`,
  // Chinese, Japanese, Korean
  '(?:不要|别|別|请勿|請勿)(?:记住|記住|记|記|记录|記錄|保存|存)(?:这|這|它|我说|我說)|(?:这|這)(?:件事|个|個|句话|句話)?(?:不要|别|別)(?:记|記|保存|存)|私下(?:说|說)|不要外传',
  '(?:これ|このこと|今の話|この話)(?:は|を)(?:覚え|記憶し|記録し|保存し)ない(?:で|よう)|オフレコ|ここだけの話',
  '(?:이건|이거|이것은|이것을|이 말은|이 얘기는) ?(?:기억하지|저장하지|기록하지) ?(?:마|말)|오프 ?더 ?레코드|우리끼리 (?:얘기|이야기)|비밀로 해',
  // Arabic and Hindi
  'لا تتذكر هذا|لا تحفظ هذا|لا تسجل هذا|بيني وبينك|(?:इसे|यह|ये) (?:याद मत|सेव मत|मत याद)',
].map((source) => new RegExp(source.replaceAll(String.raw`\b`, String.raw`(?!\p{L})`), 'iu'))

/** A request begins with its verb, in some languages ends with it, and names its target. */
const requests: readonly RegExp[] = [
  String.raw`^PLEASE(?:forget|(?:delete|remove|erase)(?= (?:what|everything|all|my .* from)))(?: about)? (?<target>(?:my|our|what (?:i|you)|everything|all (?:that )?(?:i|you)|that (?:i|my|we|our))(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:forget|delete|remove|erase) (?:(?:everything|all|what i said|what you know) )?about (?!(?:it|this|that)(?!\p{L}))(?<target>.+)$`,
  String.raw`^PLEASE(?:vergiss|vergessen sie|lösch|lösche|löschen sie),? (?:bitte )?(?<target>(?:mein\p{L}*|unser\p{L}*|dass (?:ich|mein\p{L}*|wir)|was ich|alles)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:oublie[sz]?|efface[sz]?|supprime[sz]?) (?<target>(?:mon|ma|mes|notre|nos|que|ce que|tout ce que)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:olvida|olvide|olvídate de|borra|borre|elimina) (?<target>(?:mis?|nuestr\p{L}*|que|lo que|todo lo que)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:dimentica|dimentichi|cancella|elimina) (?<target>(?:(?:il|la|i|le) (?:mi\p{L}+|nostr\p{L}+)|mi[oa]|che|quello che|ciò che|tutto quello che)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:esquece|esqueça|apaga|apague|exclua) (?<target>(?:(?:o |a |os |as )?(?:meu|minha|meus|minhas|nosso|nossa)|que|o que|tudo o que)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:vergeet|wis|verwijder) (?<target>(?:mijn|onze|ons|dat (?:ik|mijn)|wat ik|alles wat)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:zapomnij|usuń|skasuj) (?<target>(?:o |że |to, co |mo\p{L}+ |wszystko).+)$`,
  String.raw`^PLEASE(?:забудь|забудьте|удали|удалите|видали|видаліть) (?<target>(?:про|обо?|о|что|що|то, что|вс[её]|все|мо\p{L}+|мій|мою)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:glöm|glem|radera|slet|slett) (?<target>(?:min|mitt|mina|mit|mine|att jag|at jeg|det jag|det jeg|hvad jeg|hva jeg|allt|alt)(?!\p{L}).+)$`,
  String.raw`^(?:lütfen )?(?<target>\S.{1,150}) (?:unut|sil)(?:un|in)?(?: lütfen)?[.!]?$`,
  '^(?:请|請)?(?:忘记|忘記|忘掉|忘了|删除|刪除)(?<target>(?:我|关于|關於).+)$',
  '^(?<target>.{1,150})(?:を|は|のこと)忘れて(?:ください|下さい|ね|くれ)?[。！]?$',
  '^(?<target>.{1,150}) ?잊어 ?(?:줘요?|주세요|버려)[.!]?$',
  '^(?:من فضلك )?(?:انس|انسَ|احذف) (?<target>.+)$',
  '^(?:कृपया )?(?<target>.{1,150}) भूल जा(?:ओ|इए|ना)[।.!]?$',
].map(
  (source) =>
    new RegExp(
      source.replace(
        'PLEASE',
        `(?:(?:please|pls|can you|could you|bitte|s['’]il te plaît|por favor|per favore|alsjeblieft|proszę|пожалуйста|будь ласка|snälla),? )?`,
      ),
      'iu',
    ),
)
