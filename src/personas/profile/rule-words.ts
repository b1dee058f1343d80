/**
 * The words by which the rules of a profile know a sentence, in 15 languages. Patterns see a sentence in lower case with straight
 * apostrophes; `\b` stands for the end of a word of any script.
 */

/** How one says of oneself, and of somebody else, that one is, has, or does not take something; and that one does again. */
export interface Subject {
  /** "I am", "I have". */
  readonly am: string
  /** "is", "has", behind a name or a word of kinship. */
  readonly is: string
  /** "I do not eat", "I cannot drink". */
  readonly avoid: string
  readonly avoids: string
  /** "I eat … again". */
  readonly again: string
}

const few = String.raw`(?:[\p{L}'-]+ ){0,3}?`

export const subjects: Readonly<Record<string, Subject>> = {
  en: {
    am: `i (?:am|was|have|had|got|became|turned|suffer|live|use|observe|keep|follow)|i'(?:m|ve)|im|we keep|as an? `,
    is: `is|has|are|have|was|'s|suffers|became`,
    avoid: `i (?:(?:do not|don't|dont|never|no longer) ${few}(?:eat|drink|tolerate|touch|consume|take)|(?:cannot|can't|cant|can not|must not|mustn't|may not|shouldn't) ${few}(?:eat|drink|have|tolerate|take)|(?:have )?(?:stopped|quit) (?:eating|drinking)|gave up|avoid)`,
    avoids: `(?:(?:does not|doesn't|never|no longer) ${few}(?:eats?|drinks?|tolerates?)|(?:cannot|can't|cant|can not|must not|mustn't|may not) ${few}(?:eat|drink|have|tolerate))`,
    again: `i(?:'m| am)? (?:now )?(?:eat|eating|drink|drinking) .*(?:again|now)|i (?:started|began) (?:eating|drinking)|i can (?:eat|drink) .*again`,
  },
  de: {
    am: `ich (?:bin|habe|hab|wurde|leide|lebe|esse|ernähre|sitze)|(?:bin|habe|hab) ich|ich`,
    is: `ist|hat|leidet|isst`,
    avoid: `ich (?:esse|trinke|vertrage|darf|mag) ${few}(?:keine?n?|nicht|nie|nichts)|(?:esse|trinke|vertrage|darf) ich ${few}(?:keine?n?|nicht|nie)|ich verzichte auf`,
    avoids: `(?:isst|trinkt|verträgt|darf) ${few}(?:keine?n?|nicht|nie)`,
    again: `ich (?:esse|trinke) .*wieder|(?:esse|trinke) ich .*wieder|ich (?:esse|trinke) wieder`,
  },
  fr: {
    am: `je suis|j'ai|je souffre|je mange|moi,? je suis|je ne suis|je n'ai`,
    is: `est|a|souffre|mange|n'est|n'a`,
    avoid: `je (?:ne |n')?${few}(?:mange|bois|supporte|digère|consomme|peux) (?:plus|pas|jamais)`,
    avoids: `(?:ne |n')${few}(?:mange|boit|supporte|digère|peut) (?:plus|pas|jamais)`,
    again: `je (?:re)?(?:mange|bois) .*(?:à|de) nouveau|je (?:mange|bois) (?:à|de) nouveau|je remange`,
  },
  es: {
    am: `soy|tengo|estoy|sufro|padezco|(?:me )?he vuelto|me hice|llevo`,
    is: `es|tiene|está|sufre|padece`,
    avoid: `(?:no|nunca|ya no) ${few}(?:como|bebo|tomo|tolero|puedo ${few}(?:comer|beber|tomar))|(?:dejé|he dejado) de (?:comer|beber|tomar)`,
    avoids: `(?:no|nunca|ya no) ${few}(?:come|bebe|toma|tolera|puede ${few}(?:comer|beber|tomar))`,
    again: `(?:vuelvo|he vuelto|volví) a (?:comer|beber|tomar)|(?:como|bebo) .*(?:otra vez|de nuevo)`,
  },
  it: {
    am: `(?:io )?(?:sono|ho|soffro|seguo)`,
    is: `è|ha|soffre`,
    avoid: `non ${few}(?:mangio|bevo|tollero|digerisco|posso ${few}(?:mangiare|bere|assumere))|ho smesso di (?:mangiare|bere)`,
    avoids: `non ${few}(?:mangia|beve|tollera|può ${few}(?:mangiare|bere|assumere))`,
    again: `(?:ho ripreso|ho ricominciato|sono tornat[oa]) a (?:mangiare|bere)|(?:mangio|bevo) (?:di nuovo|ancora)`,
  },
  pt: {
    am: `(?:eu )?(?:sou|tenho|estou|sofro|virei)|me tornei|tornei-me`,
    is: `é|tem|está|sofre`,
    avoid: `(?:não|nunca|já não) ${few}(?:como|bebo|tomo|tolero|posso ${few}(?:comer|beber|tomar))|parei de (?:comer|beber)|deixei de (?:comer|beber)`,
    avoids: `(?:não|nunca|já não) ${few}(?:come|bebe|toma|tolera|pode ${few}(?:comer|beber|ingerir|tomar))`,
    again: `(?:voltei|volto) a (?:comer|beber)|(?:como|bebo) .*(?:de novo|outra vez)`,
  },
  nl: {
    am: `ik (?:ben|heb|lijd|eet|zit)|(?:ben|heb) ik`,
    is: `is|heeft|lijdt|eet`,
    avoid: `ik (?:eet|drink|verdraag|mag|kan) ${few}(?:geen|niet|nooit)|(?:eet|drink|mag) ik ${few}(?:geen|niet|nooit)`,
    avoids: `(?:eet|drinkt|verdraagt|mag|kan) ${few}(?:geen|niet|nooit)`,
    again: `ik (?:eet|drink) .*weer|(?:eet|drink) ik .*weer`,
  },
  pl: {
    am: `(?:ja )?(?:jestem|mam|choruję|cierpię|jem|został[ae]m)|nie (?:jestem|mam)`,
    is: `jest|ma|choruje|cierpi|je`,
    avoid: `nie ${few}(?:jem|piję|jadam|pijam|toleruję|mogę ${few}(?:jeść|pić))`,
    avoids: `nie ${few}(?:je|pije|jada|toleruje|może ${few}(?:jeść|pić))`,
    again: `(?:znowu|znów) (?:jem|piję)|(?:jem|piję) (?:znowu|znów)`,
  },
  tr: {
    am: `ben(?:im)?|bende`,
    is: `var|hastası|alerjisi|intoleransı`,
    avoid: `(?:yemiyorum|içmiyorum|yemem|içmem|tüketmiyorum|yiyemem|yiyemiyorum|içemem)`,
    avoids: `(?:yemiyor|içmiyor|yiyemez|yiyemiyor|yemez|içmez)`,
    again: `(?:tekrar|yeniden|yine) .*(?:yiyorum|içiyorum)`,
  },
  ru: {
    am: `я|у меня|мне`,
    is: `—|-|есть|болеет|страдает|у него|у не[её]|у`,
    avoid: `я ${few}не (?:ем|пью|употребляю|переношу)|^(?:больше |совсем |вообще )?не (?:ем|пью|употребляю)|мне нельзя|мне ${few}нельзя`,
    avoids: `не (?:ест|пь[её]т|переносит|употребляет)|нельзя`,
    again: `(?:снова|опять) (?:ем|пью)|я ${few}(?:ем|пью) (?:снова|опять)`,
  },
  uk: {
    am: `я|у мене|в мене|маю|мені`,
    is: `—|-|має|є|хворіє`,
    avoid: `я ${few}не (?:їм|п'ю|вживаю|споживаю)|^(?:більше |зовсім )?не (?:їм|п'ю|вживаю)|мені не можна`,
    avoids: `не (?:їсть|п'є|вживає)|не можна`,
    again: `знову (?:їм|п'ю)|я ${few}(?:їм|п'ю) знову`,
  },
  ar: {
    am: `أنا|عندي|لدي|لديّ|أعاني|أصبحت|أتبع`,
    is: `عنده|عندها|لديه|لديها|يعاني|تعاني|مصاب|مصابة`,
    avoid: `لا (?:آكل|أشرب|أتناول|أستطيع ${few}أكل)|لم أعد (?:آكل|أشرب)`,
    avoids: `لا (?:يأكل|تأكل|يشرب|تشرب|يتناول|تتناول|يستطيع|تستطيع)`,
    again: `(?:عدت|رجعت) (?:آكل|أشرب|إلى أكل|إلى شرب|لأكل)`,
  },
  hi: {
    am: `मैं|मुझे|मेरे को`,
    is: `को|है`,
    avoid: `मैं .*(?:नहीं|नही|कभी नहीं) (?:खाता|खाती|पीता|पीती|खा सकता|खा सकती)|मैंने .*(?:खाना|पीना) छोड़`,
    avoids: `.*(?:नहीं|नही) (?:खाता|खाती|पीता|पीती|खा सकता|खा सकती|खाते)`,
    again: `मैं .*फिर से .*(?:खा|पी)|फिर से .*(?:खाता|खाती|खाने|पीने|पीता|पीती)`,
  },
}

