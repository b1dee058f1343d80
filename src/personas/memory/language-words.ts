/**
 * Words that tell little, of each language that a search knows, as `plain` writes them: without capitals and
 * diacritics. Lists of function words are a common means of telling languages apart (Grefenstette, "Comparing two
 * language identification schemes", 1995) and of leaving the words of every text out of queries.
 */
interface LanguageWords {
  /** Articles, pronouns, prepositions, auxiliary verbs: left out of queries. */
  readonly functions: ReadonlySet<string>
  /** Words of requests and questions, such as "explain" and "name": they count a quarter. */
  readonly weak: ReadonlySet<string>
  /** Words for the speaker, such as "my" and "we": a query with one asks about the user. */
  readonly self: ReadonlySet<string>
  /** Those of them that stand before a verb as its subject, or as its object where it is reflexive: "I work". */
  readonly subjects: ReadonlySet<string>
}

/** ISO 639-1 codes. */
export type Language = keyof typeof lists

/** Languages that are written without spaces between words, or with particles that join them. */
export type UnspacedLanguage = 'zh' | 'ja' | 'ko'

const lists = {
  en: {
    functions: `
      a about above after again against all also am an and any are arent as at be because been before being
      below between both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during
      each either else even ever every few for from further get gets getting got had hadnt has hasnt have havent
      having he hed hell her here hers herself hes him himself his how i id if ill im in into is isnt it its
      itself ive just let lets lot many may me might more most much must my myself neither no nor not now of off
      on once one only onto or other our ours ourselves out over own per quite rather really same shall she shed
      shes should shouldnt so some such than that thats the their theirs them themselves then there theres these
      they theyd theyll theyre theyve this those through to too toward towards under until up upon us very was
      wasnt we wed well were werent weve what whats when where which while who whom whos whose why will with
      within without wont would wouldnt yes yet you youd youll your youre yours yourself yourselves youve`,
    weak: `
      actually again answer anyone anything best between call create currently date day describe difference
      exactly explain find first five give good happen hello help hey hi just kind know last like list long make
      many mean means minus much name names need new number numbers old people plan please pls plus question
      quick quickly recommend remember remind say sentence short show someone something sort suggest tell ten
      thanks thing things think time times today tomorrow translate two type use used want way word words write
      year yesterday`,
    self: `
      i id ill im ive me mine my myself our ours ourselves us we wed weve`,
    subjects: 'i we',
  },
  de: {
    functions: `
      aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist
      da damit dann das dass dasselbe dein deine deinem deinen deiner dem den denn der des dich die dies diese
      diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer
      eure fur gegen geht gewesen gibt ging hab habe haben hat hatte hatten heisst hier hin hinter ich ihm ihn
      ihnen ihr ihre ihrem ihren ihrer im in ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinem
      keinen keiner konnen konnte machen man mehr mein meine meinem meinen meiner meines mich mir mit muss
      mussen nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich
      sie sind so soll sollen sollte sollten sondern sonst uber um und uns unser unsere unserem unseren unserer
      unter viel vom von vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn
      wer werde werden wie wieder will wir wird wirst wo woher wohin wollen wollte wurde wurden zu zum zur zwar
      zwischen`,
    weak: `
      bitte erklar erklare gib hilf jahr kurz kurzes liste name namen nenn nenne neu neue neuen sag sage schreib
      schreibe tag ubersetze uebersetze unterschied zeig zeit`,
    self: `
      ich mein meine meinem meinen meiner meines mich mir uns unser unsere unserem unseren unserer wir`,
    subjects: 'ich wir',
  },
  fr: {
    functions: `
      a ai aie ait alors appelle as au aucun aujourd aussi autre aux avais avait avant avec avez avoir avons c
      ca car ce ceci cela celle celui ces cet cette chez ci combien comme comment d dans de deja depuis des du
      elle elles en encore entre es est et etaient etais etait etc ete etes etre eu eux faire fait faut fois
      font hors il ils j je jusqu jusque l la le les leur leurs lui m ma mais me meme mes moi moins mon n ne ni
      nos notre nous on ont ou par parce pas peu peut peux plus pour pourquoi qu quand que quel quelle quelles
      quels qui quoi s sa sans se sera ses si sien sommes son sont sous suis sur t ta te tes toi ton tous tout
      toute toutes tres tu un une va vers vont vos votre vous y`,
    weak: `
      aide annee bonjour date difference dis donne ecris explique jour liste mot nom nomme nouveau nouvelle
      temps traduis`,
    self: `
      j je m ma me mes moi mon nos notre nous`,
    subjects: 'je nous',
  },
  es: {
    functions: `
      a al algo algun alguna ante antes aqui asi aun aunque bajo bien cada como con contra cual cuales cuando
      cuanta cuantas cuanto cuantos de del desde donde dos durante e el ella ellas ellos en entre era eran es
      esa ese eso esta estaba estado estamos estan estar este esto estos estoy fue fueron fui ha habia hace
      hacer haces hacia han has hasta hay he hemos la las le les llama lo los mas me mi mia mio mis mucho muy
      nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otro para pero poco por porque puede
      puedo que quien quienes se sea ser si sido siempre sin sobre solo somos son soy su sus tambien te ten
      tenemos tengo ti tiene tienen toda todas todo todos tu tus un una unas uno unos va vamos voy y ya yo`,
    weak: `
      ano ayuda dame dia dime escribe explica explicame fecha lista nombre nueva nuevo palabra tiempo traduce`,
    self: `
      estoy me mi mia mio mis nos nosotros nuestra nuestras nuestro nuestros soy tengo yo`,
    subjects: 'yo nosotros nos',
  },
  it: {
    functions: `
      a ad agli ai al alla alle allo anche ancora avere aveva avevo c che chi chiama ci cio coi col come con
      cosa cui d da dagli dai dal dalla dalle dallo degli dei del dell della delle dello deve devo di dopo dov
      dove e ed era erano essere fa fare fra gia gli ha hai hanno ho i il in io l la le lei li lo loro lui ma me
      mi mia mie miei mio molto ne negli nei nel nella nelle nello no noi non nostra nostre nostri nostro o ogni
      per perche piu po poi prima puo pure qual quale quali quand quando quanta quante quanti quanto quel quella
      quelle quelli quello questa queste questi questo qui se sei sempre senza si sia siamo sono sta stata stato
      stesso su sua sue sugli sui sul sulla suo suoi te ti tra tu tua tuo tutta tutti tutto un una uno va vi voi`,
    weak: `
      aiuta anno breve dammi data dimmi elenca giorno nome nuova nuovo parola scrivi spiega tempo traduci`,
    self: `
      ci ho io me mi mia mie miei mio noi nostra nostre nostri nostro sono`,
    subjects: 'io noi',
  },
  pt: {
    functions: `
      a ao aos aquela aquele aquilo as ate cada chama com como da das de dela dele deles depois do dos e eh ela
      elas ele eles em entre era essa esse esta estao estar estas estava este estes estou eu faz fazer foi foram
      ha isso isto ja la lhe lhes lo mais mas me mesmo meu meus minha minhas muito na nao nas nem no nos nossa
      nossas nosso nossos num numa o onde os ou para pela pelas pelo pelos pode por porque posso quais qual
      quando quanta quantas quanto quantos que quem sao se sem ser sera seu seus so sob sobre sou sua suas
      tambem te tem temos tenho ter teu teve tinha todo todos tu tua um uma umas uns vai vamos voce voces vou`,
    weak: `
      ajuda ano data dia diga diz escreva escreve explica explique lista nome nova novo palavra tempo traduz`,
    self: `
      estou eu me meu meus mim minha minhas nos nossa nossas nosso nossos sou tenho`,
    subjects: 'eu nos',
  },
  nl: {
    functions: `
      aan al alle als altijd ben bent bij dan dat de deze die dit doe doen door dus een en er ga gaat geen had
      hadden heb hebben heeft heet hem het hier hij hoe hoeveel hun ik in is ja je jij jou jouw jullie kan kun
      kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook
      op over te tegen toch toen tot u uit uw van veel voor waar waarom wanneer waren was wat we weer wel welk
      welke werd wie wij wil word worden wordt zal ze zei zelf zich zij zijn zo zonder zou`,
    weak: `
      dag datum geef help jaar leg naam nieuw nieuwe noem schrijf tijd vertaal vertel`,
    self: `
      ik me mij mijn ons onze we wij`,
    subjects: 'ik wij we',
  },
  pl: {
    functions: `
      a aby albo ale az bardzo beda bede bedzie bedziemy bez bo byc byl byla byli bylo bym był była było chce ci
      cie co czego czemu czy czyj czyja czym dla do gdy gdzie go i ich ile im ja jak jaka jaki jakich jakie
      jakiego jakiej jakim jakimi jako je jego jej jemu jest jestem jestesmy juz kiedy kim kogo komu kto ktora
      ktore ktory ktorych ku lub ma maja mam mamy mi mna mnie moga moge moi moim moj moja moje mojego mojej
      mojemu moze mu my na nad nam nami nas nasi nasz nasza nasze naszego naszej nich nie niego niej nim no o od
      on ona one oni ono oraz po pod przed przez przy sa sie skad swoj swoja ta tak takze tam te tego tej ten to
      toba tobie tu twoj ty tych tylko tym u w we wiec wszystko wy z za zas ze zeby`,
    weak: `
      czas data dzien imie krotki napisz nowa nowy podaj pomoz powiedz przetlumacz rok wyjasnij wymien`,
    self: `
      bedziemy ja jestem mam mamy mi mnie moi moim moj moja moje mojego mojej my nam nas nasz nasza nasze
      naszego naszej`,
    subjects: 'ja my',
  },
  ru: {
    functions: `
      а без более бы был была были было быть в вам вас весь во вот все всего всех всю вы где да даже для до его
      ее если есть еще же за зачем здесь зовут и из или им их к как какая какие какого какое какои каком какую
      ко когда кого кому которыи кто куда ли либо меня мне много мнои мое моего моеи моем моему можно мои моим
      моих моя мы на над надо нам нами нас наш наша наше нашего нашеи наши нашу не него нее неи нет ни них но ну
      о об однако он она они оно от откуда очень по под почему при про с сам своего свои свою себя сеичас
      сколько со так также такои там тебя тем то того тоже тои только том ты у уже хотел чего чеи чем через что
      чтобы чье эта эти это этого этои этом этот я`,
    weak: `
      время год даи дата день имя напиши новая новыи объясни переведи перечисли помоги скажи`,
    self: `
      меня мне мнои мое моего моеи моем моему мои моих моя мы нам нас наш наша наше нашего нашеи наши нашу я`,
    subjects: 'я мы',
  },
  sv: {
    functions: `
      alla allt at att av bara blev bli blir da dar de dem den denna deras dess det detta dig din ditt du efter
      eller en er ett for fran ha hade han hans har hej heter hon hur i icke in inga ingen inte ja jag kan kunde
      man manga med mellan men mig min mina mitt mot mycket na nagon nagot nar ni nu och om oss pa sa samma
      sedan sig sin ska skulle som till under upp ut utan vad var vara varfor vart vem vi vid vilka vilken
      vilket vill`,
    weak: `
      ar dag datum forklara ge hjalp lista namn ny nya oversatt saga skriv tid`,
    self: `
      jag mig min mina mitt oss var vara vart vi`,
    subjects: 'jag vi',
  },
  tr: {
    functions: `
      acaba ama bana ben beni benim bir biz bizim bu bunu cok da daha de degil diye en gibi hangi hem her icin
      ile ise kac kadar ki kim kimin mi mu nasil ne neden nerede nereye o olan olarak oldu on onu onun sen senin
      siz su var ve veya ya yok`,
    weak: `
      acikla ad adi gun listele soyle tarih ver yardim yaz yeni yil zaman`,
    self: `
      bana ben beni benim biz bizim`,
    subjects: 'ben biz',
  },
  uk: {
    functions: `
      а або але без би був була були було бути в вам вас весь ви вона вони воно все всі від він де для до е ж же
      з за зі и иого коли котрии куди ли мене мені ми мого моя моє моєі моі міи на над нам нас наш наша наше не
      немає ні об он по при про під скільки так також там те ти то тои тому у хто це цеи ця через чи чии чому що
      щоб я як яка яке якии якого якоі які є і із іх іі`,
    weak: `
      даи дата день допоможи напиши переклади поясни рік скажи час`,
    self: `
      мене мені ми мого моя моє моєі моі міи нам нас наш наша наше я`,
    subjects: 'я ми',
  },
} as const

