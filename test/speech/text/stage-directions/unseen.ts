import { lines } from './measure.ts'

/**
 * Two lists written without sight of the rules or the other lists, counted before the rules were touched again.
 * At first sight, in front, in the middle, before the full stop and behind it: of the first 93, 92, 89 and 93 % of the
 * directions were removed, of the second 94, 93, 93 and 94 %; none of the 200 asides lost a word.
 */

export const firstDirections = lines(`
  (whispering) | (laughs) | (beat) | (long pause) | (sarcastically) | (to the audience) | (under her breath) |
  (through gritted teeth) | (clears throat) | (enters from stage left) | (crossing to the window) | (softly) |
  (with mock horror) | (into phone) | (aside) | (rolling his eyes) | (not looking up) | (a little too quickly) |
  (sotto voce) | (off his look) | (sits heavily) | (sniffling) | (lighting a cigarette) | (deadpan) |
  (shouting over the music) | (in a thick Scottish accent) | (O.S.) | (V.O.) | (half to himself) | (breaking down) |
  (tearfully) | (wiping her hands on her apron) | (exits) | (trailing off) | (checks his watch) | (still chewing) |
  (hesitantly) | (pointing at the door) | (thunder rumbles) | (ad lib greetings) | (then, quietly) |
  (turning to Margaret) | (bitterly) | (mouth full) | (pours himself another drink) | (singing off-key) |
  (re: the letter) | (stammering) | (mimicking her mother) | (slams the door) | [applause] | [door creaks] |
  [sighs deeply] | [phone ringing] | [indistinct chatter] | [upbeat music playing] | [speaking French] | [gasps] |
  [coughing] | [footsteps approaching] | [silence] | [glass shatters] | [chuckles nervously] | [crosstalk] |
  [groans] | [dog barking in distance] | [intro theme fades] | [excitedly] | [panting] | [gunshot] |
  [tires screech] | [narrator, warmly] | [yawns] | [inhales sharply] | [audience boos] | *smiles* | *nods slowly* |
  *blushes and looks away* | *raises an eyebrow* | *hugs you tightly* | *giggles* | *shrugs* |
  *leans against the doorframe* | *takes a deep breath* | *facepalm* | *tilts head curiously* | *smirks* |
  *pats your shoulder* | *winks* | *bites her lip* | *her eyes widen* | *his voice cracks* |
  *runs a hand through his hair* | *tail wags happily* | *crosses arms* | *whimpers* | *steps closer* |
  *stares blankly* | *curtsies* | *draws his sword*
`)

export const firstAsides = lines(`
  (born 14 March 1879) | (c. 1420–1481) | (now part of Slovakia) | (formerly known as Constantinople) |
  (Latin for "wolf fish") | (the second largest after Titan) | (including the Faroe Islands) |
  (a branch of the Uralic family) | (crying being the first sign of life) | (sleeping up to twenty hours a day) |
  (up 3.2 percent on last year) | (about $4.5 million) | (D-Ohio) | (who later resigned) |
  (all of them under eighteen) | (falling prices notwithstanding) | (according to police) | (pending appeal) |
  (against 41 in 2019) | (his third in as many weeks) | (default: 30 seconds) | (see Figure 4) |
  (if the light is still blinking) | (press and hold for five seconds) | (version 2.1 or later) |
  (loading times may vary) | (read-only) | (USB-C only) | (without closing the lid) |
  (typically between 5 and 12 volts) | (about 200 g) | (finely chopped) | (or until golden brown) |
  (stirring occasionally) | (at room temperature) | (180°C fan) | (skin on) | (optional) |
  (gently simmering, not boiling) | (resting time included) | (hereinafter "the Tenant") |
  (whether written or oral) | (subject to Section 12) | (excluding public holidays) | (as amended) |
  (standing orders excepted) | (heating and water included) | (the moving party) | (breathing apparatus included) |
  (in whole or in part) | (a ten-minute walk from the station) | (closed on Mondays) |
  (free for children under six) | (singing and dancing every Friday) | (no smoking anywhere on site) |
  (laughing gulls, mostly) | (standing room only) | (pronounced "Lester") | (turn left at the church) |
  (roughly 40 miles) | (twice daily with food) | (shortness of breath) | (coughing up blood, for example) |
  (trembling hands or lips) | (less than 1 in 1,000 patients) | (high blood pressure) |
  (not to be taken during pregnancy) | (fainting is rare) | (also called whooping cough) | (37.5°C or above) |
  (6–4, 3–6, 7–5) | (after extra time) | (kicking off at 7:45 p.m.) | (batteries not included) |
  (knocking two seconds off her record) | (sorry for the late reply) | (Tuesday works too) |
  (the one with the broken handle) | (my sister's husband) | (I'll bring the cake) | *never* | *after* |
  *every single one* | *your* | *The Laughing Cavalier* | *Homo erectus* | *must* | *not* | *without* |
  *Pride and Prejudice* | *only if asked* | *before noon* | *The New York Times* | *why* | *listening* | *walking* |
  *Singin' in the Rain* | *déjà vu* | *by hand* | *Do not shake.*
`)