/** In Japanese and Chinese the author need not be named: a sentence is theirs where it names nobody else first. */
export const unspaced = {
  others: '同僚|友達|友人|上司|隣人|先生|彼|彼女|あの人|客|同事|朋友|老板|邻居|鄰居|老师|他|她|他们',
  avoid:
    '(?:食べません|食べない|食べられません|食べられない|飲みません|飲まない|飲めません|飲めない|ダメ)|(?:不能|从不|從不|不再|不)(?:再)?(?:吃|喝)',
  again: 'また.*(?:食べ|飲)|又(?:开始|開始)?(?:吃|喝)|重新(?:吃|喝)',
} as const

/** Close kin by class; each language with its "my". */
export const kin: Readonly<Record<string, string>> = {
  son: String.raw`(?:my|our) son|mein(?:e[mn])? sohn|unser(?:e[mn])? sohn|(?:mon|notre) fils|(?:mi|nuestro) hijo|(?:mio|nostro) figlio|(?:meu|nosso) filho|(?:mijn|onze) zoon(?:tje)?|(?:mój|mojego|nasz) syn(?:a|ek)?|oğlum(?:un)?|(?:мой|моего|наш|нашего|моему|нашему) сын[ау]?|(?:мій|мого|наш|моєму) син[ау]?|ابني|मेर[ेा] बेट[ेा]|息子|(?:我|我们|我的)(?:儿子|兒子)`,
  daughter: String.raw`(?:my|our) daughter|mein(?:e|er) tochter|unser(?:e|er) tochter|(?:ma|notre) fille|(?:mi|nuestra) hija|(?:mia|nostra) figlia|(?:minha|nossa) filha|(?:mijn|onze) dochter(?:tje)?|(?:moja|mojej|nasza) córk[ai]|kızım(?:ın)?|(?:моя|моей|наша|нашей) (?:дочь|дочка|дочери|дочки|дочке)|(?:моя|моєї|наша|моїй) (?:донька|дочка|доньки|дочки|доньці|дочці)|ابنتي|بنتي|मेरी बेटी|娘|(?:我|我们|我的)(?:女儿|女兒)`,
  child: String.raw`(?:my|our) (?:child|kids?|children|baby|toddler)|mein(?:e|em)? (?:kind|kinder|baby)|unser(?:e|em)? (?:kind|kinder|baby)|(?:mon|notre) (?:enfant|bébé)|mi (?:bebé|niñ[oa])|(?:mi[oa]|nostr[oa]) bambin[oa]|(?:meu|minha) (?:bebê|bebé|criança)|(?:mijn|ons) (?:kind|baby)|moje(?:go)? dziecko?a?|çocuğum(?:un)?|bebeğim(?:in)?|(?:мой|моего|моему) реб[её]н(?:ок|ка|ку)|моя дитина|моєї дитини|طفلي|طفلتي|मेर[ेाी] बच्च[ेाी]|子供|子ども|赤ちゃん|(?:我|我的)(?:孩子|宝宝|寶寶)`,
  partner: String.raw`my (?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?)|meine?r? (?:frau|partnerin)|mein(?:em)? (?:mann|partner)|ma (?:femme|compagne|copine)|mon (?:mari|compagnon|copain|conjoint)|mi (?:esposa|mujer|marido|esposo|pareja|novi[oa])|mi[oa] (?:moglie|marito|compagn[oa]|fidanzat[oa])|(?:meu|minha) (?:esposa|mulher|marido|esposo|companheir[oa]|namorad[oa])|mijn (?:vrouw|man|partner)|(?:moja|mojej) (?:żon[ay]|partnerk[ai])|(?:mój|mojego) (?:mąż|męża|partnera?)|eşim(?:in)?|karım(?:ın)?|kocam(?:ın)?|(?:моя|моей) жен[аеы]|(?:мой|моего|моему) муж[ау]?|(?:моя|моєї) дружин[аи]|(?:мій|мого) чоловіка?|زوجتي|زوجي|मेरी पत्नी|मेरे पति|(?<![\p{Script=Han}])[妻夫]|旦那|(?:我|我的)(?:老婆|妻子|太太|丈夫|老公)`,
  mother: String.raw`my (?:mother|mom|mum|mama)|meine?r? (?:mutter|mama)|ma (?:mère|maman)|mi (?:madre|mamá)|mia (?:madre|mamma)|minha mãe|mijn (?:moeder|mama)|(?:moja|mojej) (?:mam[ay]|matk[ai])|annem(?:in)?|(?:моя|моей) (?:мам[аеы]|мать|матери)|(?:моя|моєї) мам[аи]|أمي|والدتي|मेरी (?:माँ|मां|मम्मी)|(?:我|我的)(?:妈妈|媽媽|母亲|母親)`,
  father: String.raw`my (?:father|dad|papa)|mein(?:em)? (?:vater|papa)|mon (?:père|papa)|mi (?:padre|papá)|mio (?:padre|papà)|meu pai|mijn (?:vader|papa)|(?:mój|mojego) (?:tat[ay]|ojciec|ojca)|babam(?:ın)?|(?:мой|моего) (?:пап[аы]|отец|отца)|(?:мій|мого) (?:тат[оа]|батьк[оа])|أبي|والدي|मेरे (?:पिता|पापा)|(?:我|我的)(?:爸爸|父亲|父親)`,
  brother: String.raw`my brother|mein(?:em)? bruder|mon frère|mi hermano|mio fratello|meu irmão|mijn broer|(?:mój|mojego) brata?|erkek kardeşim(?:in)?|(?:мой|моего) брата?|(?:мій|мого) брата?|أخي|मेर[ेा] भाई|[兄弟](?=[はがの])|(?:我|我的)(?:哥哥|弟弟)`,
  sister: String.raw`my sister|meine?r? schwester|ma s(?:œ|oe)ur|mi hermana|mia sorella|minha irmã|mijn zus(?:je)?|(?:moja|mojej) siostr[ay]|kız kardeşim(?:in)?|(?:моя|моей) сестр[аеы]|(?:моя|моєї) сестр[аи]|أختي|मेरी बहन|[姉妹](?=[はがの])|(?:我|我的)(?:姐姐|妹妹)`,
}

