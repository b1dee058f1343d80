/** Reads a table of `short = words` lines, separated by commas. */
function table(lines: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.split(/,\s*/).map((line) => line.trim().split(' = ') as [short: string, words: string]),
  )
}

/** Units behind a number, for one; those of `unitsOfMany` have a plural of their own. */
export const units = table(`
  km = kilometer, m = meter, cm = centimeter, mm = millimeter, µm = micrometer, μm = micrometer, nm = nanometer, kg = kilogram,
  g = gram, mg = milligram, µg = microgram, mcg = microgram, t = ton, lb = pound, lbs = pound, oz = ounce, ft = foot,
  in = inch, mi = mile, yd = yard, yds = yard, mph = mile per hour, kph = kilometer per hour, kmh = kilometer per hour,
  mpg = mile per gallon, kn = knot, ml = milliliter, mL = milliliter, cl = centiliter, dl = deciliter, l = liter, L = liter,
  gal = gallon, pt = pint, qt = quart, tbsp = tablespoon, tsp = teaspoon, ms = millisecond, µs = microsecond,
  ns = nanosecond, s = second, sec = second, secs = second, min = minute, mins = minute, h = hour, hr = hour, hrs = hour,
  yr = year, yrs = year, mo = month, wk = week, wks = week, W = watt, kW = kilowatt, MW = megawatt, GW = gigawatt,
  Wh = watt hour, kWh = kilowatt hour, MWh = megawatt hour, mAh = milliamp hour, Ah = amp hour, V = volt, kV = kilovolt,
  mV = millivolt, A = amp, mA = milliamp, Ω = ohm, kΩ = kiloohm, Hz = hertz, kHz = kilohertz, MHz = megahertz, GHz = gigahertz,
  THz = terahertz, B = byte, kB = kilobyte, KB = kilobyte, MB = megabyte, GB = gigabyte, TB = terabyte, PB = petabyte,
  KiB = kibibyte, MiB = mebibyte, GiB = gibibyte, kbps = kilobit per second, Kbps = kilobit per second,
  Mbps = megabit per second, Gbps = gigabit per second, Pa = pascal, hPa = hectopascal, kPa = kilopascal, MPa = megapascal,
  bar = bar, mbar = millibar, J = joule, kJ = kilojoule, MJ = megajoule, cal = calorie, kcal = kilocalorie, N = newton,
  kN = kilonewton, Nm = newton meter, dB = decibel, lm = lumen, lx = lux, ha = hectare, ac = acre, hp = horsepower,
  psi = P S I, rpm = revolution per minute, fps = frame per second, px = pixel, dpi = dot per inch, ppm = part per million,
  mol = mole, sq ft = square foot, sq mi = square mile, sq m = square meter, sq km = square kilometer, cu ft = cubic foot,
  fl oz = fluid ounce, °C = degree Celsius, °F = degree Fahrenheit, ℃ = degree Celsius, ℉ = degree Fahrenheit, ° = degree,
  % = percent, ‰ = per mille, percent = percent, MP = megapixel, ct = carat, bpm = beat per minute`)
export const unitsOfMany = table(`
  foot = feet, inch = inches, hertz = hertz, kilohertz = kilohertz, megahertz = megahertz, gigahertz = gigahertz,
  terahertz = terahertz, percent = percent, per mille = per mille, P S I = P S I, lux = lux, horsepower = horsepower`)

/** Currencies: one, many, and the hundredth where sums have some. */
type Currency = readonly [one: string, many: string, cent?: string, cents?: string]
const dollar = (country = ''): Currency => [`${country}dollar`, `${country}dollars`, 'cent', 'cents']
const euro: Currency = ['euro', 'euros', 'cent', 'cents']
const pound: Currency = ['pound', 'pounds', 'penny', 'pence']
const yen: Currency = ['yen', 'yen']
const rupee: Currency = ['rupee', 'rupees', 'paisa', 'paise']
const franc: Currency = ['Swiss franc', 'Swiss francs', 'centime', 'centimes']
const rouble: Currency = ['rouble', 'roubles', 'kopeck', 'kopecks']
const won: Currency = ['won', 'won']
const zloty: Currency = ['zloty', 'zlotys']
const real: Currency = ['real', 'reais', 'centavo', 'centavos']
export const currencySigns: Readonly<Record<string, Currency>> = {
  ...{ $: dollar(), US$: dollar('U S '), C$: dollar('Canadian '), CA$: dollar('Canadian '), A$: dollar('Australian ') },
  ...{ AU$: dollar('Australian '), NZ$: dollar('New Zealand '), HK$: dollar('Hong Kong '), S$: dollar('Singapore ') },
  ...{ R$: real, '€': euro, '£': pound, '¥': yen, '₹': rupee, '₩': won, '₽': rouble, '₺': ['lira', 'lira'] },
  ...{ '₿': ['bitcoin', 'bitcoins'], '₴': ['hryvnia', 'hryvnias'], '₫': ['dong', 'dong'], '₪': ['shekel', 'shekels'] },
  ...{ '₱': ['peso', 'pesos'], '₦': ['naira', 'naira'], '฿': ['baht', 'baht'], 'Rs.': rupee, Rs: rupee },
}
export const currencyCodes: Readonly<Record<string, Currency>> = {
  ...{ USD: dollar('U S '), CAD: dollar('Canadian '), AUD: dollar('Australian '), NZD: dollar('New Zealand ') },
  ...{
    EUR: euro,
    GBP: pound,
    JPY: yen,
    CHF: franc,
    INR: rupee,
    RUB: rouble,
    KRW: won,
    PLN: zloty,
    zł: zloty,
    BRL: real,
  },
  ...{ CNY: ['yuan', 'yuan'], RMB: ['renminbi', 'renminbi'], HKD: dollar('Hong Kong '), SGD: dollar('Singapore ') },
  ...{
    SEK: ['Swedish krona', 'Swedish kronor'],
    NOK: ['Norwegian krone', 'Norwegian kroner'],
    kr: ['krona', 'kronor'],
  },
  ...{ DKK: ['Danish krone', 'Danish kroner'], MXN: ['Mexican peso', 'Mexican pesos'], BTC: ['bitcoin', 'bitcoins'] },
}

