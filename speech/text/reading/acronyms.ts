import { wordSet } from '../word-set.ts'

/** Acronyms of two and three letters that are read as words, and words in capitals for emphasis, which are no acronyms. */
const asWords = wordSet(`
  RAM ROM PIN GIF SIM ZIP LAN WAN DOS TED SAT PET CAT CAD CAM BART SAG JAG WASP DAT DIN NASDAQ COVID UNIX SCUBA ABBA GIMP
  NO SO GO UP OR IF IN ON AT BY WE HE ME MY DO IS AM AN AS BE TO OF OH AH HA HI HO MA PA YO THE AND YOU NOT ALL WHY NOW BUT
  FOR ARE WAS HAS HAD HIS HER HIM ITS OUR OUT OFF OWN ONE TWO SIX TEN NEW OLD BIG BAD SAY SEE SHE HOW CAN DID GET GOT LET
  MAY MEN MAN BOY DAY WAY YES TRY USE WIN TOO TOP SET RUN PUT ANY ASK END FAR FEW FUN JOB KEY LAW LOW MOM DAD MRS PAY RED
  SON SUN TAX WAR WET YET GOD HOT ICE BUY CUT DIE DOG EAT BED BOX BUS CAR COW CUP EGG EYE FAN FAT FIX FLY GAS GUN HIT JOY
  LIE LOT MAP MUD NET NOR ODD OIL RAW RUB SAD SEA SIT SKY TEA TIE TOY VAN VET WOW ZOO MR MS DR ST`)

/** Longer ones that could be said as words, and are spelled. */
const spelled = wordSet(`
  ASAP YMCA YWCA UCLA USAF IMAX ISBN ADHD OECD OSCE UNDP USDA UEFI AAPL ISSN IUCN USSR ACLU AFAIK AIAA IMDB EEOC APEC
  USMC IANA UNHCR AARP RSPCA ESRB ICBM ISDN IEEE ICTY IAEA ADSL AMSL ETSI NYSE CEO UAE EU UPS USPS ICAO EPA IPO ISO URL UFO`)

/** Those that are said in other words. */
const saidAs: Readonly<Record<string, string>> = {
  ...{ JPEG: 'jay peg', MPEG: 'em peg', JSON: 'Jason', SQL: 'sequel', NAACP: 'N double A C P', AAA: 'triple A' },
  ...{ IEEE: 'I triple E', WYSIWYG: 'wizzy wig', OK: 'okay', ASCII: 'asky', SCSI: 'scuzzy', ROTC: 'rotsy' },
  ...{
    README: 'readme',
    TODO: 'to do',
    NCAA: 'N C double A',
    GUI: 'gooey',
    WWI: 'World War One',
    WWII: 'World War Two',
  },
}

/** One syllable after another, as English words have them. */
const speakable =
  /^(?:(?:[BCDFGHJKLMNPRSTVWZ]|[BCFGP][LR]|[CGPSTW]H|[DT]R|S[CKLMNPTW]|KN|QU|TW|WR|S[CPT]R|[ST]HR)?[AEIOUY]{1,2}(?:[BCDFGKLMNPRSTVXZ]|N[DTGKS]|S[TKPS]|C[KT]|L[LTDKPM]|R[DTKMNS]|[FPR]T|M[PS]|[CST]H|[DTPK]S|FF)?){1,6}$/

/** How capitals are said: one by one where they make no word, are two or three, or are known for it; undefined as they stand. */
export function sayAcronym(capitals: string): string | undefined {
  const known = saidAs[capitals]
  if (known !== undefined || asWords.has(capitals)) return known
  return spelled.has(capitals) || capitals.length <= 3 || !speakable.test(capitals) ? spell(capitals) : undefined
}

/** Letters and digits one by one. */
export function spell(text: string): string {
  return [...text.toUpperCase()].join(' ')
}