/** Stems of what an allergy or an intolerance is called. */
export const allergies = String.raw`\p{L}*aller[gx]\p{L}*|alerg\p{L}*|alérg\p{L}*|alerj\p{L}*|alergi\p{L}*|аллерг\p{L}*|алерг\p{L}*|uczulon\p{L}*|uczuleni\p{L}*|حساسي\p{L}*|एलर्जी|アレルギー|过敏|過敏|anaphyla\p{L}*`

/** "It is no allergy after all", without a substance. */
export const noAllergy = String.raw`(?:no|not (?:an|any)|isn't an|is not an) allergy|keine allergie|pas (?:d'allergie|une allergie)|no (?:es|era|tengo) (?:una )?alergia|(?:nessuna|non è un'?) ?allergia|não é (?:uma )?alergia|geen allergie|nie (?:jest to |to )?(?:alergia|mam alergii)|не аллерги\p{L}|нет аллергии|не алергі\p{L}|немає алергії|alerji değil|alerjim yokmuş|ليس(?:ت)? حساسية|एलर्जी नहीं|アレルギーではな|アレルギーじゃな|不是过敏|不是過敏`

/** What people do not eat or drink, by subject; a manner of eating belongs to what it leaves out. */
export const foods: Readonly<Record<string, string>> = {
  pork: String.raw`pork|schwein\p{L}*|porc|cerdo|maiale|porco|suín\p{L}*|varkens?\p{L}*|wieprzowin\p{L}*|свинин\p{L}*|domuz|خنزير|الخنزير|सूअर|豚肉|猪肉|豬肉`,
  meat: String.raw`meat|fleisch\p{L}*|viandes?|carnes?|vlees|mięs[ao]|мяс[ао]|м'яс[ао]|(?:kırmızı )?et(?: yi?[ey]\p{L}*)|لحم|اللحم|لحوم|اللحوم|मांस|मीट|(?<!豚|魚)肉(?!体|體)`,
  alcohol: String.raw`alcohol|alkohol\p{L}*|alcool|álcool|алкогол\p{L}*|alkol|كحول|الكحول|الخمر|शराब|アルコール|お?酒`,
  gluten: String.raw`gluten\p{L}*|глютен\p{L}*|غلوتين|الغلوتين|ग्लूटेन|グルテン|麸质|麩質`,
  lactose: String.raw`lactose|lactosa|lattosio|laktos\p{L}*|laktoz\p{L}*|лактоз\p{L}*|dairy|milchprodukt\p{L}*|milch|laitages?|produits laitiers|lácteos|latticini|laticínios|zuivel|nabiał\p{L}*|молочн\p{L}*|süt ürün\p{L}*|الألبان|اللاكتوز|लैक्टोज|डेयरी|乳製品|乳糖|奶制品|牛奶|牛乳`,
  sugar: String.raw`sugar|zucker|sucre|azúcar|zucchero|açúcar|suiker|cukru?|сахара?|цукру?|şeker|السكر(?!ي)|चीनी|砂糖`,
  fish: String.raw`fish|fisch|poissons?|pescado|pesce|peixe|vis|ryb\p{L}*|рыб\p{L}*|риб\p{L}*|balık|السمك|मछली|魚|鱼`,
  egg: String.raw`eggs?|eier|œufs|oeufs|huevos?|uova|ovos?|eieren|jaj\p{L}*|яйц\p{L}*|яєць|yumurta|البيض|अंडे|अंडा|卵|鸡蛋|雞蛋`,
  nuts: String.raw`\p{L}*nuts?|\p{L}*n[uü]ss\p{L}*|noix|nueces|cacahu\p{L}*|noci|nozes|noten|orzech\p{L}*|орех\p{L}*|горіх\p{L}*|fıstık|مكسرات|المكسرات|मेवे|मूंगफली|ナッツ|坚果|堅果|花生`,
  seafood: String.raw`shellfish|seafood|meeresfrüchte|fruits de mer|mariscos?|frutti di mare|schaaldieren|owoc\p{L}* morza|морепродукт\p{L}*|deniz ürün\p{L}*|المأكولات البحرية|海鮮|海鲜|エビ|甲殻類`,
  caffeine: String.raw`caffeine|koffein|caféine|cafeína|caffeina|cafeïne|kofein\p{L}*|кофеин\p{L}*|кофеїн\p{L}*|kafein|الكافيين|कैफीन|カフェイン|咖啡因`,
}

