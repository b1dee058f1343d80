/**
 * Whether the author asks not to keep what they say: "off the record", "don't remember this". Said of others or of the past
 * ("I don't remember this place", "the interview was off the record") it is no such wish: a clause counts that orders it, or
 * that says nothing else. In a long text, such as one with a document, it is read at the beginning and at the end.
 */
export function isOffTheRecord(text: string): boolean {
  const read = text.length <= 2 * readAtEnds ? text : `${text.slice(0, readAtEnds)}\n${text.slice(-readAtEnds)}`
  const said = clausesOf(read)
  const whole = said.join('\n')
  return wishes.some(([hint, ...clauses]) => {
    if (!hint.test(whole)) return false
    const pattern = patternOf(hint, clauses)
    return said.some((clause) => pattern.test(clause))
  })
}

/** Characters. */
const readAtEnds = 2_000

/** Clauses in lower case, without the marks between them. */
function clausesOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      .replace(/[’‘ʼ`]/g, "'")
      // A comma before such a conjunction parts no wish from what is wished.
      .replace(/, (?=(?:dass|że(?:by\p{L}*)?|чтобы|що|щоб|aby\p{L}*) )/gu, ' ')
      .split(/[.!?;:,…()[\]{}\n–—"“”„«»¡¿。，、！？：；｡]| -+ /)
      .map((clause) => clause.trim().replace(/\s+/g, ' '))
      .filter((clause) => clause !== '')
  )
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

/** Words before a wish, in all languages. */
const lead = [
  'please|pls|but|and|so|ok|okay|hey|oh|well|also|just|bitte|aber|und|nur|dann|mais|et|alors|donc|por favor|pero|y|oye|per favore',
  "s'il (?:te|vous) plaît|stp|svp|ti prego|ma|e|mas|alsjeblieft|maar|en|dus|proszę|ale|пожалуйста|но|а|и|только|будь ласка|lütfen",
  'ama|ve|snälla|men|och|og|vær så snill|prosím|tak|제발|부디|lieber|mejor|meglio|melhor|liever|lepiej|лучше|краще|helst|raději|radši|better|i ask you|ich bitte dich|te pido que|ti chiedo di|peço(?:-te)? que|ik vraag je(?: om)?|prosím tě|прошу(?: тебя)?|jag ber dig att|rica ederim|strictly|ściśle|čistě|strikt|alleen|solo|sólo|só',
].join('|')

/** The end of a wish: that of its clause, also behind a word of courtesy, or the beginning of what it is about. */
const end = `(?=(?: (?:${[
  "please|pls|ok|okay|bitte|ja|s'il (?:te|vous) plaît|stp|svp|por favor|vale|per favore|alsjeblieft|graag|hoor|proszę|пожалуйста",
  'lütfen|snälla|tack|tak|takk|prosím|at all|either',
].join('|')}))*(?:$| (?:${[
  "but|because|and (?:i|we|my)|since|i (?:am|was|have|had|do|did|hate|love|think|just|will|can)|i'm|i've|we|my|aber|weil|denn|ich|wir|mein|mais|car|j'ai|pero|porque|ma|perché|mas",
  'maar|want|ik|ale|bo|но|потому|я|men|jag|jeg|protože',
].join('|')})(?!\\S)))`

/** Words of such wishes, each language behind letters that all of them hold: how clauses begin that order not to keep something, or that say only that it is confidential. */
const wishes: readonly (readonly [hint: RegExp, ...clauses: string[]])[] = [
  // English
  [
    /n't|not|never|dont|between|off[ -]the|confiden|forget|secret|keep|out of/,
    String.raw`(?:not to|(?:do not|don't|dont|never)(?: (?:you|please|ever|even|bother to|have to|need to))*|you (?:do not|don't|dont|needn't|need not|must not|mustn't|should not|shouldn't)(?: (?:need|have) to)?|(?:there is |there's )?no need (?:for you )?to|i(?:'d| would)? (?:rather|prefer(?: that| if| it if)?|like it if|appreciate it if) you (?:did not|didn't|do not|don't|not)|i (?:do not|don't) want you to|make sure (?:that )?you (?:do not|don't)|(?:can|could) you (?:please )?not) (?:remember|memori[sz]e|store|save|record|keep|log|retain|note|write|jot|put|add|hold on to|hang on to|commit)(?: down)?(?: (?:(?:any(?:thing)? (?:of|about|in) )?(?:this|that|it|these)(?: (?:one|message|conversation|chat|turn|part|bit|sentence|line|info|information|detail|fact|secret|story|down|anywhere|for later|(?:in|into|to) (?:your |the |any )?(?:memory|memories|mind|records?|notes|logs?|profile)))*END|that (?:i|i'm|i've|i'll|we|my|our|he|she)(?!\S)|what (?:i|i'm|i'll|follows|comes|you)(?!\S)|any(?:thing)? (?:of what |that |what )?i(?!\S)|(?:the (?:following|next|rest)|my (?:next|last))(?!\S))|END)`,
    String.raw`(?:(?:(?:all |everything |what )?(?:this(?: message| chat| conversation)?|that|it|i(?: am about to)? (?:say|said|tell you|write))(?: now| here)?)(?: is|'s| stays| should stay| must stay| remains| has to stay)? |keep (?:this|that|it) |(?:i(?:'m|'ll| am| will| want to| must| have to| can)?|let me|can i|may i) (?:tell|telling|say|saying|speak|speaking|confess|admit|share)(?: you)?(?: (?:this|that|something|it))? |strictly |completely |totally |only |just )*(?:off[ -]the[ -]record|between (?:us|ourselves|you and (?:me|i)|the two of us)|in (?:strict |total )?confidence|(?:confidential|not for (?:the record|your memory|your records)|our (?:little )?secret))END|(?:nothing|none) of (?:this|that) (?:goes|belongs|should go|may go|gets) (?:in|into|to) (?:your )?(?:memory|records?|notes)|(?:leave|keep) (?:this|that|it) out of (?:your )?(?:memory|mind|records?|notes)|not to be (?:remembered|stored|saved|kept|recorded|memori[sz]ed)END|off[ -]the[ -]record (?!player|shop|store|is\b|was\b)|just between (?:us|you and me)(?!\S)|forget (?:(?:that |what )?i (?:just |ever |am about to |'m about to )?(?:said|say|told|tell|wrote|mentioned)(?: you)?(?: this| that| it| anything)?|this(?: message| conversation| part| again)?)END`,
  ],
  // German
  [
    /nicht|unter uns|zwischen|vertrau|inoffiziell|vergiss/,
    String.raw`(?:merke?|speicher[en]?|behalte?|notiere?|vermerke?|schreibe?|präge?)(?: (?:sie|dir|sich|bitte|jetzt|mal|das|dies|es|hier|alles|diese \S+|was ich (?:\S+ )?(?:sage|schreibe|erzähle)))+ nicht(?: (?:ab|auf|ein|im gedächtnis|in (?:de[nm]|dein\S*) (?:gedächtnis|speicher)))?END|(?:merk|speicher|notier)e?(?: dir)? nichts (?:davon|von dem)|ich (?:will|möchte) nicht dass du (?:dir )?(?:das|dies|es) .{0,20}(?:merkst|speicherst|behältst|notierst)`,
    String.raw`(?:das |dies |es |das hier |diese nachricht )?(?:(?:du|das) (?:sollst|musst|brauchst|darfst|solltest)(?: du)? |bitte |lieber |dir |das |es |auch )*nicht (?:zu )?(?:merken|speichern|abspeichern|behalten|notieren|aufschreiben|festhalten)END`,
    String.raw`(?:das |dies |es |bleibt |bleiben |muss |soll |ist |nur |ganz |mal |alles )*(?:unter uns(?: gesagt| beiden| bleiben)?|zwischen (?:dir und mir|uns(?: beiden)?))END|(?:ganz |streng |mal )*(?:im vertrauen(?: gesagt)?|vertraulich|inoffiziell|nicht für (?:dein gedächtnis|das protokoll))END|vergiss (?:bitte )?(?:(?:das|dies|es)(?: hier| bitte)? )?(?:bitte |gleich |sofort |danach )*wiederEND|vergiss (?:das|dies|diese \S+) ?(?:hier)?END`,
  ],
  // French
  [
    /ne |n'|pas|entre|officieu|confiden|micro|oublie/,
    String.raw`(?:n'en |ne )garde[sz]? (?:pas|aucune) (?:de )?trace|à ne (?:pas|jamais) (?:mémoriser|retenir|enregistrer|noter)END|je (?:ne (?:veux|voudrais|souhaite) pas|préfère|préférerais) que tu (?:ne |n')?(?:te |t'en |le |l')?(?:retiennes|mémorises|gardes|enregistres|notes|souviennes) `,
    String.raw`(?:tu |vous )?(?:ne |n')(?:te |vous |t'en |vous en |l'|le |la |les |en )?(?:souviens|souvenez|rappelle|rappelez|retiens|retenez|mémorise[sz]?|garde[sz]?|enregistre[sz]?|note[sz]?|sauvegarde[sz]?|stocke[sz]?|conserve[sz]?) pas(?: (?:de )?(?:ça|cela|ceci|ce (?:que|qui|message|texte)|cette (?:conversation|info\S*|phrase)|que (?:je|mon|ma|mes)|que j'\S+|en mémoire|dans (?:ta|votre) mémoire)(?!\S)|END)`,
    String.raw`(?:merci de |prière de |il ne faut |il vaut mieux |tu (?:ne )?dois |tu n'as |inutile de |pas la peine de |pas )*(?:(?:ne )?(?:pas|rien) )?(?:besoin )?(?:de |d')?(?:le |la |l')?(?:retenir|mémoriser|enregistrer|noter|te souvenir de)(?<=\bpas .*|rien .*|inutile .*) (?:ça|cela|ceci|ce |cette )`,
    String.raw`(?:que |juste |strictement |tout |ça |cela |ceci |c'est |reste |restera |doit |rester |soit )*entre (?:nous|toi et moi|vous et moi)END|officieusementEND|(?:en )?confiden(?:ce|tiel|tiellement)END|hors microEND|oublie[sz]? (?:tout de suite |aussitôt )?ce que je (?:viens de|vais) `,
  ],
  // Spanish
  [
    /(?:^|\s)no |entre|extraoficial|confi|salga/,
    String.raw`(?:(?:esto|eso|este mensaje) )?(?:no (?:quiero|hace falta|es necesario|necesitas|tienes)(?: que)?|(?:quiero|prefiero|preferiría|me gustaría) que no|no) (?:te lo |lo |la |te |se )?(?:recuerdes?|recordar(?:lo)?|acuerdes?|memorices?|memorizar(?:lo)?|guardes?|guardar(?:lo)?|anotes?|registres?|apuntes?|grabes?|almacenes?|retengas?|conserves?)(?: (?:de )?(?:esto|eso|este mensaje|esta (?:conversación|información)|lo que|nada de|que no quede (?:registrado|grabado|constancia)|que (?:yo|mi|estoy|tengo|soy|he)|en (?:tu |la )?memoria)(?!\S)|END)`,
    String.raw`(?:que |esto |eso |todo |lo dicho |debe |solo |sólo |se |es |queda |quede |quedar |dicho |aquí )*entre (?:nosotros(?: dos)?|tú y yo|tu y yo)END|extraoficial(?:mente)?END|en confianzaEND|confidencial(?:mente)?END|que (?:esto |eso )?no salga de aquíEND`,
  ],
  // Italian
  [
    /non |tra |fra |uffici|confiden|dimentica/,
    String.raw`(?:(?:questo|ciò|questa \S+) )?(?:prefer(?:isco|irei) (?:che )?(?:tu )?)?non (?:(?:voglio|serve|occorre|devi|importa|è necessario|c'è bisogno)(?: che| di)? )?(?:tu )?(?:lo |la |ti )?(?:prendere nota|(?:ricord|memorizz|salv|registr|annot|segn|conserv)(?:i|assi)|(?:ricordar|memorizzar|salvar|registrar|annotar|segnar|conservar|archiviar|tener)(?:e|ti|si|lo|la|telo|celo|ne|tene)?)(?: a mente)?(?: (?:di |nulla di |niente di )?(?:questo|questa|ciò|tutto (?:ciò|questo)|quello che|quanto|che (?:io|sono|ho|mi[ao])|(?:in|nella) (?:tua )?memoria)(?!\S)|END)`,
    String.raw`(?:che |questo |ciò |tutto |la cosa |solo |deve |detto |rimane |rimanga |resti |resta |restare |rimanere |sia )*(?:tra|fra) (?:noi(?: due)?|me e te|te e me)END|in via (?:ufficiosa|confidenziale)END|ufficiosamenteEND|(?:in )?confiden(?:za|ziale)END|dimentica (?:subito )?questoEND`,
  ],
  // Portuguese
  [
    /não|entre|em off|mente|segredo|confid|esque/,
    String.raw`(?:(?:isto|isso) )?(?:não quero que|(?:prefiro|preferia) que não|não) (?:o |a |te |se )?(?:tomes? nota|(?:lembr|memoriz|guard|grav|registr?|anot|salv|armazen|apont)es?|(?:precisas?|tens|é (?:preciso|necessário))(?: de| que)? (?:(?:lembr|memoriz|guard|grav|registr?|anot|salv)ar)(?:-te|-se)?)(?: (?:(?:nada )?d?(?:isto|isso|est[ea]|o que|aquilo)|nada do|que (?:eu|estou|o meu|a minha)|na (?:tua |sua )?memória)(?!\S)|END)`,
    String.raw`(?:que |isto |isso |fica |fique |ficar |só |apenas |aqui |cá |muito |tem de |dito |é )*entre (?:nós(?: dois)?|mim e ti|você e eu|eu e você|tu e eu)END|em offEND|(?:extraoficial|oficiosa|confidencial)menteEND|(?:em )?(?:segredo|confidência|confidencial)END|esque(?:ce|ça) (?:isto|isso) (?:já|logo|a seguir)END`,
  ],
  // Dutch
  [
    /niet|onder ons|tussen|vertrouw|onofficieel|vergeet/,
    String.raw`(?:onthoud|bewaar|noteer|registreer|sla|schrijf) (?:(?:dit|dat|het|deze \S+|wat ik (?:\S+ )?(?:zeg|schrijf))(?: (?:bericht|gesprek|alsjeblieft|maar|hier))* niet|niets hiervan|hier niets van)(?: (?:op|bij|in je geheugen))*END`,
    String.raw`ik (?:wil|heb) (?:niet|liever) dat (?:je|u) (?:dit|dat|het)(?: niet)? (?:onthoudt|bewaart|opslaat|noteert|opschrijft)|(?:(?:dit|dat|het|je|u) )?(?:(?:hoef|hoeft|moet|mag)(?: je| u| jij)?(?: dit| dat| het)? )?(?:alsjeblieft |graag |maar |liever )*niet (?:te )?(?:onthouden|bewaren|opslaan|noteren|opschrijven)END`,
    String.raw`(?:dit |dat |het |alles |blijft |moet |blijven |is |even |strikt |puur )*(?:onder ons(?: gezegd| blijven)?|tussen (?:ons|jou en mij|ons gezegd))END|in vertrouwenEND|vertrouwelijkEND|onofficieelEND|vergeet (?:dit|dat)(?: maar)? (?:meteen|gelijk|direct|zo) weerEND`,
  ],
  // Polish
  [
    /(?:^|\s)nie|między|poufn|zaufani|tajemni|zapomnij/,
    String.raw`(?:(?:tego|tej \S+|tych \S+) )?nie (?:(?:zapamiętuj|zapamiętaj|zapisuj|zapisz|zachowuj|zachowaj|notuj|pamiętaj|przechowuj)(?:cie)?|(?:(?:musisz|trzeba|powinieneś|powinnaś|należy) )?(?:tego )?(?:pamiętać|zapamiętywać|zapisywać|zachowywać|notować))(?: sobie)?(?: (?:tego|o tym|tej|tych|niczego|nic z tego|co|że|w pamięci)(?!\S)|END)`,
    String.raw`(?:nie chcę|wolał(?:a)?bym|proszę) żebyś? (?:to |tego |sobie |nie )*(?:zapamięt|zapis|zachow|notow|pamięt)`,
    String.raw`(?:to |niech |zostaje |zostanie |pozostanie |zostać |ma |musi |jest |tylko |tak |no )*między (?:nami(?: mówiąc)?|tobą a mną|mną a tobą)END|(?:w zaufaniu|nieoficjalnie|poufne|poufnie|w tajemnicy)END|zapomnij (?:o tym|to) (?:zaraz|od razu|natychmiast)END`,
  ],
  // Russian and Ukrainian
  [
    /не|между|між|секрет|конф|забудь/,
    String.raw`(?:(?:это(?:го)?|эт(?:от|и|у) \S+|тебе|це|цього) )*не (?:(?:надо|нужно|стоит|обязательно|следует|треба|потрібно) )?(?:это |этого |це |цього )?(?:запоминай|запомни|запоминать|сохраняй|сохранять|записывай|записывать|помни|помнить|храни|запам'ятовуй|запам'ятовувати|зберігай|зберігати|записуй|записувати)(?:те)?(?: (?:этого|это|эт(?:от|у|и)|ничего из|нічого з|то|в память|в памяти|что я|це|цього|цю|цей|у пам'яті|що я)(?!\S)|END)`,
    String.raw`(?:я )?(?:не )?(?:хочу|хотел(?:а)? бы|прошу) (?:чтобы|щоб) (?:ты|вы|ти|ви) (?:это |этого |це |цього |не )*(?:запомин|запомн|сохран|записыв|помни|запам|зберіг|запис)(?<=(?:^| )не .*)`,
    String.raw`(?:пусть |это |всё |все |только |строго |чисто |сугубо |останется |остаётся |остается |должно |остаться |будет |нехай |хай |це |залишиться |лише |тільки )*(?:между (?:нами(?: говоря)?|мной и тобой|тобой и мной)|між нами(?: кажучи)?)END|не для (?:протокол[ау]|записи|запису)END|(?:неофициально|неофіційно|по секрету|конфиденциально|конфіденційно)END|забудь(?:те)? (?:сразу )?(?:это|то|це)(?: сразу(?: же)?)?END`,
  ],
  // Swedish, Danish, Norwegian
  [
    /inte|ikke|mell[ae]|mellom|fficiel|offisiel|förtro|fortro|protokoll|gl[öe]m/,
    String.raw`jag vill (?:inte|ikke) att du (?:minns|sparar|kommer ihåg|lagrar|antecknar|lägger)|jeg vil ikke(?: have)?,? at du (?:husker|lagrer|gemmer|noterer)|(?:(?:du )?(?:behöver|ska|får|måste|trenger|behøver|skal|må) )?(?:(?:kom|komma) (?:inte|ikke) ihåg|(?:minns|minnas|spara|lagra|anteckna|skriv|memorera|registrera|notera|lägg|husk|gem|lagre|noter|skriv) (?:inte|ikke)|(?:inte|ikke) (?:å |at )?(?:komma ihåg|minnas|spara|lagra|anteckna|huske?|lagre|gemm?e?|notere?))(?: (?:det här|detta|det|dette|den här|denne|denna|inget av det(?:ta| här)?|vad jag|hva jeg|hvad jeg|att jag|at jeg)(?: (?:här|her|her|ner|upp|ned|på minnet|meddelande\S*|samtal\S*|i minnet))*END|END)`,
    String.raw`(?:det här |det |detta |dette |her |stannar |bliver |blir |ska |stanna |håll |bara |helt )*(?:mellan (?:oss(?: sagt| två)?|dig och mig)|mellem (?:os|dig og mig)|mellom (?:oss|deg og meg))END|(?:inofficiellt|uofficielt|uoffisielt|i förtroende|i fortrolighe[dt]|utanför protokollet)END|(?:glöm|glem) (?:det här|detta|det her|dette)(?: direkt| genast| sen| sedan| straks| igen| igjen| med en gång)*END`,
  ],
  // Turkish
  [
    /bun(?:u|lar)|şun(?:u|lar)|(?:^|\s)bu |söyle|aramızda|kayıt|gayri|gizli/,
    String.raw`(?:sakın )?(?:bun(?:u|ları|ların hiçbirini)|şun(?:u|ları)|bu \S+|söyle\S+)(?: \S+){0,2} (?:hatırla|kaydet|tut|yaz|sakla|et|al|ezberle)m(?:[ae](?:y[ıi]n(?:[ıi]z)?|n[ae] gerek yok|n[ıi] istemiyorum)?|[ae]sen(?: \S+)*)END|bunu (?:hemen )?unut(?:un)?END`,
    String.raw`(?:bu |bunlar |söz |laf |tamamen |sadece )*aramızda(?: kalsın| kalacak| kalmalı)?END|(?:kayıt dışı|gayriresmi(?: olarak)?|gizli kalsın)END`,
  ],
  // Czech
  [
    /pamat|uklád|ulož|zapi[sš]|zaznam|uchov|mezi|mimo|důvěr|neofi|zapomeň/,
    String.raw`(?:nechci|nechtěl(?:a)? bych|nepřeji si) aby(?:s|ste)? (?:sis? |si |to |tohle )*(?:za)?(?:pamatoval|ukládal|zapisoval|uložil|zapsal)|(?:(?:si|to|tohle|toto|tu(?:to|hle) \S+) )*(?:ne(?:pamatuj|zapamatuj|ukládej|ulož|zapisuj|zapiš|zaznamenávej|uchovávej)(?:te)?|nemusíš (?:si )?(?:to |tohle )?(?:za)?(?:pamatovat|ukládat))(?: si)?(?: (?:to|tohle|toto|tuto|tuhle|tenhle|tento|nic z toho|co|že|do paměti|v paměti)(?!\S)|END)`,
    String.raw`(?:ať |to |tohle |toto |zůstane |zůstává |zůstat |musí |jen |jenom |pouze )*mezi (?:námi(?: řečeno| dvěma)?|tebou a mnou|mnou a tebou)END|(?:neoficiálně|mimo záznam|důvěrn[ěé])END|zapomeň (?:to|tohle)(?: hned)?END`,
  ],
  // Chinese, Japanese, Korean
  [
    /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/,
    '(?:请|請|麻烦|最好|拜托|拜託)?你?(?:我?(?:不想|不希望|不愿意?)[让讓]?你|把?(?:这|這|那|以下|下面|刚才|剛才|接下来|接下來|我[说說要])[^忘]{0,12}?你?(?:都|就|也)?(?:不要|不用|不必|不需要|别|別|请勿|勿)|(?:不要|不用|不必|不需要|别|別|请勿|請勿|勿)(?:把?(?:这|這|它|我|以下|下面)[^忘]{0,10}?)(?=[记記保存储写寫留])|(?:不要|不用|不必|不需要|别|別|请勿|請勿|勿)(?=[记記保存储][住录錄下存]?(?:下?来)?(?:这|這|它|我|以下|本|在|到|了|哦|啊|$)))(?:帮我|给我|再)?(?:记|記|保存|储存|存|写进|写入|留)(?!错|錯|恨|仇)',
    '(?:我)?私下(?:里)?(?:说|說|跟你|告诉)|.{0,6}(?:不要|别|別|请勿)(?:外传|外傳|说出去|說出去)|.{0,6}(?:只有|就)?(?:你我|咱俩|咱们俩|我们俩|我們倆|我们之间|咱们之间)(?:之间|之間)?(?:知道|说|說|的秘密)?$|.{0,4}(?:保密|是秘密)$',
    '(?:お願い(?:だから)?|どうか|できれば)?(?:(?:これ|どれも|何も|それ|この|今|いま|さっき|以下|次|ここ|私の|メモリ|記憶)[^忘]{0,20}?)?(?:覚え|記憶し|記録し|保存し|メモし|残さ)(?:な(?:いで|いように|くてい|くて良|くても|くて大丈夫)|て(?:い)?(?:て)?ほしくな)|覚える必要(?:は|も|が)?[なあ]|(?:これ|それ|この|今|いま|さっき)[^忘]{0,12}忘れて(?!い|し|な|た|る)|(?:これは|あくまで)?(?:オフレコ|ここだけの|内緒(?:だ|の|です|に)|秘密(?:だ|です|にし))|(?:これは)?(?:二人|ふたり|私たち)だけの(?:秘密|話)',
    '(?:(?:아무것도|이건|이걸|이거|이것|이 |지금|방금|다음|앞으로|내가|제가|여기).{0,20}?)?(?:기억|저장|기록|메모)(?:하지|에 남기지|에 두지)? ?(?:마|말|않아도|않았으면|않는 ?게|안 ?해도)|(?:이건|이걸|이거|이 [^ ]+)? ?(?:기억|저장|기록|메모)할 필요(?:는|가)? ?없|(?:이건|이거|이 |방금|지금).{0,15}잊어 ?(?:줘|주|버려)|(?:이건 )?(?:오프 ?더 ?레코드|우리끼리|비밀(?:인데|이야|이에요|로 해)|우리 둘만)',
  ],
  // Arabic and Hindi
  [
    /[\u0600-\u06ff\u0900-\u097f]/,
    '(?:من فضلك )?لا (?:تتذكر|تحفظ|تسجل) (?:هذا|هذه)|(?:هذا |ليبق |يبقى )*بيني وبينك(?: فقط)?END|(?:कृपया )?(?:इसे|यह|ये|इस बात को)(?: [^ ]+){0,2} (?:याद मत|सेव मत|मत याद|याद न)',
  ],
]

