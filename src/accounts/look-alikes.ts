/**
 * Letters and digits of other scripts that look like ASCII ones: before the colon stands the ASCII one that the characters
 * behind it look like. From the data of Unicode Technical Standard #39 (confusables.txt, Unicode 15, as ICU 72 has it),
 * except those that compatibility decomposition makes ASCII anyway.
 */
const alike: Readonly<Record<string, string>> = {
  2: '\u01a7\u03e8\u14bf\ua644\ua6ef\ua75a',
  3: '\u01b7\u021c\u0417\u04e0\u2ccc\ua76a\ua7ab\u{118ca}\u{16f3b}',
  4: '\u13ce\u{118af}',
  5: '\u01bc\u{118bb}',
  6: '\u0431\u13ee\u2cd2\u{118d5}',
  7: '\u{104d2}\u{118c6}',
  8: '\u0222\u0223\u09ea\u0a6a\u0b03\u{1031a}\u{1e8cb}',
  9: '\u09ed\u0a67\u0b68\u0d6d\u2cca\ua76e\u{118ac}\u{118cc}\u{118d6}',
  A: '\u0391\u0410\u13aa\u15c5\ua4ee\u{102a0}\u{16f40}',
  a: '\u0251\u03b1\u0430',
  B: '\u0392\u0412\u13f4\u15f7\ua4d0\ua7b4\u{10282}\u{102a1}\u{10301}',
  b: '\u0184\u042c\u13cf\u1472\u15af',
  C: '\u0421\u13df\u2ca4\ua4da\u{102a2}\u{10302}\u{10415}\u{1051c}\u{118e9}\u{118f2}',
  c: '\u0441\u1d04\u2ca5\uabaf\u{1043d}',
  D: '\u13a0\u15de\u15ea\ua4d3',
  d: '\u0501\u13e7\u146f\ua4d2',
  E: '\u0395\u0415\u13ac\u2d39\ua4f0\u{10286}\u{118a6}\u{118ae}',
  e: '\u0435\u04bd\uab32',
  F: '\u03dc\u15b4\ua4dd\ua798\u{10287}\u{102a5}\u{10525}\u{118a2}\u{118c2}',
  f: '\u0584\u1e9d\ua799\uab35',
  G: '\u050c\u13c0\u13f3\ua4d6',
  g: '\u018d\u0261\u0581\u1d83',
  H: '\u0397\u041d\u13bb\u157c\u2c8e\ua4e7\u{102cf}',
  h: '\u04bb\u0570\u13c2',
  i: '\u0131\u0269\u026a\u03b9\u0456\u04cf\u13a5\ua647\uab75\u{118c3}',
  J: '\u037f\u0408\u13ab\u148d\ua4d9\ua7b2',
  j: '\u03f3\u0458',
  K: '\u039a\u041a\u13e6\u16d5\u2c94\ua4d7\u{10518}',
  L: '\u13de\u14aa\u2cd0\ua4e1\u{1041b}\u{10526}\u{118a3}\u{118b2}\u{16f16}',
  l: '\u0196\u01c0\u0399\u0406\u04c0\u05d5\u05df\u0627\u0661\u06f1\u07ca\u16c1\u2c92\u2d4f\ua4f2\u{1028a}\u{10309}\u{10320}\u{16f28}\u{1e8c7}',
  M: '\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2c98\ua4df\u{102b0}\u{10311}',
  N: '\u039d\u2c9a\ua4e0\u{10513}',
  n: '\u0578\u057c',
  O: '\u039f\u041e\u0555\u07c0\u09e6\u0b20\u0b66\u12d0\u2c9e\u2d54\u3007\ua4f3\u{10292}\u{102ab}\u{10404}\u{104c2}\u{10516}\u{114d0}\u{118b5}\u{118e0}',
  o: '\u03bf\u03c3\u043e\u0585\u05e1\u0647\u0665\u06be\u06c1\u06d5\u06f5\u0966\u0a66\u0ae6\u0be6\u0c02\u0c66\u0c82\u0ce6\u0d02\u0d20\u0d66\u0d82\u0e50\u0ed0\u101d\u1040\u10ff\u1d0f\u1d11\u2c9f\uab3d\u{1042c}\u{104ea}\u{118c8}\u{118d7}',
  P: '\u03a1\u0420\u13e2\u146d\u2ca2\ua4d1\u{10295}',
  p: '\u03c1\u0440\u2ca3',
  Q: '\u2d55',
  q: '\u051b\u0563\u0566',
  R: '\u01a6\u13a1\u13d2\u1587\ua4e3\u{104b4}\u{16f35}',
  r: '\u0433\u1d26\u2c85\uab47\uab48\uab81',
  S: '\u0405\u054f\u13d5\u13da\ua4e2\u{10296}\u{10420}\u{16f3a}',
  s: '\u01bd\u0455\ua731\uabaa\u{10448}\u{118c1}',
  T: '\u03a4\u0422\u13a2\u2ca6\ua4d4\u{10297}\u{102b1}\u{10315}\u{118bc}\u{16f0a}',
  U: '\u054d\u1200\u144c\ua4f4\u{104ce}\u{118b8}\u{16f42}',
  u: '\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52\u{104f6}\u{118d8}',
  V: '\u0474\u0667\u06f7\u13d9\u142f\u2d38\ua4e6\ua6df\u{1051d}\u{118a0}\u{16f08}',
  v: '\u03bd\u0475\u05d8\u1d20\uaba9\u{11706}\u{118c0}',
  W: '\u051c\u13b3\u13d4\ua4ea\u{118e6}\u{118ef}',
  w: '\u026f\u0461\u051d\u0561\u1d21\uab83\u{1170a}\u{1170e}\u{1170f}',
  X: '\u03a7\u0425\u16b7\u2cac\u2d5d\ua4eb\ua7b3\u{10290}\u{102b4}\u{10317}\u{10322}\u{10527}\u{118ec}',
  x: '\u0445\u1541\u157d',
  Y: '\u03a5\u0423\u04ae\u13a9\u13bd\u2ca8\ua4ec\u{102b2}\u{118a4}\u{16f43}',
  y: '\u0263\u028f\u03b3\u0443\u04af\u10e7\u1d8c\u1eff\uab5a\u{118dc}',
  Z: '\u0396\u13c3\ua4dc\u{102f5}\u{118a9}\u{118e5}',
  z: '\u1d22\uab93\u{118c4}',
  AA: '\ua732',
  aa: '\ua733',
  AE: '\u00c6\u04d4',
  ae: '\u00e6\u04d5',
  AO: '\ua734',
  ao: '\ua735',
  AU: '\ua736',
  au: '\ua737',
  AV: '\ua738\ua73a',
  av: '\ua739\ua73b',
  AY: '\ua73c',
  ay: '\ua73d',
  bl: '\u042b',
  dz: '\u02a3',
  ll: '\u01c1\u05f0',
  lO: '\u042e',
  ls: '\u02aa',
  lz: '\u02ab',
  OE: '\u0152',
  oe: '\u0153',
  OO: '\ua698\ua74e',
  oo: '\ua699\ua74f',
  rn: '\u{11700}\u{118e3}',
  T3: '\ua728',
  tf: '\ua777',
  ts: '\u02a6',
  ue: '\u1d6b',
  uo: '\uab63',
}

const asciiOf: ReadonlyMap<string, string> = new Map(
  Object.entries(alike).flatMap(([ascii, characters]) =>
    [...characters].map((character): [string, string] => [character, ascii]),
  ),
)

/**
 * The look of a name in any script and case: names with the same look are taken for each other, as with the
 * skeletons of UTS #39. Of ASCII's own look-alikes 1, I and l are one, and so are 0 and O.
 */
export function lookOf(name: string): string {
  const shapes = (text: string) => [...text].map((character) => asciiOf.get(character) ?? character).join('')
  // In both cases: a capital may look like another letter than its small form does.
  return shapes(shapes(name.normalize('NFKC')).toLowerCase())
    .normalize('NFC')
    .replace(/[l1]/g, 'i')
    .replaceAll('0', 'o')
}

/** Whether two names that look the same are spoofs of each other: plain ASCII names are told apart by their readers. */
export function isSpoof(one: string, other: string): boolean {
  return !(isAscii(one) && isAscii(other)) && lookOf(one) === lookOf(other)
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}