/** Names of manners of eating. */
export const diets: Readonly<Record<string, string>> = {
  meat: String.raw`(?:ovo-?lacto )?vegetari\p{L}*|végétari\p{L}*|wegetaria\p{L}*|вегетариан\p{L}*|вегетаріан\p{L}*|vejetaryen\p{L}*|نباتي|نباتية|शाकाहारी|ベジタリアン|菜食主義\p{L}*|素食(?:者|主义者|主義者)?|吃素|vegan\p{L}*|végan\p{L}*|végétalien\p{L}*|wegan\p{L}*|веган\p{L}*|ヴィーガン|ビーガン|वीगन|pescat\p{L}*|pescetari\p{L}*`,
  gluten: String.raw`coeliac|celiac|zöliakie|cœliaque|coeliaque|cel[ií]ac[oa]|coeliakie|celiaki[aęi]|целиаки\p{L}*|целіакі\p{L}*|çölyak\p{L}*|セリアック病|乳糜泻`,
  lactose: String.raw`la[ck]tose?-?(?: )?intoleran\p{L}*|intolérante? au lactose|intolerante (?:a la lactosa|à lactose)|intollerante al lattosio|nietoleranc\p{L}* laktozy|непереносимость лактозы|непереносимість лактози|laktoz intoleransı\p{L}*|乳糖不耐(?:症)?`,
  alcohol: String.raw`teetotall?er|teetotal|abstemi[oa]|abstinent\p{L}*|antialkoholiker\p{L}*|abstynent\p{L}*|трезвенни\p{L}*|sober`,
}