const languageWords = new Map<string, LanguageWords>(
  Object.entries(lists).map(([language, { functions, weak, self, subjects }]) => [
    language,
    { functions: setOf(functions), weak: setOf(weak), self: setOf(self), subjects: setOf(subjects) },
  ]),
)

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/))
}

const languages = [...languageWords.keys()] as Language[]

/** The languages of each word, as places in `languages`: 1 for a function word, a half for a weak one. */
const languagesOfWord = new Map<string, (readonly [language: number, share: number])[]>()
for (const [at, language] of languages.entries()) {
  const { functions, weak } = languageWords.get(language)!
  for (const word of new Set([...functions, ...weak])) {
    const share = [at, functions.has(word) ? 1 : 0.5] as const
    languagesOfWord.set(word, [...(languagesOfWord.get(word) ?? []), share])
  }
}

const none: LanguageWords = { functions: new Set(), weak: new Set(), self: new Set(), subjects: new Set() }

/** The lists of a language; empty ones for an unknown language. */
export function wordsIn(language: string): LanguageWords {
  return languageWords.get(language) ?? none
}

/**
 * The language of a text: by its script, else the one with the most function words in it, English before others; `ru` for
 * other Cyrillic and `en` for other texts without any.
 * @param words the text's words, as `plain` writes them
 */
export function languageOf(text: string, words: readonly string[]): Language | UnspacedLanguage {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/\p{Script=Han}/u.test(text)) return 'zh'
  const counts = new Float64Array(languages.length)
  for (const word of words) {
    const shares = languagesOfWord.get(word)
    if (shares) for (const [at, share] of shares) counts[at]! += share
  }
  let best = 0
  for (let at = 1; at < counts.length; at++) if (counts[at]! > counts[best]!) best = at
  if (counts[best]! > 0) return languages[best]!
  return /\p{Script=Cyrillic}/u.test(text) ? 'ru' : 'en'
}
