import type { Language, UnspacedLanguage } from './language-words.ts'

/**
 * The words for times of a language: alternatives of a regular expression over words as `plain` writes them, apart by single
 * spaces. Diacritics are taken from the lists where they are compiled.
 */
export interface TimeWords {
  /** The numbers from 1 to 12, and words for a few. */
  readonly numbers: string
  /** The units, in each form. */
  readonly day: string
  readonly week: string
  readonly month: string
  readonly year: string
  readonly weekend: string
  /** Without tonight: a question about a film for tonight does not ask for the memories of today. */
  readonly today: string
  readonly yesterday: string
  readonly dayBefore: string
  readonly tomorrow: string
  /** Adjectives before or behind a unit, a month or a day of the week. */
  readonly last: string
  readonly this: string
  readonly next: string
  /** Phrases with `#`, which stands for a number and a unit: so long ago, and as long as now. */
  readonly ago: string
  readonly recent: string
  /** From January on, apart by spaces; `_` stands for a space. */
  readonly months: string
  /** From Monday on. */
  readonly weekdays: string
  /** Prepositions before a month or a day of the week, without which these words may be others. */
  readonly in: string
  readonly since: string
  readonly before: string
}

export const timeWords: Readonly<Record<Language, TimeWords>> = {
  en: {
    numbers: 'one|an?,two|a couple(?: of)?,three|a few,four,five,six,seven,eight,nine,ten,eleven,twelve',
    day: 'days?',
    week: 'weeks?',
    month: 'months?',
    year: 'years?',
    weekend: 'weekend',
    today: 'today|this morning',
    yesterday: 'yesterday|last night',
    dayBefore: '(?:the )?day before yesterday',
    tomorrow: 'tomorrow',
    last: 'last|past|previous',
    this: 'this|current',
    next: 'next|coming',
    ago: '# ago,# back',
    recent: '(?:last|past|previous) #',
    months:
      'jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)? nov(?:ember)? dec(?:ember)?',
    weekdays: 'monday tuesday wednesday thursday friday saturday sunday',
    in: 'in|on|during|of|early|mid|late',
    since: 'since|after|from',
    before: 'before|until|till',
  },
  de: {
    numbers: 'ein(?:e[mnrs]?)?,zwei,drei|ein paar,vier,fünf,sechs,sieben,acht,neun,zehn,elf,zwölf',
    day: 'tag(?:en?|e?s)?',
    week: 'wochen?',
    month: 'monat(?:en?|e?s)?',
    year: 'jahr(?:en?|e?s)?',
    weekend: 'wochenende',
    today: 'heute(?: (?:morgen|früh|mittag))?',
    yesterday: 'gestern(?: (?:morgen|früh|mittag|abend|nacht))?',
    dayBefore: 'vorgestern',
    tomorrow: '(?<!(?:guten|jeden|diesen|am) )morgen',
    last: '(?:letzte|vergangene|vorige)[mnrs]?',
    this: 'diese[mnrs]?',
    next: '(?:nächste|kommende)[mnrs]?',
    ago: 'vor #',
    recent: '(?:letzten|vergangenen) #',
    months: 'jan(?:uar|ner) februar märz april mai juni juli august september oktober november dezember',
    weekdays: 'montag dienstag mittwoch donnerstag freitag (?:samstag|sonnabend) sonntag',
    in: 'im|am|anfang|mitte|ende',
    since: 'seit|ab',
    before: 'vor|bis',
  },
  fr: {
    numbers: 'une?,deux,trois|quelques,quatre,cinq,six,sept,huit,neuf,dix,onze,douze',
    day: 'jours?',
    week: 'semaines?',
    month: 'mois',
    year: 'ans?|années?',
    weekend: 'week end|weekend',
    today: 'aujourdhui|ce matin',
    yesterday: 'hier(?: soir)?',
    dayBefore: 'avant hier',
    tomorrow: 'demain',
    last: 'derni(?:er|ère)|passée?',
    this: 'ce|cet|cette',
    next: 'prochaine?',
    ago: 'il y a #',
    recent: 'derniers #,dernières #',
    months: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
    weekdays: 'lundi mardi mercredi jeudi vendredi samedi dimanche',
    in: 'en|le|de|début|fin|mi|au mois de',
    since: 'depuis',
    before: 'avant|jusquen',
  },
  es: {
    numbers: 'un[oa]?,dos|un par de,tres|un[oa]s,cuatro,cinco,seis,siete,ocho,nueve,diez,once,doce',
    day: 'días?',
    week: 'semanas?',
    month: 'mes(?:es)?',
    year: 'años?',
    weekend: 'fin de semana',
    today: 'hoy|esta mañana',
    yesterday: 'ayer|anoche',
    dayBefore: 'anteayer|antes de ayer|antier',
    tomorrow: '(?<!(?:la|esta|una|cada) )mañana',
    last: 'pasad[oa]|últim[oa]',
    this: 'est[ea]',
    next: 'próxim[oa]|que viene',
    ago: 'hace #',
    recent: 'últim[oa]s #',
    months: 'enero febrero marzo abril mayo junio julio agosto sep?tiembre octubre noviembre diciembre',
    weekdays: 'lunes martes miércoles jueves viernes sábado domingo',
    in: 'en|el|de|a (?:principios|mediados|finales) de',
    since: 'desde(?: el)?',
    before: 'antes del?|hasta(?: el)?',
  },
  it: {
    numbers: 'un[oa]?,due|un paio di,tre|qualche,quattro,cinque,sei,sette,otto,nove,dieci,undici,dodici',
    day: 'giorn[oi]',
    week: 'settiman[ae]',
    month: 'mes[ei]',
    year: 'ann[oi]',
    weekend: 'fine settimana|weekend|week end',
    today: 'oggi|stamattina',
    yesterday: 'ieri(?: (?:mattina|sera))?',
    dayBefore: '(?:l )?altro ieri|altroieri|laltroieri',
    tomorrow: 'domani',
    last: 'scors[oa]|passat[oa]|ultim[oa]',
    this: 'quest[oa]?',
    next: 'prossim[oa]',
    ago: '# fa',
    recent: 'ultim[ie] #',
    months: 'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
    weekdays: 'lunedì martedì mercoledì giovedì venerdì sabato domenica',
    in: 'in|a|ad|di|il|nel|inizio|metà|fine',
    since: 'dal?',
    before: 'prima (?:di|del)|fino (?:a|al)',
  },
  pt: {
    numbers: 'uma?,dois|duas,três|uns|umas,quatro,cinco,seis,sete,oito,nove,dez,onze,doze',
    day: 'dias?',
    week: 'semanas?',
    month: 'mês|meses',
    year: 'anos?',
    weekend: '(?:fim|final) de semana',
    today: 'hoje|esta manhã',
    yesterday: 'ontem',
    dayBefore: 'anteontem',
    tomorrow: 'amanhã',
    last: 'passad[oa]|últim[oa]',
    this: '(?:n|d)?es[ts][ea]',
    next: 'próxim[oa]|que vem',
    ago: 'há #,faz #,# atrás',
    recent: 'últim[oa]s #',
    months: 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
    weekdays: 'segunda_feira terça(?:_feira)? quarta_feira quinta_feira sexta_feira sábado domingo',
    in: 'em|na|no|de|início de|meados de|fim de',
    since: 'desde(?: [ao])?',
    before: 'antes d[eao]|até(?: [ao])?',
  },
  nl: {
    numbers: 'een,twee|een paar,drie|enkele,vier,vijf,zes,zeven,acht,negen,tien,elf,twaalf',
    day: 'dag(?:en)?',
    week: 'week|weken',
    month: 'maand(?:en)?',
    year: 'jaar|jaren',
    weekend: 'weekend|weekeinde',
    today: 'vandaag|van(?:morgen|ochtend)',
    yesterday: 'gisteren(?:avond|ochtend)?|vannacht',
    dayBefore: 'eergisteren',
    tomorrow: '(?<!(?:goede|elke) )morgen',
    last: 'vorige?|afgelopen|laatste',
    this: 'deze|dit',
    next: 'volgende?|komende?',
    ago: '# geleden',
    recent: '(?:afgelopen|laatste|voorbije) #',
    months: 'januari februari maart april mei juni juli augustus september oktober november december',
    weekdays: 'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag',
    in: 'in|op|van|begin|half|eind',
    since: 'sinds|vanaf',
    before: 'voor|tot',
  },
  pl: {
    numbers:
      'jed(?:en|n[aąoey]|nego),dw(?:a|ie|óch|u)|parę|paru,trz(?:y|ech)|kilka|kilku,czter(?:y|ech),pię(?:ć|ciu),sześ(?:ć|ciu),siedem|siedmiu,osiem|ośmiu,dziewię(?:ć|ciu),dziesię(?:ć|ciu),jedenaście,dwanaście',
    day: 'dzień|dni[au]?|dniach',
    week: 'tydzień|tygodni(?:e|u|a|ach)?',
    month: 'miesiąc(?:a|e|u|ach)?|miesięcy',
    year: 'rok(?:u|iem)?|lat(?:a|ach)?',
    weekend: 'weekend(?:u|zie)?',
    today: 'dziś|dzisiaj',
    yesterday: 'wczoraj',
    dayBefore: 'przedwczoraj',
    tomorrow: 'jutro',
    last: '(?:zeszł|ubiegł|minion|ostatn|poprzedn)\\p{L}{1,4}',
    this: 'ten|tym|tego|ta|tę',
    next: '(?:przyszł|następn|kolejn)\\p{L}{1,4}',
    ago: '# temu',
    recent: 'ostatni(?:e|ch) #',
    months:
      'stycz(?:eń|nia|niu) lut(?:y|ego|ym) mar(?:zec|ca|cu) kwie(?:cień|tnia|tniu) maj[au]? czerw(?:iec|ca|cu) lip(?:iec|ca|cu) sierp(?:ień|nia|niu) wrze(?:sień|śnia|śniu) październik[au]? listopad(?:a|zie)? grud(?:zień|nia|niu)',
    weekdays: 'poniedział(?:ek|ku) wtor(?:ek|ku) środ[aęy] czwart(?:ek|ku) piąt(?:ek|ku) sobot[aęy] niedziel[aęi]',
    in: 'w|we|na początku|w połowie|pod koniec',
    since: 'od|po',
    before: 'przed|do',
  },
  ru: {
    numbers:
      'од(?:ин|н[аоу]|ного),дв(?:а|е|ух)|пару,тр(?:и|ех)|несколько,четыр(?:е|ех),пят[ьи],шест[ьи],сем[ьи],вос(?:емь|ьми),девят[ьи],десят[ьи],одиннадцать,двенадцать',
    day: 'день|дня|дней|дни|днях',
    week: 'недел[яиюье]',
    month: 'месяц(?:а|ев|е|ы)?',
    year: 'год(?:а|у|ы|ом)?|лет',
    weekend: 'выходн(?:ые|ых|ой)',
    today: 'сегодня',
    yesterday: 'вчера',
    dayBefore: 'позавчера',
    tomorrow: 'завтра',
    last: '(?:прошл|минувш|предыдущ|последн)\\p{L}{2,3}',
    this: 'эт(?:от|а|у|ом|ой|о|и|ого|их)|текущ\\p{L}{2,3}',
    next: '(?:следующ|будущ)\\p{L}{2,3}',
    ago: '#(?: тому)? назад',
    recent: 'последни[ех] #',
    months:
      'январ[ьяею] феврал[ьяею] март[ауе]? апрел[ьяею] ма[йяею] июн[ьяею] июл[ьяею] август[ауе]? сентябр[ьяею] октябр[ьяею] ноябр[ьяею] декабр[ьяею]',
    weekdays: 'понедельник[ау]? вторник[ау]? сред[ауы] четверг[ау]? пятниц[ауы] суббот[ауы] воскресень[ея]',
    in: 'в|во|начале|середине|конце',
    since: 'с|со|от|после',
    before: 'до|перед',
  },
  sv: {
    numbers: 'en|ett,två|ett par,tre|några,fyra,fem,sex,sju,åtta,nio,tio,elva,tolv',
    day: 'dag(?:ar|en)?',
    week: 'veck(?:a|an|or)',
    month: 'månad(?:en|er)?',
    year: 'år(?:et)?',
    weekend: 'helg(?:en)?',
    today: 'i ?dag|imorse',
    yesterday: 'i ?går',
    dayBefore: '(?:i )?förrgår',
    tomorrow: 'i ?morgon',
    last: 'förra|förr|senaste',
    this: 'denna|detta|den här|det här',
    next: 'nästa',
    ago: 'för # (?:sedan|sen)',
    recent: 'senaste #',
    months: 'januari februari mars april maj juni juli augusti september oktober november december',
    weekdays:
      'måndag(?:en|s)? tisdag(?:en|s)? onsdag(?:en|s)? torsdag(?:en|s)? fredag(?:en|s)? lördag(?:en|s)? söndag(?:en|s)?',
    in: 'i|på|under|början av|slutet av',
    since: 'sedan|sen|från|efter',
    before: 'före|innan|till',
  },
  tr: {
    numbers: 'bir,iki,üç|birkaç,dört,beş,altı,yedi,sekiz,dokuz,on,on bir,on iki',
    day: 'gün\\p{L}{0,3}',
    week: 'hafta\\p{L}{0,3}',
    month: 'ay(?:da|dır|ı|ın|lar)?',
    year: '(?:yıl|sene)\\p{L}{0,3}',
    weekend: 'hafta sonu',
    today: 'bugün',
    yesterday: 'dün',
    dayBefore: '(?:evvelsi|önceki) gün',
    tomorrow: 'yarın',
    last: 'geçen|geçtiğimiz|önceki',
    this: 'bu',
    next: 'gelecek|önümüzdeki',
    ago: '# (?:önce|evvel)',
    recent: 'son #',
    months: 'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık',
    weekdays: 'pazartesi salı çarşamba perşembe cuma cumartesi pazar_günü',
    in: '',
    since: '',
    before: '',
  },
  uk: {
    numbers:
      'од(?:ин|н[аоу]|ного),дв(?:а|і|ох)|пару,тр(?:и|ьох)|кілька,чотир(?:и|ьох),пять|пяти,шість|шести,сім|семи,вісім|восьми,девять,десять,одинадцять,дванадцять',
    day: 'день|дня|днів|дні|днях',
    week: 'тиждень|тижн(?:я|і|ів|ю|ем)',
    month: 'місяц(?:ь|я|і|ів)',
    year: 'рік|рок(?:у|и|ів)|році',
    weekend: 'вихідн(?:і|их)',
    today: 'сьогодні',
    yesterday: 'вчора|учора',
    dayBefore: 'позавчора',
    tomorrow: 'завтра',
    last: '(?:минул|попередн|останн)\\p{L}{1,4}',
    this: 'ц(?:ей|я|ього|ьому|ю|ієї|ій)',
    next: '(?:наступн|майбутн)\\p{L}{1,4}',
    ago: '# тому',
    recent: 'останні[хм]? #',
    months:
      'січ(?:ень|ня|ні) лют(?:ий|ого|ому) берез(?:ень|ня|ні) квіт(?:ень|ня|ні) трав(?:ень|ня|ні) черв(?:ень|ня|ні) лип(?:ень|ня|ні) серп(?:ень|ня|ні) верес(?:ень|ня|ні) жовт(?:ень|ня|ні) листопад[аі]? груд(?:ень|ня|ні)',
    weekdays: 'понеділ(?:ок|ка|ку) вівтор(?:ок|ка) серед[ауи] четвер(?:га)? пятниц[яюі] субот[ауи] неділ[яюі]',
    in: 'в|у|на початку|наприкінці',
    since: 'з|із|від|після',
    before: 'до|перед',
  },
}

