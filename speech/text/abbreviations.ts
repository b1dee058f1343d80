import { wordSet } from './word-set.ts'

/** Abbreviations of the ten languages, in small letters: their dot ends a sentence never or not always. */

/** Those that are followed by the name or number they belong to: their dot never ends a sentence. */
export const leading = wordSet(`
  mr mrs ms dr prof st mt mts fr rev hon gen col lt.col maj.gen capt lt sgt maj cmdr cpl pvt adm brig supt atty gov sen rep
  pres messrs ch pp eq ed eds esp cf ca approx viz e.g i.e eg ie al vs nos
  ft apt ste hwy rte rm messrs mlle adj lt.col p.o n.b tel ext bldg eqn exx pt
  nr hr hrn bzw z.b d.h u.a v.a s.o i.d.r abs kap bd tel str fa geb gest verh hrsg vgl bspw sog insb inkl exkl
  zzgl ca rd max evtl ggf mwst st dipl ing mio mrd tsd jh
  m mm mme mlle mgr ste p p.ex av apr j.-c env chap bd boul éd hab tél cie c.-à-d n°
  sr sra srta sres sras srtas dra dras d dª dña ud uds vd vds pág págs núm avda avd lic arq gral cía fdo p.ej
  dhr mevr mw bijv bv d.w.z o.a m.a.w blz hfst afb drs ir mln mld v.chr n.chr t.o.v i.p.v m.b.t i.v.m resp evt incl excl jl
  sig sig.ra sig.na dott avv pag pagg geom mons spett egr gent p.es dr.ª exmo exma ilmo ilma profa sto sta n.º 
  ул д кв стр рис табл гл разд см ср напр им т.е т.н т.к пр просп пл наб обл проф акад доц руб тыс млн млрд трлн ст гр св
`)

/** Those that may end a sentence as well: the next word decides. */
export const trailing = wordSet(`
  vol vols fig figs art min mag cap abb pag
  etc jr sr.jr dept est temp sec min max enz no mo a.m p.m am pm usw usf etc.p.p
  jan feb mar apr jun jul aug sep sept oct nov dec ecc т.д т.п др гг в.в
`)

/** Names that a capitalised word may go on (`U.S. Army`, `Apple Inc. Cupertino`); they end before a word that begins one. */
export const named = wordSet('u.s u.k u.n e.u u.s.a d.c inc ltd co corp bros ph.d m.sc b.sc b.a m.a')

/** Words that begin an English sentence far more often than they go on a name. */
export const openers = wordSet(`
  the a an he she it they we i you this that these those there here in on at as but and so or if when while after before
  now then what who how why where his her its their our my your no not yes one some many most all both each every once since
  for from with by to did does is are was were has have had can could will would should may might let do don't it's he's
  she's they're we're i'm today tomorrow yesterday however also still even perhaps maybe
`)

/** Words before an ordinal number, which German writes with a dot: `am 24. Dezember`. */
export const beforeOrdinal = wordSet(
  'am dem den der des die das im vom zum zur ab bis seit beim jeder jeden jedem ein einen einem einer',
)