export const faiths = String.raw`(?:a )?musli\p{L}*|moslem\p{L}*|musulm\p{L}*|muçulman\p{L}*|muzułman\p{L}*|мусульман\p{L}*|müslüman\p{L}*|مسلم|مسلمة|मुसलमान|मुस्लिम|ムスリム|イスラム教徒|穆斯林|jewish|jüdisch|juive?|judí[oa]|ebre[oa]|jud(?:eu|ia)|joods|żyd\p{L}*|иуде\p{L}*|yahudi\p{L}*|يهودي|يهودية|ユダヤ教徒|犹太教?徒|a christian|christin|gläubiger christ|chrétien\p{L}*|cristian[oa]|cristã[o]?|chrześcijan\p{L}*|христиан\p{L}*|християн\p{L}*|hristiyan\p{L}*|مسيحي|مسيحية|ईसाई|クリスチャン|キリスト教徒|基督徒|catholic|katholi\p{L}*|catholique|católic[oa]|cattolic[oa]|katoli\p{L}*|католи\p{L}*|buddhist\p{L}*|bouddhiste|budista|buddista|boeddhist\p{L}*|buddyst\p{L}*|буддист\p{L}*|буддист\p{L}*|budist\p{L}*|बौद्ध|仏教徒|佛教徒|hindu\p{L}*|hindou\p{L}*|hinduista|индуист\p{L}*|индус\p{L}*|हिंदू|हिन्दू|ヒンドゥー教徒|印度教徒|sikh\p{L}*|सिख|atheist\p{L}*|athée|ate[oa]|ateu|ateia|ateist\p{L}*|атеист\p{L}*|атеїст\p{L}*|नास्तिक|無神論者|无神论者|halal|हलाल|حلال|ハラール|清真|kosher|koscher|cacher|casher|koszer\p{L}*|кошер\p{L}*|コーシャ`

export const conditions: Readonly<Record<string, string>> = {
  diabetes: String.raw`(?:type [12] )?diabet\p{L}*|diabèt\p{L}*|diabét\p{L}*|cukrzyc\p{L}*|диабет\p{L}*|діабет\p{L}*|diyabet\p{L}*|şeker hasta\p{L}*|السكري|मधुमेह|डायबिटीज|शुगर की बीमारी|糖尿病`,
  asthma: String.raw`ast?h?ma\p{L}*|asthmatiker\p{L}*|asthme|asmátic[oa]|астм\p{L}*|astım\p{L}*|الربو|दमा|अस्थमा|喘息|哮喘`,
  epilepsy: String.raw`epilep\p{L}*|épilep\p{L}*|padaczk\p{L}*|эпилеп\p{L}*|епілеп\p{L}*|الصرع|मिर्गी|てんかん|癫痫|癲癇`,
  pregnancy: String.raw`pregnan\p{L}*|schwanger|enceinte|embarazada|incinta|grávida|zwanger|w ciąży|беременн\p{L}*|вагітн\p{L}*|hamile\p{L}*|حامل|गर्भवती|妊娠|怀孕|懷孕`,
  pressure: String.raw`high blood pressure|bluthochdruck|hohen blutdruck|hypertens\p{L}*|hipertens\p{L}*|ipertes\p{L}*|ipertens\p{L}*|hoge bloeddruk|nadciśnieni\p{L}*|гипертони\p{L}*|гіпертоні\p{L}*|yüksek tansiyon\p{L}*|ضغط الدم|हाई ब्लड प्रेशर|उच्च रक्तचाप|高血圧|高血压|高血壓`,
  heart: String.raw`pacemaker|herzschrittmacher|stimulateur cardiaque|marcapasos|marca-passo|rozrusznik\p{L}* serca|кардиостимулятор\p{L}*|heart condition|herzkrank`,
  mobility: String.raw`wheelchair|rollstuhl|fauteuil roulant|silla de ruedas|sedia a rotelle|cadeira de rodas|rolstoel|wózk\p{L}* inwalidzk\p{L}*|инвалидн\p{L}* коляск\p{L}*|tekerlekli sandalye\p{L}*|كرسي متحرك|व्हीलचेयर|車椅子|轮椅|輪椅`,
  senses: String.raw`blind|deaf|hard of hearing|colou?r-?blind|gehörlos|schwerhörig|farbenblind|aveugle|sourde?|daltonien\p{L}*|cieg[oa]|sord[oa]|daltónic[oa]|ciec[oa]|daltonic[oa]|surd[oa]|slechthorend|kleurenblind|niewidom\p{L}*|niesłysząc\p{L}*|дальтоник\p{L}*|глух(?:ой|ая)|слеп(?:ой|ая)|renk körü\p{L}*|色盲`,
  attention: String.raw`adhd|adhs|tdah|autis\p{L}*|аутис\p{L}*|аутиз\p{L}*|dyslexi\p{L}*|legasthen\p{L}*|дислекси\p{L}*|自閉症|自闭症`,
}

