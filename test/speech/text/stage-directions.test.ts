import * as assert from 'uvu/assert'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('stage directions')

/** Items between bars. */
const items = (list: string) => list.split('|').map((item) => item.replace(/\s+/g, ' ').trim())

/** Of scripts and chat models: the usual ones, of which the rule must know six in ten. */
const usual = items(`
  in a low voice | excited | takes a deep breath | laughs nervously | sighs | pauses | whispering | to himself |
  beat | clears throat | clears his throat | smiling | with a smile | under her breath | rolls eyes |
  rolling her eyes | softly | in a whisper | angrily | shouting | long pause | a beat | nods | shaking his head |
  leans in | leaning closer | looks away | looking down | voice breaking | voice trembling | her voice cracks |
  sarcastically | sarcastic | nervous laughter | laughing | chuckles softly | crying | tearfully | through tears |
  through gritted teeth | with a sigh | wiping away tears | in a mocking tone | mockingly | in a thick French accent |
  singing | hums quietly | applause | crowd cheers | music plays softly | door slams | phone rings | off-screen |
  voice-over | aside | to the audience | to camera | raises an eyebrow | shrugs | winks | claps hands |
  jumping up and down | very excited | slightly annoyed | confused | thinking | after a moment | dramatic pause |
  deadpan | catching her breath | gasps in horror | trying not to laugh |
  quietly | in a hushed tone | hesitantly | swallows hard | takes a sip of coffee | stares into the distance |
  grinning | with a smirk | excitedly | exhales slowly | deep breath | exhausted | laughing out loud | snorts |
  bursts into laughter | bursting into tears | sobbing uncontrollably | furious | pleading | whispers to Anna |
  muttering to herself | leans back in his chair | crosses her arms | arms crossed | hands on hips |
  taps the microphone | coughs | clearing throat | turning to the crowd | bows | waves | blushing | embarrassed |
  shyly | proudly | in disbelief | with tears in her eyes | voice rising | lowering his voice | raising her voice |
  speaking slowly | in a robotic voice | cheerful tone | serious | seriously now, leaning forward | short pause |
  silence | thunder rumbles | footsteps approach | lights dim | exits | enters from the left | sits down | stands up |
  gets up | frowning | pouting | giggles | half-laughing | out of breath | panting | yawning | sniffling | teasing |
  playful | calm and reassuring | warmly | gently, almost whispering | sings
`)

