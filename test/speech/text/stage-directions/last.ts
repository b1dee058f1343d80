/**
 * Lists of the 22nd of November 2026, written after the rules were finished, counted once (43 of 60 removed, no aside lost)
 * and then used to widen the rules. The directions are short
 * phrases of other writers: role-play chat in public repositories, one-act plays on blogs, tags of a speech service. Of the
 * asides the first half is from public recipes, biographies and hotel reviews; the others are our own.
 */
import { lines } from './measure.ts'

/** Are not to be spoken. */
export const directions = lines(`
  *softly pulls a warm knitted blanket around your shoulders, offering a gentle smile* |
  *rubs the back of his neck, an unmistakable warm blush rising on his cheeks* |
  *looks down shyly, smiling softly into his sketchbook* | *sets the mug down* | *laughs and looks away* | *blinks* |
  *rubs the back of her neck* | *bumps your shoulder* | *pulls the blanket up* |
  *averts his gaze shyly before sneaking a sweet smile* | *gives a quiet, bashful wave with wide, gentle eyes* |
  *huffs and crosses her arms* | *tail poofs up in surprise* | *ears flatten back against her head* |
  *reaches out as if to touch you, then pulls back* | *shuffles her feet* | *looks down, hiding a blush* |
  *flicks a blue spark at your nose* | *yawns and stretches like a cat* | *flicks her tail against the floor* |
  *stares intently at your shadow* | *rearranges the items on the table* | *traces the edge of her cup* |
  *looks at you with a 'can you believe this' expression* | *catches a falling leaf* |
  *tail stiffens, then relaxes* | *shrugs, but his tail sways a little* | *exhales* |
  *grinning, still in his jersey* | *Grabs menus and rolls eyes* |
  [excitedly] | [disappointed and amused at the same time] | (Mumbles to herself) | (Distractedly) |
  (Very unhappily.) | (Nervousness peeks through her voice.) | (unable to hear through the running water) |
  (interrupting) | (mockingly) | (calmly) | (Looking in a compact mirror) | (puts hands up) | (New thought) |
  (Takes a breath in as if about to speak) | (Snotty laugh) | (Looks elsewhere) | (Laughs a bit) |
  (Sarcastic-like tone) | [amused] | [frustrated] | [casual] | [laughs softly] | [breath] | [curious] | [whispers] |
  [entering the room] | [gasp] | [sobbing] | [chuckle] | [warmly] |
`)

/** Are to be spoken. */
export const asides = lines(`
  (preferably, Italian style) | (frozen) | (you can leave the skin) | (to mix with flour) | (stove top) |
  (crock pot) | (optional, for thickening) | (or minced garlic) | (since it freezes well) |
  (If you choose to go the stew beef route) | (You may want to stir once or twice.) | (with lavender) |
  (both literary and musical) | (didn't need any) | (a treat in California suburbia) |
  (The shower with its forceful, massaging stream was particularly good) | (see our El Convento post here) |
  (no English channels) | (and our instructor Alec) | (and cast) | (the hotel's name is a mouthful!) |
  (although it was fun, I must admit) | (Times Square) | (me and my friend) | (such as a swimming pool) |
  (which I never got to try) | (This may come as a surprise to anyone) | (requires password) | (and not-so-famous!) |
  (in English) | (of even length) | (as it is termed in French) | (main exhibition and children's exhibition) |
  (weekend until seven) | (at the tender age of thirteen) |
  (walking tour) | (standing order) | (closed to traffic) | (his then employer) | (passing the exam is required) |
  (writing as "Boz") | (serving suggestion) | (laughing stock) | (shaking hands is optional) | (sitting tenants) |
  (carrying a child is free) | (speaking as a lawyer) | (holding company) | (looking back, a mistake) |
  (turns out fine) | *less* | *this* | *The Times* | *never again* | *you* | *only* | *Moby-Dick* |
  *extremely careful* | *could* | *per se* |
`)