/** Imperatives of answering, with the words that may stand before them. */
export const answerVerbs = String.raw`(?:(?:please|pls|always|from now on|in future|in the future|and|but|could you|can you|would you|i want you to|i'd like you to|bitte|immer|ab jetzt|ab sofort|künftig|in zukunft|und|s'il te plaît|désormais|dorénavant|toujours|por favor|siempre|a partir de ahora|desde ahora|per favore|sempre|d'ora in poi|a partir de agora|alsjeblieft|voortaan|vanaf nu|altijd|proszę|od teraz|zawsze|пожалуйста|всегда|отныне|теперь|с этого момента|будь ласка|завжди|відтепер|lütfen|bundan sonra|her zaman|bana|من فضلك|دائما|دائمًا|من الآن|من الآن فصاعدا|कृपया|हमेशा|अब से)[,、]? )*(?:answer|reply|respond|talk to me|speak to me|speak|write to me|write your answers|keep your (?:answers|replies|responses)|give (?:me )?(?:your )?answers|antworte(?:n sie)?|schreib(?:e)? mir|sprich|réponds|répondez|réponds-moi|parle-moi|écris-moi|responde|respóndeme|contesta|conteste|contéstame|háblame|rispondi|rispondimi|parlami|scrivimi|responda|responde-me|me responda|fala comigo|fale comigo|antwoord|schrijf me|praat|odpowiadaj|odpowiedz|pisz do mnie|mów do mnie|отвечай(?:те)?|пиши(?:те)? мне|говори(?:те)? со мной|відповідай(?:те)?|пиши(?:те)? мені|أجب|أجبني|اكتب لي|جاوب|رد علي)(?![\p{L}\p{M}])`

/** The same where the verb comes last, and of no space between words. */
export const answerVerbsAtEnd = String.raw`(?:yanıtla|yanıt ver|cevapla|cevap ver|yaz|konuş)(?:ın|in|yın|yin|ınız|iniz)?|(?:जवाब|उत्तर) (?:दो|दें|दीजिए|दिया करो|देना)|(?:答え|回答し|返答し|返事し|話し|書い)て(?:ください|下さい|ほしい|ね)?|(?:回答|回复|回覆|回答我|回复我|跟我说|说话)(?:我)?`

/** Names of languages, by subject. */
export const languages = String.raw`english|german|french|spanish|italian|portuguese|dutch|polish|turkish|russian|ukrainian|arabic|hindi|japanese|chinese|mandarin|swedish|danish|norwegian|czech|greek|korean|englisch|deutsch|französisch|spanisch|italienisch|portugiesisch|niederländisch|polnisch|türkisch|russisch|ukrainisch|arabisch|japanisch|chinesisch|anglais|allemand|français|espagnol|italien|portugais|néerlandais|polonais|turc|russe|ukrainien|arabe|japonais|chinois|inglés|alemán|francés|español|italiano|portugués|holandés|polaco|turco|ruso|ucraniano|árabe|japonés|chino|inglese|tedesco|francese|spagnolo|portoghese|olandese|polacco|russo|ucraino|arabo|giapponese|cinese|inglês|alemão|francês|espanhol|português|holandês|polonês|japonês|chinês|engels|duits|frans|spaans|italiaans|portugees|nederlands|pools|turks|russisch|oekraïens|angielsku|niemiecku|francusku|hiszpańsku|włosku|polsku|rosyjsku|ukraińsku|(?:по-)?(?:английски|немецки|французски|испански|русски|украински|польски)|(?:английском|немецком|французском|испанском|русском|украинском)|англійською|німецькою|французькою|українською|польською|ingilizce|almanca|fransızca|ispanyolca|türkçe|rusça|arapça|الإنجليزية|بالإنجليزية|بالعربية|العربية|بالفرنسية|الفرنسية|بالألمانية|अंग्रेज़ी|अंग्रेजी|हिंदी|हिन्दी|英語|日本語|中国語|ドイツ語|フランス語|英语|英文|中文|日语|日文|德语|法语|汉语`

