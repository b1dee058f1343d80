import { plain } from './ranking-terms.ts'

/**
 * Words for the people and animals of a life, in 15 languages, by whom they mean. Words of one line mean the same person where two
 * memories use them; a possessive ending is part of the word where a language has one.
 */
const lists: Readonly<Record<string, string>> = {
  daughter:
    'daughter tochter fille hija figlia filha dochter dochtertje corka corke corki corce coreczka kizim kizimin kizima дочь дочка дочери дочке дочку дочерью донька доньки доньці доньку ابنتي بنتي لابنتي बेटी 娘 女儿 女兒',
  son: 'son sohn sohnes sohnemann fils hijo figlio filho zoon zoontje syn syna synowi synem oglum oglumun ogluma сын сына сыну сыном син сина синові ابني لابني बेटा बेटे 息子 儿子 兒子',
  child: 'child kid kind enfant nino bambino crianca kindje dziecko cocugum ребенок дитина طفلي बच्चा 子供 孩子',
  wife: 'wife frau ehefrau femme epouse esposa mujer moglie esposa vrouw zona zone zonie esim karim жена жены жене жену дружина дружини дружині дружину زوجتي पत्नी 妻 老婆 妻子 太太',
  husband:
    'husband mann ehemann mari marido esposo marito man maz meza mezowi kocam муж мужа мужу чоловік чоловіка чоловікові زوجي पति 夫 主人 老公 丈夫',
  girlfriend:
    'girlfriend fiancee freundin copine novia ragazza namorada vriendin dziewczyna dziewczyny sevgilim девушка девушки девушке дівчина дівчини حبيبتي गर्लफ्रेंड 彼女 女朋友',
  boyfriend:
    'boyfriend fiance freund copain novio ragazzo namorado vriend chlopak chlopaka парень парня парню хлопець хлопця حبيبي बॉयफ्रेंड 彼氏 男朋友',
  partner:
    'partner partnerin lebensgefahrtin compagne compagnon pareja compagna compagno parceira parceiro partnerka partnerem партнер партнерша 伴侣',
  mother:
    'mother mum mom mama mutter mutti mere maman madre mamma mae moeder mam matka mamy matki mamie annem anneme мать мама мамы маме маму матери мамі أمي امي لأمي माँ मां मम्मी 母 お母さん 妈妈 母亲 媽媽',
  father:
    'father dad papa vater pere padre babbo pai vader ojciec tata taty ojca tacie babam babama отец папа папы папе отца отцу тато тата татові батько батька أبي ابي لأبي पिता पापा 父 お父さん 爸爸 父亲',
  sister:
    'sister schwester soeur sœur hermana sorella irma zus siostra siostry siostrze ablam сестра сестры сестре сестру сестри сестрі أختي اختي لأختي बहन दीदी 姉 妹 姐姐 妹妹',
  brother:
    'brother bruder frere hermano fratello irmao broer brat brata bratu kardesim abim kardesime брат брата брату братові أخي اخي لأخي भाई 兄 弟 哥哥 弟弟',
  grandmother:
    'grandmother grandma granny nan oma grossmutter mamie abuela nonna avo oma babcia babci anneannem babaannem бабушка бабушки бабушке бабуся бабусі جدتي दादी नानी 祖母 おばあちゃん 奶奶 外婆',
  grandfather:
    'grandfather grandpa opa grossvater papi abuelo nonno opa dziadek dziadka dedem дедушка дедушки дідусь дідуся جدي दादा नाना 祖父 おじいちゃん 爷爷 外公',
  aunt: 'aunt tante tia zia ciocia teyzem halam тетя тетка тітка خالتي عمتي चाची मौसी 叔母 阿姨',
  uncle: 'uncle onkel oncle tio zio oom wujek amcam dayim дядя дядько عمي خالي चाचा मामा 叔父 叔叔',
  cousin:
    'cousin cousine primo prima cugino cugina neef kuzyn kuzynka kuzenim кузен кузина двоюродный いとこ 表哥 表妹',
  niece:
    'niece nichte sobrina nipote sobrinha nichtje siostrzenica bratanica yegenim племянница племінниця भतीजी 姪 侄女',
  nephew: 'nephew neffe neveu sobrino sobrinho neefje siostrzeniec bratanek племянник племінник भतीजा 甥 侄子',
  friend:
    'friend kumpel ami amie amigo amiga amico amica maat przyjaciel przyjaciolka arkadasim друг подруга друга подруги друг подруга صديقي صديقتي दोस्त सहेली 友達 朋友',
  boss: 'boss manager chef chefin patron jefe jefa capo chefe baas szef szefowa patronum начальник начальница начальниця مديري बॉस 上司 老板',
  colleague:
    'colleague coworker kollege kollegin collegue companero companera collega colega kolega kolezanka коллега колега زميلي सहकर्मी 同僚 同事',
  neighbour:
    'neighbour neighbor nachbar nachbarin voisin voisine vecino vecina vicino vicina vizinho vizinha buurman buurvrouw sasiad sasiadka komsum сосед соседка сусід сусідка جاري पड़ोसी 隣人 邻居',
  doctor:
    'doctor gp arzt arztin hausarzt medecin medico medica huisarts dokter lekarz lekarka doktorum врач лікар طبيبي डॉक्टर 医者 医生',
  dentist: 'dentist zahnarzt zahnarztin dentiste dentista tandarts dentysta стоматолог 歯医者 牙医',
  teacher:
    'teacher lehrer lehrerin maitresse professeur maestra maestro profesora insegnante professora juf meester nauczyciel nauczycielka ogretmenim учитель учительница вчитель вчителька معلمي शिक्षक 先生 老师',
  landlord:
    'landlord landlady vermieter vermieterin proprietaire casero casera padrona locador huisbaas wlasciciel 大家 房东',
  dog: 'dog hund chien perro cane cachorro hond pies psa kopegim собака собаки собаке пес كلبي कुत्ता 犬 狗',
  cat: 'cat katze kater chat gato gata gatto gatta kat kot kota kotka kedim кошка кот кіт кішка قطتي बिल्ली 猫 貓',
  horse: 'horse pferd cheval caballo cavallo cavalo paard kon atim лошадь кінь حصاني घोड़ा 馬 马',
}