export const secondDirections = lines(`
  (sighs) | (whispering) | (laughing nervously) | (pause) | (beat) | (under her breath) | (clears throat) |
  (door creaks open) | (footsteps approaching) | (angrily) | (softly) | (to himself) | (sarcastic) | (with a shrug) |
  (looking away) | (sobbing) | (off-screen) | (on the phone) | (thunder rumbling in the distance) | (gasps) |
  (mock-serious) | (after a long silence) | (enter Margaret, carrying a tray) | (exits left) | (phone buzzes) |
  (crowd cheering) | (barely audible) | (hesitantly) | (voice breaking) | (turning to the window) | (coughs) |
  (sniffles) | (deadpan) | (through gritted teeth) | (indistinct chatter) | (glass shatters) | (dog barking) |
  (smiling) | (he slams the book shut) | (takes a deep breath) | (tearfully) | (overlapping) |
  (in a thick Scottish accent) | (imitating his father) | (interrupting) | (rolls his eyes) |
  (kneels beside the bed) | (half asleep) | (exasperated) | (singing off-key) | [music swelling] | [applause] |
  [laughter] | [inaudible] | [speaking French] | [gunshot] | [engine revving] | [wind howling] | [long pause] |
  [silence] | [chuckles] | [groans] | [panting] | [static crackles] | [excitedly] | [screams] | [baby crying] |
  [knocking on door] | [yawns] | [muffled shouting] | [gulps] | [warmly] | [slow, menacing] | [narrator, hushed] |
  [birds chirping] | *giggles* | *blushes* | *tilts head* | *hugs you tightly* | *winks* | *leans in closer* |
  *nods slowly* | *facepalms* | *raises an eyebrow* | *bites her lip* | *runs a hand through his hair* | *purrs* |
  *grins mischievously* | *crosses arms* | *stares at the floor* | *pats your head* | *frowns* | *waves* |
  *sips her tea* | *stretches lazily* | *trembling* | *wipes away a tear* | *steps back, startled* | *snorts* |
  *sits down next to you*
`)

export const secondAsides = lines(`
  (born 14 March 1879) | (about 3.2 miles) | (see Chapter 4) | *never* | *two* | (including VAT) |
  (German: Rathaus) | (formerly known as Constantinople) | (e.g. aspirin or ibuprofen) | (180°C) | (roughly 2 cups) |
  (finely chopped) | (not included) | (the "Tenant") | (if applicable) | (population 48,200) |
  (open daily except Mondays) | *must* | *not* | (aged 34) | (R-Ohio) | (up 4.5 percent from last year) |
  (laughing gas) | (may cause crying in infants) | (also called whispering bells) | (sighing is a common symptom) |
  (breathing difficulties, dizziness or rash) | (running costs excluded) | (walking distance from the station) |
  (swimming, cycling and running) | (smoking is prohibited) | (surprisingly, the cheapest of the three) |
  (unfortunately sold out) | (happily married since 1998) | (depression or anxiety) | (fear of heights) |
  (slowly adding the flour) | (stirring constantly) | (weather permitting) | (batteries sold separately) |
  (turning left at the church) | (depending on the size of the pan) | (assuming you have already registered) |
  (he died a year later) | (she now lives in Leeds) | (winning 3–1 on penalties) | (replacing the injured Harris) |
  (standing room only) | (screaming is allowed on the roller coaster) | *Whispering Pines* |
  *The Laughing Cavalier* | *really* | *before* | *Titanic* | *The Great Gatsby* | *only* | *your* | *Homo sapiens* |
  *all* | *The New York Times* | *always* | *did* | *loved* | *knew* | *at least* | *déjà vu* | *after* |
  *Crying in H Mart* | *same* | *three* | *any* | (5 mg/kg per day) | (Monday to Friday, 9 a.m. to 5 p.m.) |
  (1914–1918) | (pronounced "lester") | (NASA) | (World Health Organization) | (Fig. 2) | (page 117) |
  (without prejudice to Section 8) | (whichever comes first) | (minimum order $25) | (optional) |
  (or three, if you count the dog) | (I hope you don't mind) | (thank you again for the marmalade) |
  (my sister's eldest) | (the red one, not the blue) | (65 kg) | (known locally as the Old Lady) |
  (from Latin for "star") | (source: Eurostat) | (no. 7 seed) | (6–4, 3–6, 7–5) | (available in black and silver) |
  (bus 42 from the harbour) | (though few people believed him) | (both sides must agree in writing) |
  (which is saying something) | (and yes, we checked)
`)