/** Ordinary asides of encyclopedias, news, manuals, recipes and mails, and words that directions use as well. */
const asides = items(`
  (see page 4) | (in 1998) | (or so I thought) | (about 3 km) | (both of them) | (excited states of atoms) |
  (a friend of mine) | (the one in Paris) | (for example) | (e.g. apples and pears) | (i.e. never) |
  (which I had forgotten) | (if you ask me) | (born 1950) | (and rightly so) | (at least in theory) |
  (not to mention the cost) | (formerly Burma) | (including tax) | (plus shipping) | (it was only a joke) |
  (he laughs a lot) | (because she was crying) | (with one exception) | (in a way) | (in a nutshell) |
  (in the long run) | (on Mondays) | (until noon) | (only July) | (pause the video first) | (see below) | (optional) |
  (again) | (my brother) | (his wife) | (the red one) | (more or less) | (sort of) | (as usual) | (no pun intended) |
  (thank God) | (just kidding) | (around noon) | (by the way) | (to be honest) | (to my surprise) |
  (to the left of the door) | (to some extent) | (at the end) | (or rather the opposite) | (that is, the music) |
  (music and dance) | (silence is golden) | (a short pause is normal) | (the singing bird) |
  (crying babies included) | (a whisper campaign) | (voice recognition) | (takes about an hour) |
  (works on Windows too) | (costs five dollars) | (starts at nine) | (World Health Organization) | (WHO) | (mostly) |
  (usually) | (roughly) | (early) | (family only) | (daily) | (Italy) | (obviously) | (technically speaking) |
  (in the voice of the people) | (with a friend) | (with milk and sugar) | (under construction) | (under the bridge) |
  (nodes) | (head office) | (hand-made) | (tone deaf people) | (left) | (right) | (as of 2020) | (see chapter 3) |
  (the second largest) | (not his real name) | (for the time being) | (in my opinion) | (unless it rains) |
  (at that time) | (two of which failed) | (a type of cheese) | (pronounced like "bee") | (up to ten people) |
  (from the Greek word for star) | (like most cats) | (who was only six) | (which is why he left) | (and her sister) |
  (or vice versa) | (except on Sundays) | (no later than Friday) | (almost always) | (hardly ever) | (supposedly) |
  (probably) | (locally sourced) | (highly recommended) | (freely available) | (a deep lake) | (low in fat) |
  (high in fibre) | (heavy rain) | (light rain) | (soft drinks) | (quiet rooms available) | (loud music prohibited) |
  (nervous system) | (angry customers) | (happy hour) | (serious injuries) | (exhausted batteries) |
  (with a capital A) | (with or without sugar) | (in a low-income area) | (in a small town) | (in high season) |
  (in short supply) | (in surprise attacks) | (on the phone) | (over the phone) | (the sound of music) |
  (a smile costs nothing) | (looks like rain) | (turns out he was right) | (takes two to tango) | (sits on a hill) |
  (stands for "Not a Number") | (breaks easily) | (runs on batteries) | (waves and particles) | (beats per minute) |
  (bow ties) | (claps of thunder) | (tears and sweat) | (breathing problems) | (standing room only) |
  (seating for forty) | (leaning tower of Pisa) | (rising prices) | (raising taxes) | (speaking of which) |
  (turning point) | (thinking ahead) | (trying times) | (sound familiar?) | (his favourite colour) |
  (her words, not mine) | (born 14 March 1879) | (c. 1420–1481) | (now part of Slovakia) |
  (formerly known as Constantinople) | (Latin for "wolf fish") | (the second largest after Titan) |
  (including the Faroe Islands) | (a branch of the Uralic family) | (crying being the first sign of life) |
  (sleeping up to twenty hours a day) | (up 3.2 percent on last year) | (about $4.5 million) | (D-Ohio) |
  (who later resigned) | (all of them under eighteen) | (falling prices notwithstanding) | (according to police) |
  (pending appeal) | (against 41 in 2019) | (his third in as many weeks) | (default: 30 seconds) | (see Figure 4) |
  (if the light is still blinking) | (press and hold for five seconds) | (version 2.1 or later) |
  (loading times may vary) | (read-only) | (USB-C only) | (without closing the lid) |
  (typically between 5 and 12 volts) | (about 200 g) | (finely chopped) | (or until golden brown) |
  (stirring occasionally) | (at room temperature) | (180°C fan) | (skin on) | (gently simmering, not boiling) |
  (resting time included) | (hereinafter "the Tenant") | (whether written or oral) | (subject to Section 12) |
  (excluding public holidays) | (as amended) | (standing orders excepted) | (heating and water included) |
  (the moving party) | (breathing apparatus included) | (in whole or in part) | (a ten-minute walk from the station) |
  (closed on Mondays) | (free for children under six) | (singing and dancing every Friday) |
  (no smoking anywhere on site) | (laughing gulls, mostly) | (pronounced "Lester") | (turn left at the church) |
  (roughly 40 miles) | (twice daily with food) | (shortness of breath) | (coughing up blood, for example) |
  (trembling hands or lips) | (less than 1 in 1,000 patients) | (high blood pressure) |
  (not to be taken during pregnancy) | (fainting is rare) | (also called whooping cough) | (37.5°C or above) |
  (6–4, 3–6, 7–5) | (after extra time) | (kicking off at 7:45 p.m.) | (batteries not included) |
  (knocking two seconds off her record) | (sorry for the late reply) | (Tuesday works too) |
  (the one with the broken handle) | (my sister's husband) | (I'll bring the cake) | *never* | *after* |
  *every single one* | *your* | *The Laughing Cavalier* | *Homo erectus* | *must* | *not* | *without* |
  *Pride and Prejudice* | *only if asked* | *before noon* | *The New York Times* | *why* | *listening* | *walking* |
  *Singin' in the Rain* | *déjà vu* | *by hand* | *Do not shake.* | (about 3.2 miles) | (see Chapter 4) | *two* |
  (including VAT) | (German: Rathaus) | (e.g. aspirin or ibuprofen) | (180°C) | (roughly 2 cups) | (not included) |
  (the "Tenant") | (if applicable) | (population 48,200) | (open daily except Mondays) | (aged 34) | (R-Ohio) |
  (up 4.5 percent from last year) | (laughing gas) | (may cause crying in infants) | (also called whispering bells) |
  (sighing is a common symptom) | (breathing difficulties, dizziness or rash) | (running costs excluded) |
  (walking distance from the station) | (swimming, cycling and running) | (smoking is prohibited) |
  (surprisingly, the cheapest of the three) | (unfortunately sold out) | (happily married since 1998) |
  (depression or anxiety) | (fear of heights) | (slowly adding the flour) | (stirring constantly) |
  (weather permitting) | (batteries sold separately) | (turning left at the church) |
  (depending on the size of the pan) | (assuming you have already registered) | (he died a year later) |
  (she now lives in Leeds) | (winning 3–1 on penalties) | (replacing the injured Harris) |
  (screaming is allowed on the roller coaster) | *Whispering Pines* | *really* | *before* | *Titanic* |
  *The Great Gatsby* | *only* | *Homo sapiens* | *all* | *always* | *did* | *loved* | *knew* | *at least* |
  *Crying in H Mart* | *same* | *three* | *any* | (5 mg/kg per day) | (Monday to Friday, 9 a.m. to 5 p.m.) |
  (1914–1918) | (pronounced "lester") | (NASA) | (Fig. 2) | (page 117) | (without prejudice to Section 8) |
  (whichever comes first) | (minimum order $25) | (or three, if you count the dog) | (I hope you don't mind) |
  (thank you again for the marmalade) | (my sister's eldest) | (the red one, not the blue) | (65 kg) |
  (known locally as the Old Lady) | (from Latin for "star") | (source: Eurostat) | (no. 7 seed) |
  (available in black and silver) | (bus 42 from the harbour) | (though few people believed him) |
  (both sides must agree in writing) | (which is saying something) | (and yes, we checked) |
  (coughing, sneezing) | *angry* | [pause] stops it | (sad, happy, angry) | (laughing matters aside) |
  (cries for help went unheard) | (whispers of a merger) | (sighing is allowed) | (nods are counted) | (looks can deceive) |
  (turns left at the mill) | (stands at the corner) | (takes a week) | (takes two forms) | (steps one to three) |
  (runs every night) | (running late) | (walking shoes) | (sitting room) | (rolls of paper) | (shakes and smoothies) |
  (raises questions) | (raising children) | (pulls no punches) | (holds true) | (holding costs) | (crossing the river) |
  (crosses the border twice) | (clears customs first) | (lowering the rent) | (closes at noon) | (kisses included) |
  (points of interest) | (leans towards a yes) | (starts in May) | (starting from scratch) | (tries again later) |
  (throws an exception) | (pausing billing) | (pauses are free) | (speaking of money) | (speaks for itself) |
  (singing lessons) | (smiles cost nothing) | (shouting is rude) | (screaming children) | (thinking of you) |
  (thinks like a child) | (bites of an apple) | (in a month) | (in a loud room) | (in a voice vote) | (with a friend) |
  (a silence that lasted) | (the pause button) | (applause was scarce) | (breath tests) | (voice mail) |
  (voice of America) | (his voice mail) | *laughter* is medicine
`)

