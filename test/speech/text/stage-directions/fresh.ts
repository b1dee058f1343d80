/**
 * Lists of the 22nd of November 2026, written before a look at the rules: as theatre scripts, role-play chat and
 * screenplays or subtitles write directions, and as encyclopedias, news, contracts, manuals, recipes, mails and travel
 * guides use parentheses, brackets and emphasis. Every other item, from the first on, was then in sight when the rules
 * were improved; the others were only counted.
 */
import { lines } from './measure.ts'

/** Are not to be spoken. */
export const directions = lines(`
  (crossing to the window) | (aside) | (rises, furious) | (to the audience) | (sits down heavily) |
  (picking up the lamp) | (in a strangled voice) | (with sudden tenderness) | (not looking at her) | (bitterly) |
  (after a long pause) | (he hesitates) | (exits left) | (enter a servant) | (she slaps him) | (lowering his voice) |
  (half to himself) | (without turning round) | (kneels beside the bed) | (beat) | (taken aback) |
  (under his breath) | (offering him a chair) | (drily) | (lights a cigarette) | (reading from the letter) |
  (wringing her hands) | (a knock at the door) | (they embrace) | (looks at his watch) | (through gritted teeth) |
  (on the verge of tears) | (mimicking her accent) | (backs away slowly) | (very calmly) | (pours himself a whisky) |
  (with a shrug) | (off stage) | (startled) | (tearing up the contract) | (trying not to laugh) |
  (throws the book on the floor) | (blackout) | (coldly, to Martin) | (a long silence) |
  (staggers against the wall) | (hands him the key) | (wipes her eyes) | (all laugh) | (suddenly serious) |
  *smiles warmly* | *tilts head* | *blushes and looks away* | *wags tail happily* | *pulls you closer* |
  *rolls eyes* | *takes your hand gently* | *shrugs* | *bites her lip* | *whispers in your ear* |
  *crosses arms and pouts* | *laughs out loud* | *stares at the floor* | *grins mischievously* | *sips coffee* |
  *raises an eyebrow* | *scratches the back of his neck* | *eyes widen* | *her voice trembles* |
  *runs a hand through my hair* | *facepalm* | *sighs dramatically* | *hugs you tightly* | *perks up* | *winks* |
  *slams the door shut* | *leans in closer* | *looks around nervously* | *chuckles softly* | *gasps in surprise* |
  *twirls a strand of hair* | *draws sword* | *bows deeply* | *yawns and stretches* | *fidgets with sleeve* |
  *pats your shoulder* | *curls up on the sofa* | *hides behind a pillow* | *sits next to you* |
  *tears streaming down her cheeks* | *clenches fists* | *snickers* | *opens the old map* | *still laughing* |
  *turning red* | *hops onto the counter* | *narrows eyes suspiciously* | *quietly* | *exhales slowly* |
  *puts on glasses* |
  (V.O.) | (whispering) | (into phone) | (O.S.) | (cont'd) | (sarcastic) | (mouth full) | (re: the photograph) |
  (breathless) | (in French accent) | (shouting over the engine) | (nervous laughter) | (sotto voce) |
  (off her look) | (muffled) | (choking back tears) | (sobs quietly) | (clears his throat) | (with a deep sigh) |
  (in a mocking tone) | (slightly annoyed) | (pause) | (beaming) | (relieved) | (deadpan) | (as if to a child) |
  (tired but friendly) | (growing impatient) | (inhales sharply) | (singing softly) | [door slams] |
  [indistinct chatter] | [applause] | [thunder rumbling] | [phone rings] | [dramatic music playing] |
  [dog barking in the distance] | [gunshots] | [crowd cheering] | [sniffles] | [speaking Spanish] |
  [footsteps approaching] | [engine revving] | [laughter] | [birds chirping] | [inaudible] | [glass shatters] |
  [wind howling] | [coughing violently] | [music fades] |
`)

/** Are to be spoken. */
export const asides = lines(`
  (born 12 May 1921) | (1756–1791) | (formerly Bombay) | (also known as the red fox) | (see below) | (about 300 km) |
  (the largest in Europe) | (now part of Poland) | (from the Greek for "star") | (Latin: Canis lupus) |
  (population 24,000) | (not to be confused with the river) | (United Nations) | (down from 7 percent last year) |
  (who died in 1998) | (pictured left) | (according to the police) | (including two children) | (a former minister) |
  (the "Seller") | (as amended) | (other than the tenant) | (if applicable) | (whether or not in writing) |
  (hereinafter the Company) | (except Sundays) | (roughly half of the voters) | (D-Ohio) |
  (first published in 1954) | (and its subsidiaries) | (most of them women) | (running since 1987) |
  (led by the Labour party) | (speaking countries only) | (his second wife) | (the opening night) |
  (then aged nine) | (an angry crowd had gathered) | (playing in the second division) | (which he later denied) |
  (standing committee) | (winning margin) | (living room included) | (closed in winter) |
  (the sad news came in March) | (rising to 40 in 2030) | (dated 3 June) | (mostly used in the north) |
  (meaning "white house") | (still in force) |
  (RAM) | (or any text editor) | (version 2.1 or later) | (default: true) | (optional) | (deprecated) | (read-only) |
  (returns null if missing) | (running on port 8080) | (in bytes) | (e.g. a laptop) | (not recommended) |
  (case-sensitive) | (left column) | (requires a restart) | (calls the parser twice) | (opens in a new window) |
  (turning the wheel locks it) | (using the default settings) | (with the flag set) | (in the background) |
  (quietly ignored by older browsers) | (throws an error when empty) | (runs on Linux and macOS) |
  (takes two seconds at most) | (finely chopped) | (2 tablespoons) | (at room temperature) | (about 20 minutes) |
  (softened) | (or until golden brown) | (preferably organic) | (cooking time included) | (drained and rinsed) |
  (serves four) | (lightly beaten) | (cooking oil) | (boiling water) | (slowly cooked) | (gently warmed) | (I hope) |
  (no pun intended) | (my sister, that is) | (as usual) | (thank you!) | (just in case) | (sorry about that) |
  (if you have time) | (or so I heard) | (attached) | (the blue one) | (long story) | (with milk, please) |
  (which is a shame) | (you know how he is) | (Tuesday, not Monday) | (let me know) | (except Anna) | (at last) |
  (more on that later) |
  (walking shoes) | (a short walk away) | (sleeping bags provided) | (free of charge) | (open daily) |
  (parking available) | (five-minute drive) | (closed on Mondays) | (platform 4) | (adults only) |
  (breakfast included) | (no smoking) | (standing room only) | (shared bathroom) | (with a sea view) |
  (ringing the bell is allowed) | (in a quiet street) | (near the station) | (via Lyon) | (one way) |
  (swimming pool) | (looking north) | (drinking water) | (cash only) | (upper deck) | *very* | *not* | *always* |
  *never* | *must* | *the* | *Hamlet* | *your* | *all* | *War and Peace* | *before* | *is* | *today* |
  *really important* | *The New York Times* | [citation needed] | [page 3] | [sic] | [name withheld] |
  [emphasis added] | [see note 4] | [the president] | [updated] | [PDF] | [in Paris] |
`)