/** Manners of answering, by subject. */
export const manners: Readonly<Record<string, string>> = {
  format: String.raw`bullet(?:ed)? ?(?:points?|lists?)?|bullets|lists?|tables?|plain text|markdown|headings|prose|stichpunkt\p{L}*|stichwort\p{L}*|aufzählung\p{L}*|listen?|tabellen?|fließtext|puces|listes?|tableaux?|viñetas|listas?|tablas?|elenc\p{L}* puntat\p{L}*|punti elenco|punti|tópicos|tabelas?|opsommingen|opsommingstekens|puntjes|punktach|punktów|wypunktowani\p{L}*|пунктами|списк\p{L}*|по пунктам|тезисами|списками|maddeler?|madde madde|نقاط|قوائم|बिंदुओं|箇条書き|要点|列表|要点式|条列`,
  length: String.raw`short(?:er|ly)?|brief(?:ly)?|concise(?:ly)?|long(?:er)?|detailed|in detail|one sentence|two sentences|kurz\p{L}*|knapp\p{L}*|ausführlich\p{L}*|einem satz|court\p{L}*|bref|brièvement|brièves?|concis\p{L}*|détaill\p{L}*|breves?|brevemente|conciso|corto|cortas?|detallad\p{L}*|brevi|concis[oai]|dettagliat\p{L}*|curt[oa]s?|concisa?|detalhad\p{L}*|kort(?:e)?|beknopt\p{L}*|uitgebreid\p{L}*|krótko|zwięźle|krótkimi|szczegółowo|коротко|кратко|краткими|подробно|стисло|детально|kısa(?:ca)?|öz|ayrıntılı|باختصار|بإيجاز|مختصر\p{L}*|بالتفصيل|संक्षेप|छोटे|विस्तार|短く|簡潔に?|手短に|詳しく|简短|簡短|简洁|簡潔|详细`,
  emoji: String.raw`emojis?|emoticons?|эмодзи|смайлик\p{L}*|емодзі|رموز تعبيرية|इमोजी|絵文字|表情(?:符号)?`,
  formality: String.raw`formal(?:ly)?|informal(?:ly)?|casual(?:ly)?|du|sie|tutoie(?:-moi)?|vouvoie(?:-moi)?|tutéame|tuteame|de usted|de tú|dammi del (?:tu|lei)|na ty|на ты|на вы|на ти|на ви|敬語|タメ口|ため口|敬语`,
}

/** Whole wishes about manners that need no verb of answering. */
export const wishes: readonly (readonly [topic: string, pattern: string])[] = [
  [
    'emoji',
    String.raw`(?:please |from now on,? |always )*(?:no|don't use|do not use|never use|stop using|avoid) (?:any |more )?emojis?|(?:bitte )?keine emojis|(?:s'il te plaît )?pas d'emojis?|(?:por favor )?(?:sin|no uses) emojis|(?:per favore )?(?:niente|senza|non usare) emoji|(?:por favor )?(?:sem|não uses?|não use) emojis|(?:alsjeblieft )?geen emoji'?s|(?:proszę )?(?:bez|nie używaj) emoji|(?:пожалуйста,? )?(?:без|не используй) (?:эмодзи|смайликов)|(?:без|не використовуй) емодзі|emoji kullanma|لا تستخدم (?:الرموز التعبيرية|الإيموجي)|इमोजी (?:मत|न) |絵文字(?:は|を)使わない|不要(?:用|使用)表情`,
  ],
  [
    'formality',
    String.raw`(?:bitte )?(?:duze?|sieze?) mich|(?:du )?(?:kannst|darfst) mich duzen|sag(?:e)? (?:bitte )?(?:du|sie) zu mir|(?:tu peux me |on peut se )tutoyer|tutoie-moi|vouvoyez-moi|tut[eé]ame|(?:puedes|podemos) tutear\p{L}*|trátame de (?:tú|usted)|dammi del (?:tu|lei)|diamoci del tu|trata-me por (?:tu|você)|je mag je en jij zeggen|zeg maar (?:je|jij|u)(?: tegen me)?|mów(?:my)? (?:mi |sobie )?(?:do mnie )?na ty|(?:давай(?:те)? |обращайся ко мне |говори со мной )на ты|(?:давай(?:те)? )на ти|(?:bana )?(?:sen|siz) diye hitap et|タメ口で|敬語(?:は|を)使わない`,
  ],
  [
    'units',
    String.raw`(?:please |always )*(?:use|give me) (?:the )?(?:metric|imperial)(?: units| system)?|(?:bitte )?(?:immer )?in (?:metrischen einheiten|celsius)`,
  ],
  [
    'length',
    String.raw`(?:please |from now on,? |always )*(?:keep (?:it|your answers|answers|your replies) (?:short|brief|concise)|be (?:more )?(?:brief|concise) (?:from now on|in future|always))|i (?:prefer|like|want) (?:\p{L}+ )?(?:short|brief|long|detailed|concise) (?:answers|replies)|ich (?:mag|bevorzuge|möchte) (?:kurze|knappe|ausführliche) antworten|je préfère (?:les |des )?réponses (?:courtes|brèves|longues|détaillées)|prefiero (?:las )?respuestas (?:cortas|breves|largas|detalladas)|preferisco (?:le )?risposte (?:brevi|lunghe|dettagliate)|prefiro respostas (?:curtas|breves|longas|detalhadas)|ik (?:wil|heb liever) (?:korte|lange|uitgebreide) antwoorden|wolę (?:krótkie|długie|zwięzłe) odpowiedzi|(?:я )?предпочитаю (?:короткие|краткие|подробные) ответы|(?:я )?(?:віддаю перевагу|люблю) (?:коротк\p{L}*|стисл\p{L}*) відповід\p{L}*|kısa cevap(?:lar)? (?:ver|istiyorum|tercih ederim)|أفضل (?:الإجابات|إجابات) (?:القصيرة|قصيرة)|मुझे (?:छोटे|संक्षिप्त) (?:जवाब|उत्तर) (?:पसंद|चाहिए)|我(?:喜欢|喜歡|更喜欢)(?:简短|簡短|简洁)的(?:回答|答案)|短い(?:回答|答え)が好き`,
  ],
]