test('of the usual directions three in four are not spoken where they are a sentence or open one', () => {
  assert.ok(usual.length >= 130)
  for (const [open, close] of ['()', '[]', '**'])
    for (const [before, after] of [
      ['', ' You never told me.'],
      ['You never told me. ', ''],
      ['He said: ', ' You never told me.'],
    ] as const) {
      const kept = usual.filter(
        (inside) => sanitize(`${before}${open}${inside}${close}${after}`) !== `${before.trim()}${after}`.trim(),
      )
      assert.ok(kept.length <= usual.length / 4, kept.join(' | '))
    }
})

test('no ordinary aside loses a word, wherever it stands', () => {
  assert.ok(asides.length >= 300)
  const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  for (const [before, after] of [
    ['', ' You never told me.'],
    ['You never ', ' told me.'],
    ['You never told me ', '.'],
    ['You never told me. ', ''],
  ] as const)
    assert.equal(
      asides.filter((aside) => words(sanitize(before + aside + after)) < words(before + aside + after)),
      [],
    )
})

test('each direction that goes is named as it was written, once', () => {
  const written: string[] = []
  const text = 'She felt *angry*. (sighs, looks away) **He** left (see page). 🎉 *nods* [pause]'
  const clean = sanitize(text, { onDirection: (direction) => written.push(direction) })
  assert.is(clean, 'She felt angry. He left (see page).')
  assert.equal(written, ['(sighs, looks away)', '*nods*', '[pause]'])
})