/** The phrases of a language without spaces between words, or with particles that join them: `#` is a number. */
export interface UnspacedTimeWords {
  readonly numbers: string
  readonly today: string
  readonly yesterday: string
  readonly dayBefore: string
  readonly tomorrow: string
  /** This, last and next, by unit. */
  readonly last: UnspacedUnits
  readonly this: UnspacedUnits
  readonly next: UnspacedUnits
  /** The unit behind a number. */
  readonly units: UnspacedUnits & { readonly day: string }
  readonly ago: string
  readonly recent: string
  /** Behind the number of a year, a month and a day. */
  readonly dates: readonly [year: string, month: string, day: string]
  readonly since: string
  readonly before: string
}

interface UnspacedUnits {
  readonly week: string
  readonly month: string
  readonly year: string
  readonly weekend?: string
}

const chineseWeek = '个?(?:星期|礼拜|周|週|禮拜)'

export const unspacedTimeWords: Readonly<Record<UnspacedLanguage, UnspacedTimeWords>> = {
  zh: {
    numbers: '一,两|二|兩,三|几|幾,四,五,六,七,八,九,十,十一,十二',
    today: '今(?:天|日|早)',
    yesterday: '昨(?:天|日|晚)',
    dayBefore: '前天',
    tomorrow: '明(?:天|日|晚|早)',
    last: { week: `上${chineseWeek}(?!末)`, month: '上(?:个|個)?月', year: '去年', weekend: '上(?:个|個)?周末|上週末' },
    this: {
      week: '(?:这|本|這)(?:个|個)?(?:星期|周|週)(?!末)',
      month: '(?:这|本|這)(?:个|個)?月',
      year: '今年',
      weekend: '(?:这|本|這)(?:个|個)?[周週]末',
    },
    next: { week: `下${chineseWeek}(?!末)`, month: '下(?:个|個)?月', year: '明年', weekend: '下(?:个|個)?[周週]末' },
    units: { day: '天|日', week: '(?:个|個)?(?:星期|礼拜|禮拜)|周|週', month: '(?:个|個)月', year: '年' },
    ago: '#(?:以|之)?前',
    recent: '(?:过去|過去|最近)的?#',
    dates: ['年', '月', '[日号號]'],
    since: '以来|以來|起',
    before: '以前|之前|前',
  },
  ja: {
    numbers: '一,二,三|数,四,五,六,七,八,九,十,十一,十二',
    today: '今日|本日|今朝|きょう',
    yesterday: '昨日|昨夜|昨晩|きのう',
    dayBefore: '一昨日|おととい',
    tomorrow: '明日|あした',
    last: { week: '先週(?!末)', month: '先月', year: '去年|昨年', weekend: '先週末' },
    this: { week: '今週(?!末)', month: '今月', year: '今年|ことし', weekend: '今週末' },
    next: { week: '来週(?!末)', month: '来月', year: '来年', weekend: '来週末' },
    units: { day: '日間?', week: '週間?', month: '[かヶカヵケ箇]月間?', year: '年間?' },
    ago: '#(?:ほど)?前',
    recent: '(?:過去|ここ|直近|この)の?#',
    dates: ['年', '月', '日'],
    since: 'から|以来|以降',
    before: 'まで|以前',
  },
  ko: {
    numbers: '한|일,두|이,세|삼|몇,네|사,다섯|오,여섯|육,일곱|칠,여덟|팔,아홉|구,열|십,열한,열두',
    today: '오늘|금일',
    yesterday: '어제|어젯밤',
    dayBefore: '그저께|그제|엊그제',
    tomorrow: '내일',
    last: { week: '(?:지난|저번) ?주(?!말)', month: '(?:지난|저번) ?달', year: '작년|지난 ?해', weekend: '지난 ?주말' },
    this: { week: '이번 ?주(?!말)', month: '이번 ?달', year: '올해|금년', weekend: '이번 ?주말' },
    next: { week: '다음 ?주(?!말)', month: '다음 ?달', year: '내년', weekend: '다음 ?주말' },
    units: { day: '일', week: '주일?', month: '개월|달', year: '년|해' },
    ago: '# ?전',
    recent: '(?:지난|최근) ?#',
    dates: ['년', '월', '일'],
    since: ' ?(?:부터|이후)',
    before: ' ?(?:까지|이전)',
  },
}