const family: ReadonlySet<string> = new Set(
  'daughter son child wife husband mother father sister brother grandmother grandfather aunt uncle cousin niece nephew friend colleague neighbour'.split(
    ' ',
  ),
)

/** A word or text in lower case, without accents, apostrophes, and the Polish and Turkish letters that no accent makes. */
export function lettersOf(text: string): string {
  return plain(text.toLowerCase()).replaceAll('ł', 'l').replaceAll('ı', 'i')
}

const byWord = new Map<string, string>()
for (const [person, words] of Object.entries(lists))
  for (const word of words.split(' ')) byWord.set(lettersOf(word), person)

const unspacedWords = [...byWord.keys()].filter((word) => /[\p{Script=Han}\p{Script=Hiragana}]/u.test(word))
const unspacedPattern = new RegExp(unspacedWords.sort((a, b) => b.length - a.length).join('|'), 'gu')

/** Words that mean a person only behind "my" or "our": elsewhere they are other words, or those of another language. */
const ambiguous: ReadonlySet<string> = new Set(
  'ami brat capo chat chef gp halam im kat kind kon kot man mam manager mann mari meester mes nan neef oom pai pies prima primo son tata zio zona'.split(
    ' ',
  ),
)

const possessives: ReadonlySet<string> = new Set(
  `my our mein meine meinem meinen meiner meines unser unsere unserem unseren unserer mon ma mes notre nos mi mis nuestro nuestra
   mio mia mie miei nostro nostra meu minha meus minhas nosso nossa mijn ons onze moj moja moje mojego mojej mojemu moja nasz nasza
   naszego naszej`.split(/\s+/),
)

/** The people whom words mean, by the places of the words. @param words in their order, as they are written */
export function peopleAmong(words: readonly string[]): ReadonlyMap<number, string> {
  const people = new Map<number, string>()
  words.forEach((word, at) => {
    const letters = lettersOf(word)
    const person = byWord.get(letters)
    if (person === undefined) return
    if (ambiguous.has(letters) && !possessives.has(lettersOf(words[at - 1] ?? ''))) return
    people.set(at, person)
  })
  return people
}

/** The people whom a text speaks of by such words. */
export function peopleIn(text: string): ReadonlySet<string> {
  const people = new Set(peopleAmong(text.match(/[\p{L}\p{M}]+/gu) ?? []).values())
  for (const [word] of text.matchAll(unspacedPattern)) people.add(byWord.get(word)!)
  return people
}

/** Those of them who may be the subject of news in place of the user: "my sister moved" says nothing of the user. */
export function relativesIn(text: string): ReadonlySet<string> {
  return new Set([...peopleIn(text)].filter((person) => family.has(person)))
}
