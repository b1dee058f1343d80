/** Phrases of English stage directions, and phrases of the same words that are none, as patterns by the part they play. */

/** A pattern that one of these alternatives fills from end to end. */
function phrases(...alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join('|')})$`, 'iu')
}

/** A pattern that begins with one of these alternatives. */
function openings(...alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join('|')})\\b`, 'iu')
}

/** Comments on how often something is so, or on part of it: no direction begins so. */
export const habits = openings(
  'usually|especially|sometimes|often|optionally|possibly|generally|mostly|frequently|originally|formerly|typically',
  'normally|perhaps|maybe|hopefully|strictly|particularly|mainly|chiefly|even|once|rarely|commonly|historically',
  'officially|sadly enough',
)

/** `New York accent`, `Enter LANE with a tray`: recognised by their capitals. */
export const capitalised = new RegExp(
  `^(?:${[
    '(?:thick |heavy |slight |bad |fake )?(?:\\p{Lu}\\p{L}+[ -]){1,2}accent',
    "(?:[Ee]nters?|[Ee]xits?|[Ee]xeunt|ENTERS?|EXITS?) (?:(?!PIN|URL|ID)\\p{Lu}[\\p{L}.]+)(?: \\p{Lu}[\\p{L}.]+)*(?:,? (?:with|from|carrying|followed|and|in|at|left|right|running|through|by|to|stage|wearing)\\b[ \\p{L}'’,]*)?",
  ].join('|')})$`,
  'u',
)

/** Additions to a direction; none by themselves. */
export const appended = new RegExp(
  `,? (?:${[
    'as (?:if|though) .*',
    'as (?:he|she|they) (?:speaks?|talks?|says? this|goes|works?|reads?|listens?|walks?|passes)',
    'at the same time|all the while|the whole time|for effect|in response|in reply|a (?:bit|little)',
    'for a (?:moment|second|beat|while)',
  ].join('|')})$`,
  'i',
)

/** `snotty laugh`: a sound or a face with words about it that only an adjective can be, or a feeling that is seen or heard. */
export const described = new RegExp(
  `^(?!\\p{L}+ing tone$)(?:${[
    '(?:a |another )?(?:(?:\\p{L}|-)+(?:y|ed|ing|ous|ful|less|ish|like|ic|ive|al),? ){1,2}(?:laugh|laughter|chuckle|sigh|giggle|giggling|voice|tone|grin|smirk|smile|gasp|groan|snort|shrug|nod|glance|stare|silence|pause)',
    '(?:an? )?(?:\\p{L}+ ){1,4}(?:in|into|through|across|over|to|from) (?:his|her|their) (?:voice|eyes|face|tone|features|cheeks|lips)',
    'new thought|unable to hear\\b.*',
  ].join('|')})$`,
  'iu',
)

/** Made of the words of directions and yet none. */
export const idioms = phrases(
  'hands (?:down|up|on|off)|face (?:to face|up|down)|hand in hand|head (?:over heels|on|first)|back (?:to back|and forth)',
  'eye to eye|heart to heart|neck and neck|thumbs up|in a (?:look|glance|gesture)|hands[ -]free|fingers crossed',
  '(?:waves?|whispers?|screams?|cries|shouts) of .+|nod(?:s|ding) off|swear(?:s|ing)? by .+',
  '(?:exit|enter|return) \\p{Ll}+|open(?:s|ing) the door (?:to|for) .+',
  '(?:turning|stirring) (?:once|twice|now and then|occasionally)|touch(?:es|ing) the (?:wall|floor|ceiling|ground)',
  'tak(?:es|ing) (?:his|her|their|the) (?:place|name|time|degree|leave|oath|office|seat in|lead|train|bus|stairs|metro|tram).*',
  'tears? (?:easily|gas|off)|mock|fake|arch|entered|exited|paused|dry cough|over',
)