/** By their hints. */
const compiled = new Map<RegExp, RegExp>()

/** The pattern of one language, made when a text first hints at it: all of them would take a tenth of a second. */
function patternOf(hint: RegExp, clauses: readonly string[]): RegExp {
  const known = compiled.get(hint)
  if (known) return known
  const pattern = new RegExp(`^(?:(?:${lead}) )*(?:${clauses.join('|').replaceAll('END', end)})`)
  compiled.set(hint, pattern)
  return pattern
}

/** A request begins with its verb, in some languages ends with it, and names its target. */
const requests: readonly RegExp[] = [
  String.raw`^PLEASE(?:forget|(?:delete|remove|erase)(?= (?:what|everything|all|my .* from)))(?: about)? (?<target>(?:my|our|what (?:i|you)|everything|all (?:that )?(?:i|you)|that (?:i|my|we|our))(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:forget|delete|remove|erase) (?:(?:everything|all|what i said|what you know) )?about (?!(?:it|this|that)(?!\p{L}))(?<target>.+)$`,
  String.raw`^PLEASE(?:vergiss|vergessen sie|lösch|lösche|löschen sie),? (?:bitte )?(?<target>(?:mein\p{L}*|unser\p{L}*|dass (?:ich|mein\p{L}*|wir)|was ich|alles)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:oublie[sz]?|efface[sz]?|supprime[sz]?) (?<target>(?:mon|ma|mes|notre|nos|que|ce que|tout ce que)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:olvida|olvide|olvídate de|borra|borre|elimina) (?<target>(?:mis?|nuestr\p{L}*|que|lo que|todo lo que)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:dimentica(?:ti d[ei]l?l?[ae]?)?|dimentichi|cancella|elimina) (?<target>(?:(?:(?:il|la|i|le) )?(?:mi\p{L}+|nostr\p{L}+)|mi[oa]|che|quello che|ciò che|tutto quello che)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:esquece|esqueça|apaga|apague|exclua) (?<target>(?:(?:o |a |os |as )?(?:meu|minha|meus|minhas|nosso|nossa)|que|o que|tudo o que)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:vergeet|wis|verwijder) (?<target>(?:mijn|onze|ons|dat (?:ik|mijn)|wat ik|alles wat)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:zapomnij|usuń|skasuj) (?<target>(?:o |że |to, co |m(?:o\p{L}+|ój) |wszystko).+)$`,
  String.raw`^PLEASE(?:zapomeň|smaž|vymaž) (?<target>(?:na |o |že |vše(?:chno)?,? |co jsem |m(?:ůj|é|ou|oje|oji|ých?) ).+)$`,
  String.raw`^PLEASE(?:забудь|забудьте|удали|удалите|видали|видаліть) (?<target>(?:про|обо?|о|что|що|то, что|вс[её]|все|мо\p{L}+|мій|мою)(?!\p{L}).+)$`,
  String.raw`^PLEASE(?:glöm|glem|radera|slet|slett) (?<target>(?:min|mitt|mina|mit|mine|att jag|at jeg|det jag|det jeg|hvad jeg|hva jeg|allt|alt)(?!\p{L}).+)$`,
  String.raw`^(?:lütfen )?(?<target>\S.{1,150}) (?:unut(?:un|ur musun)?|sil(?:in|er misin)?)(?: lütfen)?[.!?]?$`,
  '^(?:请|請)?(?:忘记|忘記|忘掉|忘了|删除|刪除)(?<target>(?:我|关于|關於).+)$',
  '^(?<target>.{1,150})(?:を|は|のこと)忘れて(?:ください|下さい|ね|くれ)?[。！]?$',
  '^(?<target>.{1,150}) ?잊어(?:버려)? ?(?:줘요?|주세요)[.!]?$',
  '^(?:من فضلك )?(?:انس|انسَ|احذف) (?<target>.+)$',
  '^(?:कृपया )?(?<target>.{1,150}) भूल जा(?:ओ|इए|ना)[।.!]?$',
].map(
  (source) =>
    new RegExp(
      source.replace(
        'PLEASE',
        `(?:(?:please|pls|can you|could you|i want you to|i(?: would|['’]d) like you to|bitte|s['’]il te plaît|por favor|per favore|alsjeblieft|proszę|пожалуйста|будь ласка|snälla),? )?`,
      ),
      'iu',
    ),
)