/** Letters and words behind a number that multiply it. */
export const scales = table(`
  k = thousand, K = thousand, m = million, M = million, mn = million, mm = million, mil = million, MM = million, b = billion,
  bn = billion, B = billion, Bn = billion, t = trillion, tn = trillion, T = trillion, tr = trillion, thousand = thousand,
  million = million, billion = billion, trillion = trillion, hundred = hundred, crore = crore, lakh = lakh`)

export const months = 'January February March April May June July August September October November December'.split(' ')
export const days = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')

/** Titles, whose dot ends no sentence; they stand before a name. */
export const titles = table(`
  Dr = Doctor, Mr = Mister, Mrs = Missus, Ms = Miz, Prof = Professor, Mt = Mount, St = Saint, Sts = Saints, Ft = Fort,
  Lt = Lieutenant, Sgt = Sergeant, Capt = Captain, Cpt = Captain, Gen = General, Col = Colonel, Maj = Major, Cmdr = Commander,
  Cdr = Commander, Adm = Admiral, Cpl = Corporal, Pvt = Private, Gov = Governor, Sen = Senator, Rep = Representative,
  Rev = Reverend, Hon = Honorable, Pres = President, Messrs = Messieurs, Fr = Father, Br = Brother, Sr = Sister, Supt = Superintendent,
  Insp = Inspector, Det = Detective, Amb = Ambassador, Sec = Secretary, Brig = Brigadier, Atty = Attorney, Mme = Madame,
  Mlle = Mademoiselle, Mgr = Monsignor, Msgr = Monsignor, Pt = Point`)

/** What stands behind a name: streets, degrees of kinship, companies. */
export const behindNames = table(`
  Jr = Junior, Sr = Senior, St = Street, Sts = Streets, Ave = Avenue, Av = Avenue, Blvd = Boulevard, Rd = Road, Dr = Drive,
  Ln = Lane, Ct = Court, Sq = Square, Pl = Place, Pkwy = Parkway, Hwy = Highway, Ter = Terrace, Cir = Circle, Expy = Expressway,
  Inc = Incorporated, Corp = Corporation, Ltd = Limited, Co = Company, Bros = Brothers, Assn = Association, Univ = University,
  Mt = Mountain, Mts = Mountains, Dept = Department, Inst = Institute, Esq = Esquire, Cos = Companies, Bldg = Building`)

/** Abbreviations before a number. */
export const beforeNumbers = table(`
  no = number, nos = numbers, nr = number, vol = volume, vols = volumes, fig = figure, figs = figures, ch = chapter, chs = chapters, bk = book, chap = chapter,
  p = page, pp = pages, pg = page, sec = section, sect = section, art = article, apt = apartment, ste = suite, rm = room,
  hwy = highway, rte = route, b = born, d = died, r = reigned, est = established, temp = temperature, min = minimum,
  max = maximum, tel = telephone, ext = extension, pt = part, eq = equation, ed = edition, c = circa, ca = circa, approx = approximately,
  bldg = building, fl = floor, ver = version, op = opus, pop = population, fn = footnote, l = line, ll = lines, v = verse`)

/** Abbreviations anywhere; those with `.` inside are looked up without blanks. */
export const anywhere = table(`
  e.g = for example, i.e = that is, etc = et cetera, vs = versus, approx = approximately, est = estimated, dept = department,
  et al = et al, cf = compare, incl = including, excl = excluding, govt = government, misc = miscellaneous, viz = namely,
  a.k.a = A K A, ca = circa, esp = especially, usu = usually, orig = originally, ibid = ibid, assoc = association, intl = international,
  natl = national, mfg = manufacturing, mgmt = management, appt = appointment, avg = average, qty = quantity, bldg = building,
  corp = corporation, inc = incorporated, ltd = limited, bros = brothers, univ = university, hosp = hospital, prof = professor,
  blvd = boulevard, ave = avenue, capt = captain, approxim = approximately, temp = temperature, max = maximum, min = minimum,
  tel = telephone, fig = figure, vol = volume, Jr = Junior, Sr = Senior, jr = junior, sr = senior, q.v = which see, n.b = nota bene`)