test('with keepDirections all are spoken', () => {
  const onDirection = (written: string) => assert.unreachable(written)
  assert.is(sanitize('(laughs) Hello. *nods*', { keepDirections: true, onDirection }), '(laughs) Hello. nods')
})

const examples: readonly (readonly [written: string, spoken: string])[] = [
  ['*sighs* I am tired.', 'I am tired.'],
  ['*takes a deep breath* Here we go.', 'Here we go.'],
  ['I do not know. *shrugs*', 'I do not know.'],
  ['_laughs nervously_ Fine.', 'Fine.'],
  ['*softly* I love you.', 'I love you.'],
  ['(whispering): Come here.', 'Come here.'],
  ['(laughs) (in a low voice) Come here.', 'Come here.'],
  ['“(sighs) Fine,” he said.', '“Fine,” he said.'],
  ['**sighs** Fine.', 'Fine.'],
  // Inside a sentence any words are its own.
  ['Well, *clears throat* let us begin.', 'Well, clears throat let us begin.'],
  ['Press (pause) now.', 'Press (pause) now.'],
  ['I do not know *shrugs*', 'I do not know shrugs'],
  ['He *laughs* at danger.', 'He laughs at danger.'],
  ['The dog *barks loudly* at night.', 'The dog barks loudly at night.'],
  // A small letter goes on with the sentence that emphasis opens.
  ['*Quietly*, he left.', 'Quietly, he left.'],
  ['*Crying* helps.', 'Crying helps.'],
  // Titles and headings.
  ['*Crying in H Mart* is a book.', 'Crying in H Mart is a book.'],
  ['*Whispering Pines* Hotel', 'Whispering Pines Hotel'],
  ['**Pause**\n\nPress it.', 'Pause\nPress it.'],
  // Other languages.
  ['(lacht leise) Gut.', 'Gut.'],
  ['(mit leiser Stimme) Gut.', 'Gut.'],
  ['(à voix basse) Oui.', 'Oui.'],
  ['(en voz baja) Sí.', 'Sí.'],
  ['(sospira) Sì.', 'Sì.'],
  ['(тихо) Да.', 'Да.'],
  ['（笑）你好。', '你好。'],
  ['(siehe Seite 4) Gut.', '(siehe Seite 4) Gut.'],
  ['(im Jahr 1998) Gut.', '(im Jahr 1998) Gut.'],
  ['(par exemple) Oui.', '(par exemple) Oui.'],
  ['(например) Да.', '(например) Да.'],
  ['（见第四页）你好。', '（见第四页）你好。'],
]
test('examples of the rule', () => {
  for (const [written, spoken] of examples) assert.is(sanitize(written), spoken)
})

test('hostile directions are read in one pass', () => {
  for (const kind of ['very ', 'and ', 'sighs and ', 'with a ', 'deep ', 'sighs, ', 'in a low ', 'hands on ']) {
    assert.ok(sanitize(`*${kind.repeat(20)}`.repeat(40)).length > 0)
    assert.ok(sanitize(`(${kind.repeat(110 / kind.length)}) `.repeat(400)).length >= 0)
  }
})

test.run()