/** "Call me N", "my name is N": N stands for a name. */
export const addresses: readonly string[] = [
  String.raw`(?:(?:please|pls|oh|ok|hey|hi|hello|and|so|just|from now on|you can|you may|you could|everyone can|people|friends|everyone)[,!.]? )*(?:calls? me|address me as) (?:by )?N`,
  String.raw`(?:(?:hi|hello|hey|and|oh|ok|by the way|btw)[,!.]? )*(?:my (?:nick)?name(?:'s| is)|i(?:'m| am) called|i go by) N`,
  String.raw`(?:(?:bitte|hallo|hi|du kannst|sie können|ab jetzt|und|also)[,!.]? )*(?:nenn(?:e|en sie)? mich|mich N nennen|ich hei(?:ß|ss)e|mein name ist) N?`,
  String.raw`(?:(?:s'il te plaît|bonjour|salut|tu peux|vous pouvez|et)[,!.]? )*(?:appelle[sz]?-moi|m'appeler|je m'appelle|mon (?:pré)?nom est) N`,
  String.raw`(?:(?:por favor|hola|y|a partir de ahora)[,!.]? )*(?:ll[aá]m[ae]me|(?:puedes|puede) llamarme|me llamo|mi nombre es) N`,
  String.raw`(?:(?:per favore|ciao|e|puoi|d'ora in poi)[,!.]? )*(?:chiam[ai]mi|chiamarmi|mi chiamo|il mio nome è) N`,
  String.raw`(?:(?:por favor|olá|oi|e|pode|podes|a partir de agora)[,!.]? )*(?:me cham[ea](?: de)?|cham[ae]-me|me chamar de|chamar-me|(?:eu )?me chamo|chamo-me|(?:o )?meu nome é) N`,
  String.raw`(?:(?:alsjeblieft|hallo|hoi|en|vanaf nu)[,!.]? )*(?:noem (?:me|mij)|je mag me N noemen|ik heet|mijn naam is) N?`,
  String.raw`(?:(?:proszę|cześć|hej|i|od teraz)[,!.]? )*(?:mów (?:do mnie|mi)|nazywaj mnie|zwracaj się do mnie|mam na imię|nazywam się) N`,
  String.raw`(?:(?:пожалуйста|привет|и|просто|теперь)[,!.]? )*(?:(?:называй|зови)(?:те)? меня|меня зовут|моё имя|мое имя) N`,
  String.raw`(?:(?:будь ласка|привіт|і|просто|відтепер)[,!.]? )*(?:(?:називай|клич)(?:те)? мене|мене звати|моє ім'я) N`,
  String.raw`(?:(?:lütfen|merhaba|selam|bundan sonra)[,!.]? )*(?:bana N (?:de|deyin|diyebilirsin|diye (?:hitap et|seslen)\p{L}*)|(?:benim )?(?:adım|ismim) N)`,
  String.raw`(?:(?:من فضلك|مرحبا|من الآن)[،,!]? )*(?:ناد[ِ]?ني|ناديني|سمني|سمّني|اسمي|إسمي)(?: باسم)? N`,
  String.raw`(?:(?:कृपया|नमस्ते|अब से)[,!]? )*(?:मुझे N (?:कहो|कहें|कहिए|बुलाओ|बुलाएँ|बुलाइए|कहकर|के नाम से)|मेरा नाम N है)`,
  String.raw`(?:これからは|今後は)?、?(?:私|僕|俺)?(?:のこと)?(?:は|を)?N(?:と|って)呼んで|(?:私の)?名前はN(?:です|だ|といいます)|(?:私|僕|俺)はN(?:と申します|といいます)`,
  String.raw`(?:请|請|以后|以後|从现在起)*(?:叫|称呼|稱呼)我N|(?:你好，?)?(?:我叫|我的名字(?:是|叫))N`,
]