/** `in a hushed, trembling tone`, `in the voice of a child`: before such a noun any word describes a voice. */
export const spokenIn = phrases(
  `${[
    '(?:(?:almost|still|now|again|speaking|talking|whispering|says|said|continuing|singing|replying) )?',
    'in (?:an?|his|her|their|my|your)',
    "(?!(?: [\\p{L}'-]+,?)* (?:active|passive|different|similar|male|female|single)\\b)(?:,? [\\p{L}'’-]+){0,5} ",
    '(?:voice|tone|tone of voice|whisper|accent|murmur|growl|drawl|falsetto|monotone|mumble|undertone|manner of speaking|hiss|rasp|croak|shriek|squeak|sing-song|singsong|lisp|twang|brogue|rush|panic)',
    '(?: (?:of|like|to|full of|thick with|filled with|that|as if|as though|so|with) [^()]*|, [^()]*)?',
  ].join('')}`,
)

/** `with a broad, toothy smile`: these nouns need no known word about them. */
export const spokenWith = phrases(
  `${[
    "(?:\\p{L}+ly )?with (?:an?|his|her|their)(?:,? [\\p{L}'’-]+){0,3} ",
    '(?:voice|accent|smile|grin|smirk|sigh|laugh|chuckle|giggle|shrug|nod|wink|frown|gasp|sob|groan|snort|yawn|sneer|scowl|grimace|shudder|bow|curtsy|flourish|gesture|snarl|lisp|whisper|cry|scream|tremor|catch in (?:his|her|their) (?:voice|throat)|lump in (?:his|her|their) throat|twinkle in (?:his|her|their) eyes?|glint in (?:his|her|their) eyes?|tear in (?:his|her|their) eyes?)',
  ].join('')}`,
)

/** Formulas of scripts and captions that no rule makes. */
export const formulas = phrases(
  // Abbreviations, and how well the words are heard.
  'v\\. ?o\\.?|o\\. ?s\\.?|o\\. ?c\\.?|sotto voce|mouth full|under (?:his|her|their|my|your|the) breath',
  '(?:almost|barely|scarcely|hardly|just|nearly) (?:audible|inaudible|audibly|inaudibly|above a whisper|intelligible)',
  '(?:only )?just audible|gunshots?|gunfire|a knock(?: (?:at|on) the door)?',
  // Devices and places.
  '(?:in)?to (?:the )?(?:phone|telephone|radio|mic|microphone|intercom|walkie-talkie|camera|receiver|mirror)',
  '(?:on|over|via|through) (?:phone|radio|intercom|speaker|loudspeaker|headset|tv|pa)|still on the phone',
  '(?:out of|from) (?:the )?(?:shadows|darkness|wings)|(?:from )?(?:off ?stage|backstage|upstage|downstage)',
  'from (?:the (?:next|other) room|off|behind the (?:door|curtain|screen))|in the doorway|out of nowhere',
  // Pauses, reactions and states.
  'a few beats|(?:two|three) beats|mid-(?:sentence|laugh|sob|bite|sip|yawn)|off (?:his|her|their) (?:look|reaction)',
  'no (?:response|reaction|answer|reply)|gets? no (?:answer|reply|response)|taken aback|half asleep',
  'on the verge of a breakdown|at a loss(?: for words)?|lost for words|beside (?:him|her)self(?: with \\p{L}+)?',
  'none too \\p{L}+|not (?:very )?convinced|more to (?:him|her|them)sel(?:f|ves)|mock-\\p{L}+|with mock \\p{L}+',
  'unable to (?:speak|move|look|answer|reply|continue|go on|breathe|hide|stop|contain|resist)\\b.*',
  '(?:frozen|rooted) (?:to the spot|in place|with (?:fear|shock)|in (?:fear|shock|horror))',
  // Ways to speak.
  '(?:doing|does|does) (?:his|her|their|an?) (?:best |worst |terrible |bad )?(?:\\p{L}+ )?(?:impression|impersonation|voice|dance|accent)(?: of .+)?',
  'interrupting(?: \\p{L}+)?|(?:at|speaking at) the same time|(?:changing|avoiding) the subject',
  '(?:pretending|protesting|correcting (?:him|her)self|recovering|stalling|insisting|bluffing|reminiscing|flirting|gloating|bragging|boasting|complaining|grumbling|scolding|shivering|hyperventilating|improvising|daydreaming|brooding|conceding|deflecting|backpedaling|marveling|reconsidering|overlapping|mimicking|imitating|sweating|squirming)',
  '(?:composing (?:him|her)self|breaking off|trailing off|trails off|breaks off|waking up|coming to|giving up|giving in)',
  'both at once|all together|in unison',
  // Comparisons.
  'as (?:if|though) (?:to (?:a child|(?:him|her)self|an idiot|the audience)|in (?:pain|a dream|a trance|prayer|shock)|about to (?:cry|speak|faint|leave|sneeze)|nothing happened|(?:speaking|talking) to [\\p{L} ]+|hypnoti[sz]ed|remembering|waking|bored|stung|slapped|hurt|possessed|afraid|in pain)',
  'like a (?:child|ghost|robot|little girl|little boy|general|teacher)',
)

