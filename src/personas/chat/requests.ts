/**
 * Whether a text does no more than tell the model to make something: "Translate this: …", "Gib mir drei Ideen". A text that
 * also says something about its author, or how to treat them from now on, is more than that.
 */
export function isRequest(text: string): boolean {
  const start = text.trim().replace(greeting, '')
  if (standing.test(start)) return false
  if (
    !beginnings.some((pattern) => pattern.test(start)) &&
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

const object =
  '(?:me|us|a|an|the|this|that|these|those|it|my|our|your|some|any|all|each|every|another|how|why|what|which|who|when|where|\\d+|one|two|three|four|five|six|seven|eight|nine|ten|twenty)'
const things =
  '(?:this|these|that|it|the (?:following|text|code|above|attached|grammar|spelling|error|bug|function|script|query|sentence|paragraph)|my (?:text|code|essay|letter|e-?mail|cv|resume|cover letter|draft|function|script|grammar|spelling|sentence|paragraph|query))'
const products =
  '(?:names?|ideas?|suggestions?|synonyms?|examples?|titles?|slogans?|captions?|jokes?|riddles?|alternatives?|summary|translation|poem|limerick|haiku|outline|cover letter|list|table|essay|story|plan|paragraph|e-?mail|letter|speech|script|function|recipe|quiz|checklist|template|comparison|overview|explanation)'

/** How requests begin; the patterns see a text without its greeting. */
const beginnings: readonly RegExp[] = [
  // English
  String.raw`(?:please |pls |kindly )?(?:re-?write|write|rephrase|reword|paraphrase|translate|summari[sz]e|proofread|shorten|compose|explain|describe|outline|compare|list|suggest|recommend|draft) (?:${object}\b|["“'‘(:]|(?:in|into|to|from|with|between|out|up|down|as)\b)`,
  String.raw`(?:please |pls |kindly )?(?:re-?write|translate|paraphrase|rephrase|reword|summari[sz]e|explain|proofread|brainstorm|calculate|compute|refactor|implement)\b`,
  String.raw`(?:please |pls |kindly )?(?:create|generate|design|invent|code|program) (?:me|us|a|an|some|\d+|two|three|four|five|six|ten)\b`,
  String.raw`(?:please |pls |kindly )?(?:give|tell|show|teach|find|help|make|walk|draw|sing) (?:me|us)\b`,
  String.raw`(?:please |pls |kindly )?make (?:${things}|them) (?:more|less|sound|into|a\b|an\b|shorter|longer|simpler|\p{L}+er\b)`,
  String.raw`(?:please |pls |kindly )?make (?:a|an|the) (?:\p{L}+ )?${products}\b`,
  String.raw`(?:please |pls |kindly )?(?:review|improve|correct|check|fix|format|edit|update|complete|finish|optimi[sz]e|debug|convert|turn|analy[sz]e|test|simplify|continue|solve|expand|answer) ${things}\b`,
  "(?:please |pls )?(?:act as|pretend|imagine you|role-?play|let['’]s (?:play|pretend))",
  String.raw`(?:can|could|would|will) (?:you|u) (?:please |kindly |also |just |quickly )?(?!be\b|not\b|stop\b|keep\b|believe\b|imagine\b)\p{L}+`,
  "i (?:want|need|would like|[’']?d like) you to ",
  String.raw`i(?:['’]d| would) like (?:to (?:see|have|get) )?(?:a|an|some|the|\d+|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of) (?:\p{L}+ ){0,2}${products}\b`,
  String.raw`i (?:need|want) (?:a|an|some|\d+|two|three|four|five|six|ten|a few) (?:\p{L}+ ){0,2}(?:synonyms?|suggestions?|slogans?|captions?|limerick|haiku|summary|translation|ideas) (?:for|of|about|on)\b`,
  // German
  String.raw`(?:bitte )?(?:schreib|übersetz|formulier|korrigier|erklär|erstell|generier|vergleich|kürz|verbesser|beschreib|entwirf|fass|lies|überprüf|analysier|such|empfiehl|liste)(?:e|en sie)? (?:mir|uns|ein|eine|einen|das|den|die|der|dies\p{L}*|folgend\p{L}*|auf|bitte|mal|mein\p{L}*|alle|drei|zwei|fünf|["„“«»‚]|\d)`,
  String.raw`(?:bitte )?(?:gib|geben sie|nenn|nenne|nennen sie|mach|mache|machen sie|zeig|zeige|zeigen sie|hilf|helfen sie|sag|erzähl|erzähle) (?:mir|uns)\b`,
  '(?:bitte )?(?:mach|mache) (?:daraus|es|das|eine? (?:liste|tabelle|zusammenfassung))',
  String.raw`(?:kannst du|könntest du|können sie|könnten sie|würdest du|würden sie)\b`,
  // French
  String.raw`(?:(?:s[’']il (?:te|vous) pla[iî]t|stp|svp),? )?(?:écri[st]|écrivez|rédige[zr]?|traduis|traduisez|résume[z]?|explique[z]?|corrige[z]?|reformule[z]?|génère[z]?|générez|crée[z]?|compare[z]?|liste[z]?|propose[z]?|calcule[z]?|raccourcis|décri[st]|décrivez|améliore[z]?)(?:-(?:moi|nous))? (?!que\b)`,
  String.raw`(?:donne|donnez|fais|faites|montre|montrez|aide|aidez|dis|dites|trouve|trouvez|raconte|racontez)-(?:moi|nous)\b`,
  String.raw`(?:(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|tu peux|vous pouvez)\b`,
  // Spanish
  String.raw`(?:por favor,? )?(?:escr[ií]be|redacta|traduce|tradúce|resume|resúme|explica|explíca|corrige|reformula|genera|crea|compara|enumera|propón|calcula|acorta|describe|mejora|haz)(?:me|nos|lo|la)? (?:un|una|unos|unas|el|la|los|las|este|esta|esto|estos|al|en|mi|tres|cinco|cómo|qué|por|["«“:]|\d)`,
  String.raw`(?:por favor,? )?(?:dame|danos|hazme|haznos|muéstrame|ayúdame|dime|cuéntame|tradúceme|explícame|resúmeme|escríbeme)\b`,
  String.raw`¿?(?:puedes|podrías|puede usted|podría usted)\b`,
  // Italian
  String.raw`(?:per favore,? )?(?:scrivi|traduci|riassumi|spiega|correggi|riformula|genera|crea|confronta|elenca|proponi|calcola|accorcia|descrivi|migliora)(?:mi|ci|lo|la)? (?:un|uno|una|il|lo|la|i|gli|le|quest\p{L}*|in|al|mi[ao]|tre|cinque|come|che|perché|["«“:]|\d)`,
  String.raw`(?:per favore,? )?(?:dammi|dacci|fammi|mostrami|aiutami|dimmi|raccontami|spiegami|scrivimi|traducimi)\b`,
  String.raw`(?:puoi|potresti|può|potrebbe)\b`,
  // Portuguese
  String.raw`(?:por favor,? )?(?:escrev[ea]|redija|traduz[a]?|resum[ea]|expli(?:ca|que)|corri(?:ge|ja)|reformul[ea]|ger[ea]|cri[ea]|compar[ea]|list[ea]|sugi?ra|calcul[ea]|encurt[ea]|descrev[ea]|melhor[ea]|faz|faça)(?:-me|-nos)? (?:um|uma|uns|umas|o|a|os|as|est[ea]s?|isto|isso|ao|em|para|meu|minha|três|cinco|como|por|["«“:]|\d)`,
  String.raw`(?:por favor,? )?(?:dá-me|me (?:dê|dá|mostre|ajude|diga|explique|conte)|mostra-me|ajuda-me|diz-me|faz-me|explica-me)\b`,
  String.raw`(?:podes|poderias|pode|poderia|você pode|você poderia)\b`,
  // Dutch
  String.raw`(?:graag |alsjeblieft )?(?:schrijf|vertaal|herschrijf|corrigeer|verbeter|genereer|vergelijk|beschrijf|vat|leg|noem|bedenk|geef|maak|toon|help|vertel) (?:me|mij|ons|een|het|de|dit|deze|dat|die|drie|vijf|\d|["“:])`,
  String.raw`(?:kun|kan|zou|wil) (?:je|jij|u)\b`,
  // Polish
  String.raw`(?:proszę,? )?(?:napisz|przetłumacz|streść|podsumuj|wyjaśnij|wytłumacz|podaj|przeredaguj|wygeneruj|stwórz|porównaj|wymień|zaproponuj|oblicz|skróć|opisz|popraw)(?:cie)?(?![\p{L}])`,
  String.raw`(?:proszę,? )?(?:daj|zrób|pokaż|pomóż|powiedz|opowiedz) (?:mi|nam)(?![\p{L}])`,
  String.raw`(?:czy )?(?:możesz|mógłbyś|mogłabyś|może pan|może pani)(?![\p{L}])`,
  // Russian and Ukrainian
  String.raw`(?:пожалуйста,? )?(?:напиши|переведи|перепиши|перефразируй|резюмируй|изложи|объясни|расскажи|исправь|сгенерируй|создай|сравни|перечисли|предложи|посчитай|вычисли|сократи|составь|придумай|опиши|улучши|переклади|поясни|виправ|склади|порівняй|перелічи)(?:те)?(?![\p{L}])`,
  String.raw`(?:пожалуйста,? )?(?:дай|сделай|покажи|помоги|скажи|подскажи|допоможи)(?:те)? (?:мне|нам|мені)(?![\p{L}])`,
  String.raw`(?:можешь|можете|мог(?:ла)? бы ты|не могли бы|могли бы вы|можеш|чи можеш)(?![\p{L}])`,
  // Swedish, Danish, Norwegian
  String.raw`(?:skriv|översätt|oversæt|oversett|sammanfatta|opsummer|oppsummer|förklara|forklar|ge mig|giv mig|gi meg|visa mig|vis mig|vis meg|hjälp mig|hjælp mig|hjelp meg|föreslå|foreslå) (?:\p{L}|["“:])`,
  String.raw`(?:kan|kunne|skulle) du\b`,
  // Chinese
  '(?:请|請|麻烦|麻煩|劳驾)(?:你|您)?(?:帮|幫|给|給|为|為|把|将|用|写|寫|翻译|翻譯|总结|總結|概括|解释|解釋|列出|列举|生成|创建|修改|改写|润色|推荐|介绍|比较|计算|设计|编写|起草|告诉|说明|分析|检查)',
  '(?:帮我|幫我|给我|給我|替我)(?:把|写|寫|翻|总|概|解|列|生|创|修|改|润|推|介|比|算|计|设|编|起|想|找|做|讲|查|看|出)',
  String.raw`(?:翻译|翻譯|总结|總結|概括|解释|解釋|列出|列举|改写|润色|介绍|说明)(?:一下|这|這|下面|以下|成|为|：|:|“|「|一|几|三|五|\d)`,
  String.raw`(?:写|寫|起草|编写)(?:一|个|首|篇|段|封|份|几|三|五|\d)`,
  '把[^。！？]{1,200}(?:翻译|翻譯|改成|改写|改寫|总结|缩短|润色)',
  '(?:你)?(?:能不能|可不可以|能否|可以|能)(?:请)?(?:帮我|给我|为我|解释|翻译|写|告诉)',
  // Arabic
  String.raw`(?:من فضلك )?(?:اكتب|ترجم|لخص|اشرح|أعطني|اعطني|ساعدني|صحح|قارن|اقترح)(?![\p{L}])`,
].map((source) => new RegExp(`^(?:${source.replaceAll('\\b', '(?![\\p{L}\\p{M}])')})`, 'iu'))

/** The endings of requests, in languages with the verb last. */
const endings: readonly RegExp[] = [
  /(?:書いて|翻訳して|訳して|要約して|まとめて|説明して|教えて|作って|作成して|直して|添削して|考えて|リストアップして|挙げて|比較して|計算して|見せて|提案して)(?:ください|下さい|くれ(?:ますか|ませんか|る)?|ほしい(?:です)?|欲しい(?:です)?|もらえますか|いただけますか)?[。！!？?\s]*$/u,
  /(?:써|적어|작성해|번역해|요약해|정리해|설명해|알려|만들어|고쳐|추천해|비교해|계산해|보여|다듬어|바꿔|지어|제안해)\s?(?:줘요?|주세요|주실래요|줄래요?|주시겠어요|주십시오)[.!?\s]*$/u,
  /(?:^|\s)(?:yaz|çevir|özetle|açıkla|düzelt|listele|anlat|öner|karşılaştır|hesapla|oluştur|hazırla)(?:ın|in|un|ün|ınız|iniz|ar mısın|er misin|ır mısın|ir misin|abilir misin|ebilir misin|r mısın|r misin)?(?:\s+lütfen)?[.!?\s]*$/iu,
]