/** Whole directions of place, state and scene, each from its word on. */
export const scenes = new RegExp(
  `^(?:${[
    '(?:on|down on) (?:his|her|their) knees|out of breath|on the (?:verge|brink|edge) of (?:tears|crying|laughter)',
    '(?:close to|near|in) tears|(?:deep|lost) in thought|fade (?:in|out|to black)|cut to black|(?:end|new) (?:of )?scene',
    'silence (?:falls|follows)|(?:enter|exit|exits|enters|aside to) \\p{Lu}\\p{Ll}+',
    'sounds? of (?:thunder|footsteps|rain|wind|applause|laughter|glass|an? \\p{Ll}+)',
  ].join('|')})$`,
  'iu',
)

/** The object of a mood: `angry at himself`, `happy to see her`. */
export const moodObjects = phrases(
  '(?:with|at|of|about|by|for) (?:(?:him|her|it)self|themselves|him|her|them|it)',
  'to (?:see|hear|find|meet) (?:him|her|them|it|this|that)',
)

/** A degree before a manner: `a little too`, `kind of`. */
export const degrees =
  /^(?:(?:a )?(?:little|bit|touch|tad|trifle)(?: too)?|(?:kind|sort) of|too|ever so|more and more|not a little) (?=\S)/i

/** How and where a sound is heard, behind its verb. */
export const echoes = phrases(
  '(?:\\p{L}+ly )?(?:in|from|on|over|outside|through|nearby|at|against) (?:(?:the|a) )?(?:\\p{L}+ )?\\p{L}+',
)

/** Instructions that only look like gestures. */
export const pointers = phrases('points? to the .*(?:node|page|file|end|start|fact|entry|element|item|record)')

/** Between asterisks: a verb with more behind it, and yet no movement. */
export const impersonalPhrases = openings(
  'thanks|reads like|drives \\p{L}+ \\p{L}+|walks (?:you|us|me|them) through|drops support',
  'opens? (?:a|up) (?:port|connection|file)|(?:makes|made) (?:sense|up)|(?:goes|comes) (?:with|without|from)',
  'takes? (?:precedence|place|time|part|care|effect|\\p{L}+ (?:minutes|hours|days|weeks))|taking (?:part|place|care)',
  'looks? like|stands? for|runs? on|turns? out|falls? (?:short|under)|breaks? (?:down|even)|holds? true',
  'gets? (?:better|worse|the)|keeps? \\p{L}+ing|keeping in mind|looking (?:for|forward)|getting|going to',
  '(?:starting|opening|closing|turning|breaking|standing|walking|running|talking|speaking|drinking|reading|writing|meeting|setting|checking|sitting|hanging|resting|moving) (?:point|distance|order|hours|news|points|book|books|desk|water|room|shoes|list|of)',
)
