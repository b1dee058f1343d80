import * as lists from './english-direction-words.ts'

/** What a direction tells: what happens, or how something is said. */
export type Direction = 'action' | 'manner'

type Form = 'base' | 's' | 'ing' | 'ed'

/** Comments on how often something is so, or on part of it: no direction begins so. */
const ofHabit =
  /^(?:usually|especially|sometimes|often|optionally|possibly|generally|mostly|frequently|originally|formerly|typically|normally|perhaps|maybe|hopefully|strictly|particularly|mainly|chiefly|even|once|rarely|commonly|historically|officially|sadly enough)\b/i

/** `New York accent`, `Enter LANE with a tray`: told by their capitals. */
const capitalised =
  /^(?:(?:thick |heavy |slight |bad |fake )?(?:\p{Lu}\p{L}+[ -]){1,2}accent|(?:[Ee]nters?|[Ee]xits?|[Ee]xeunt|ENTERS?|EXITS?) (?:(?!PIN|URL|ID)\p{Lu}[\p{L}.]+)(?: \p{Lu}[\p{L}.]+)*(?:,? (?:with|from|carrying|followed|and|in|at|left|right|running|through|by|to|stage|wearing)\b[ \p{L}'’,]*)?)$/u

/** Verbs with which his or her body and things are moved, in directions: other things of his are told of as well. */
const lasting =
  /^(?:leav|start|begin|continu|los|keep|find|follow|fac|lead|return|giv|join|becom|grow|go|fall|fight|break|rais|set|hold|cut|change|chang|slow|switch|sink|lie|us|writ|sign|kill|cover|check|finish|mark|defend|attack|remain|report|serv|present|produc|consider|decid|seem|wear|stay|introduc|prepar|call|drive|type|ignor|avoid|block|collect|clos|draw|show|stud|watch|guid|help|feed|deliver|speak|talk|support|gather|compos|approach|cross|settl|resum|drop|hit|pass|mov|enter|rest|answer|interrupt)/i

/** What is his or hers without being in reach. */
const belongings =
  /^(?:place|name|career|debut|life|job|wife|husband|children|sons?|daughters?|family|work|death|title|office|company|own|first|second|third|last|team|party|country|home|house|degree|term|reign|role|retirement|record|fortune|health|rights?|crown|throne|birth|youth|age|time|parents|father|mother|brother|sister|friends?|students?|readers?|fans|followers|army|troops|successor|predecessor|novels?|books|films?|albums?|songs?|plays?|poems?|music|art|style|views?|theory|ideas?|plans?|claims?|bid|case|contract|sentence)$/i

/** What is told beside a direction and makes none by itself. */
const appended =
  /,? (?:as (?:if|though) .*|as (?:he|she|they) (?:speaks?|talks?|says? this|goes|works?|reads?|listens?|walks?|passes)|at the same time|all the while|the whole time|for effect|in response|in reply|a (?:bit|little)|for a (?:moment|second|beat|while))$/i

/** A sound or a face with words about it that only an adjective can be: `snotty laugh`; a feeling that is seen or heard. */
const described =
  /^(?!\p{L}+ing tone$)(?:(?:a |another )?(?:(?:\p{L}|-)+(?:y|ed|ing|ous|ful|less|ish|like|ic|ive|al),? ){1,2}(?:laugh|laughter|chuckle|sigh|giggle|giggling|voice|tone|grin|smirk|smile|gasp|groan|snort|shrug|nod|glance|stare|silence|pause)|(?:an? )?(?:\p{L}+ ){1,4}(?:in|into|through|across|over|to|from) (?:his|her|their) (?:voice|eyes|face|tone|features|cheeks|lips)|new thought|unable to hear\b.*)$/iu

/** Nouns that say nothing without a word about them. */
const vague = /^(?:look|manner|register|volume|pitch|pride|panic|passion|irony|emotion|voices?)$/i

/** What is sung or said. */
const sung = new Set(['tune', 'song', 'melody', 'goodbye', 'hello', 'line', 'lines', 'words', 'note', 'lyrics'])

/** Made of such words and yet no direction. */
const idioms =
  /^(?:hands (?:down|up|on|off)|face (?:to face|up|down)|hand in hand|head (?:over heels|on|first)|back (?:to back|and forth)|eye to eye|heart to heart|neck and neck|thumbs up|in a (?:look|glance|gesture)|(?:waves?|whispers?|screams?|cries|shouts) of .+|hands[ -]free|fingers crossed|nod(?:s|ding) off|swear(?:s|ing)? by .+|(?:exit|enter|return) \p{Ll}+|open(?:s|ing) the door (?:to|for) .+|(?:turning|stirring) (?:once|twice|now and then|occasionally)|touch(?:es|ing) the (?:wall|floor|ceiling|ground)|tak(?:es|ing) (?:his|her|their|the) (?:place|name|time|degree|leave|oath|office|seat in|lead|train|bus|stairs|metro|tram).*|tears? (?:easily|gas|off)|mock|fake|arch|entered|exited|paused|dry cough|over)$/iu

/** No direction is longer, in words. */
const longest = 12

/** `in a hushed, trembling tone`, `in the voice of a child`: before such a noun any word describes a voice. */
const spokenIn =
  /^(?:(?:almost|still|now|again|speaking|talking|whispering|says|said|continuing|singing|replying) )?in (?:an?|his|her|their|my|your)(?!(?: [\p{L}'-]+,?)* (?:active|passive|different|similar|male|female|single)\b)(?:,? [\p{L}'’-]+){0,5} (?:voice|tone|tone of voice|whisper|accent|murmur|growl|drawl|falsetto|monotone|mumble|undertone|manner of speaking|hiss|rasp|croak|shriek|squeak|sing-song|singsong|lisp|twang|brogue|rush|panic)(?: (?:of|like|to|full of|thick with|filled with|that|as if|as though|so|with) [^()]*|, [^()]*)?$/iu

/** `with a broad, toothy smile`: these nouns need no word about them that is known. */
const spokenWith =
  /^(?:\p{L}+ly )?with (?:an?|his|her|their)(?:,? [\p{L}'’-]+){0,3} (?:voice|accent|smile|grin|smirk|sigh|laugh|chuckle|giggle|shrug|nod|wink|frown|gasp|sob|groan|snort|yawn|sneer|scowl|grimace|shudder|bow|curtsy|flourish|gesture|snarl|lisp|whisper|cry|scream|tremor|catch in (?:his|her|their) (?:voice|throat)|lump in (?:his|her|their) throat|twinkle in (?:his|her|their) eyes?|glint in (?:his|her|their) eyes?|tear in (?:his|her|their) eyes?)$/iu

/** Formulas of scripts and captions that no rule makes. */
const formulas =
  /^(?:v\. ?o\.?|o\. ?s\.?|o\. ?c\.?|sotto voce|taken aback|(?:almost|barely|scarcely|hardly|just|nearly) (?:audible|inaudible|audibly|inaudibly|above a whisper|intelligible)|(?:only )?just audible|mouth full|(?:in)?to (?:the )?(?:phone|telephone|radio|mic|microphone|intercom|walkie-talkie|camera|receiver|mirror)|(?:on|over|via|through) (?:phone|radio|intercom|speaker|loudspeaker|headset|tv|pa)|under (?:his|her|their|my|your|the) breath|off (?:his|her|their) (?:look|reaction)|mid-(?:sentence|laugh|sob|bite|sip|yawn)|a few beats|gunshots?|gunfire|half asleep|(?:two|three) beats|(?:out of|from) (?:the )?(?:shadows|darkness|wings)|(?:from )?(?:off ?stage|backstage|upstage|downstage)|on the verge of a breakdown|at a loss(?: for words)?|lost for words|out of nowhere|beside (?:him|her)self(?: with \p{L}+)?|none too \p{L}+|not (?:very )?convinced|no (?:response|reaction|answer|reply)|a knock(?: (?:at|on) the door)?|more to (?:him|her|them)sel(?:f|ves)|unable to (?:speak|move|look|answer|reply|continue|go on|breathe|hide|stop|contain|resist)\b.*|(?:frozen|rooted) (?:to the spot|in place|with (?:fear|shock)|in (?:fear|shock|horror))|gets? no (?:answer|reply|response)|from (?:the (?:next|other) room|off|behind the (?:door|curtain|screen))|in the doorway|still on the phone|(?:doing|does|does) (?:his|her|their|an?) (?:best |worst |terrible |bad )?(?:\p{L}+ )?(?:impression|impersonation|voice|dance|accent)(?: of .+)?|interrupting(?: \p{L}+)?|(?:at|speaking at) the same time|(?:pretending|protesting|correcting (?:him|her)self|recovering|stalling|insisting|bluffing|reminiscing|flirting|gloating|bragging|boasting|complaining|grumbling|scolding|shivering|hyperventilating|improvising|daydreaming|brooding|conceding|deflecting|backpedaling|marveling|reconsidering|overlapping|mimicking|imitating|sweating|squirming|composing (?:him|her)self|breaking off|trailing off|trails off|breaks off|waking up|coming to|giving up|giving in)|(?:changing|avoiding) the subject|both at once|all together|in unison|at the same time|mock-\p{L}+|with mock \p{L}+|as (?:if|though) (?:to (?:a child|(?:him|her)self|an idiot|the audience)|in (?:pain|a dream|a trance|prayer|shock)|about to (?:cry|speak|faint|leave|sneeze)|nothing happened|(?:speaking|talking) to [\p{L} ]+|hypnoti[sz]ed|remembering|waking|bored|stung|slapped|hurt|possessed|afraid|in pain)|like a (?:child|ghost|robot|little girl|little boy|general|teacher))$/iu

/**
 * Reads what stands in parentheses as an English stage direction, by a small grammar: clauses of a verb of voice or
 * movement with what belongs to it, of a body's part and what it does, or of a manner (`in a low voice`, `very excited`).
 * A word that is in none of the lists ends it, so that ordinary asides (`in 1998`, `a friend of mine`) are none.
 */
export function directionIn(inside: string): Direction | undefined {
  if (/^[-:+`'"]|--|`/.test(inside.trim()) || ofHabit.test(inside.trim())) return undefined
  const text = inside.trim().replace(/[.!?…]+$/, '')
  const alone = text.replace(appended, '')
  if (alone !== text && alone !== '') return directionIn(alone)
  if (idioms.test(text)) return undefined
  if (capitalised.test(text)) return 'action'
  if (described.test(text) && !/^(?:with|from|to|the|he|she|which|who|of|in|on) /i.test(text)) return 'manner'
  if (spokenIn.test(text) || spokenWith.test(text) || formulas.test(inside.trim().replace(/[!?…]+$/, '')))
    return 'manner'
  const clauses = inside.split(/[,;:.–—]|\s-\s|\.\.\./).map(wordsOf)
  const told = clauses.filter((words) => words.length > 0)
  if (told.length === 0 || told.reduce((sum, words) => sum + words.length, 0) > longest) return undefined
  const found = told.map((words) => readClause(words, 0))
  // An adverb that means little alone may stand beside a direction: `seriously now, leaning forward`.
  if (!told.every((words, index) => found[index] !== undefined || words.every(isAdverb))) return undefined
  return found.includes('action') ? 'action' : found.find((kind) => kind !== undefined)
}

/**
 * Reads what stands between asterisks as what a role does, where any noun may follow: `opens the old map`, `turning red`,
 * `my eyes widen`. Gives the form of its verb, or `clause` for one with a subject of its own; undefined where its verb is no
 * verb of directions or it is written like a title.
 */
export function rolePlayedIn(inside: string): 's' | 'ing' | 'clause' | undefined {
  const words = wordsOf(inside)
  if (words.length === 0 || words.length > longest * 2 || worksOf.test(inside)) return undefined
  if (
    words.length > 1 &&
    words.slice(1).filter((word) => /^\p{Lu}/u.test(word) && word !== 'I').length * 2 >= words.length
  )
    return undefined
  let at = 0
  while (at < words.length - 1 && isAdverb(words[at]!)) at += 1
  if (at < words.length && isShownVerb(words, at)) return 's'
  const form = playedForm(words[at])
  if (form === 's' || form === 'ing') {
    if (
      form === 'ing' &&
      (formAny(words[at]) === undefined ||
        /^(?:read|writ)ing$/i.test(words[at]!) ||
        (/^\p{Lu}/u.test(words[0]!) && words.slice(1).some((word) => /^\p{Lu}/u.test(word))))
    )
      return undefined
    if (
      form === 's' &&
      /^(?:looks|feels|sounds|seems|becomes|gets|grows)$/i.test(words[at]!) &&
      words.length === at + 2 &&
      readClause(words, at) === undefined
    )
      return undefined
    if (form === 'ing' && words.length > at + 1 && !isAfterParticiple(words[at + 1]!)) return undefined
    if (words.length > at + 1 && !/^(?:and|or|of|is|are|was)$/.test(words[at + 1]!)) return form
    if (words.length > at + 2 && words[at + 1] === 'and' && playedForm(words[at + 2]) === form) return form
    return form === 's' && at + 1 === words.length && readClause(words, 0) === 'action' ? 's' : undefined
  }
  if (
    has(lists.bodies, words[0]) &&
    words.length > 1 &&
    (playedForm(words[1]) === 's' || (/s$/.test(words[0]!) && playedForm(words[1]) === 'base'))
  )
    return 'clause'
  const isPerson = /^(?:he|she|they|i|we)$/i.test(words[at] ?? '')
  while (isPerson && isAdverb(words[at + 1] ?? '')) at += 1
  const told =
    /^(?:i|we)$/i.test(words[at] ?? '') && /^(?:think|hope|swear|see|guess|mean|say|said)/i.test(words[at + 1] ?? '')
      ? undefined
      : formAny(words[at + 1])
  if (isPerson && told !== undefined && told !== 'ed') return 'clause'
  if (/^(?:his|her|my|their)$/i.test(words[0]!) && has(lists.bodies, words[1]) && words.length > 2)
    return readBody(words, 0) || /(?:s|ing|ed)$/.test(words[2]!) ? 'clause' : undefined
  return undefined
}

/** Asking questions and a breaking change are no movement: a participle wants an article, a place or a manner. */
function isAfterParticiple(word: string): boolean {
  const sets = [
    lists.determiners,
    lists.prepositions,
    lists.particles,
    lists.bodies,
    lists.props,
    lists.moods,
    lists.persons,
  ]
  return (
    isAdverb(word) ||
    /^(?:you|red|pale|white|green|pink|purple|and|next)$/i.test(word) ||
    sets.some((set) => has(set, word))
  )
}

/** Verb and more, and yet no movement. */
const worksOf =
  /^(?:thanks|reads like|drives \p{L}+ \p{L}+|walks (?:you|us|me|them) through|drops support|opens? (?:a|up) (?:port|connection|file)|takes? (?:precedence|place|time|part|care|effect|\p{L}+ (?:minutes|hours|days|weeks))|(?:makes|made) (?:sense|up)|(?:goes|comes) (?:with|without|from)|looks? like|stands? for|runs? on|turns? out|falls? (?:short|under)|breaks? (?:down|even)|holds? true|gets? (?:better|worse|the)|keeps? \p{L}+ing|keeping in mind|looking (?:for|forward)|taking (?:part|place|care)|getting|going to|(?:starting|opening|closing|turning|breaking|standing|walking|running|talking|speaking|drinking|reading|writing|meeting|setting|checking|sitting|hanging|resting|moving) (?:point|distance|order|hours|news|points|book|books|desk|water|room|shoes|list|of))\b/iu

/** Verbs that tell between asterisks what a program or a book does, and words that only look like verbs. */
const impersonal =
  /^(?:is|was|has|does|this|its|his|as|us|always|perhaps|sometimes|yes|plus|minus|makes|means|supports|uses|includes|provides|requires|needs|wants|allows|lets|keeps|ensures|changes|contains|adds|removes|returns|creates|generates|handles|has|gets|sets|runs|calls|takes|comes|goes|works|applies|disables|enables|updates|deletes|replaces|overrides|defines|specifies|describes|represents|improves|prevents|reduces|increases|causes|fixes|shows|across|besides|towards|unless|versus|afterwards|regards|upwards|downwards|news|process|access|success|class|less|unless|across|business|all|ignores|sends|stores|implements|skips|shares|drops|breaks|ends|matches|passes|reads|writes|starts|stops|exports|imports|builds|parses)$/i

/** A verb in the third person that no list has, which an article or an owner shows: `rearranges the items`. */
function isShownVerb(words: readonly string[], at: number): boolean {
  const verb = words[at]!
  return (
    /^\p{Ll}{2,}[^s\P{L}]s$/u.test(verb) &&
    !impersonal.test(verb) &&
    /^(?:his|her|your|my|their|the|you|him|himself|herself|an?)$/i.test(words[at + 1] ?? '') &&
    words.length > at + 1
  )
}

function playedForm(word: string | undefined): Form | undefined {
  return word === undefined ? undefined : (formAny(word) ?? formOf(lists.played, word))
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}]+(?:[.'’-][\p{L}\p{M}]+)*/gu)?.map((word) => word.replace('’', "'")) ?? []
}

const has = (set: ReadonlySet<string>, word: string | undefined): boolean =>
  word !== undefined && set.has(word.toLowerCase())

/** What a mood may be about, in a direction. */
const towardsWhom =
  /^(?:(?:with|at|of|about|by|for) (?:(?:him|her|it)self|themselves|him|her|them|it)|to (?:see|hear|find|meet) (?:him|her|them|it|this|that))$/i

/** The clause from a word to the end, which must be one whole direction. */
function readClause(words: readonly string[], start: number): Direction | undefined {
  if (words.slice(start).every((word) => has(lists.fixed, word)) && start < words.length) return 'action'
  const degree =
    /^(?:(?:a )?(?:little|bit|touch|tad|trifle)(?: too)?|(?:kind|sort) of|too|ever so|more and more|not a little) (?=\S)/i.exec(
      words.slice(start).join(' '),
    )
  if (degree) {
    const rest = start + degree[0].trim().split(' ').length
    if (readClause(words, rest) === 'manner') return 'manner'
  }
  if (has(lists.moods, words[start]) && towardsWhom.test(words.slice(start + 1).join(' '))) return 'manner'
  let at = start
  while (at < words.length && isAdverb(words[at]!)) at += 1
  const rest = words.length - at
  if (rest === 0)
    return words.slice(start).some((word) => isMoodAdverb(word) && !has(lists.comments, word)) ? 'manner' : undefined
  return readAction(words, at) || readOpen(words, at) ? 'action' : readManner(words, at) ? 'manner' : undefined
}

/** Clauses whose verb is known and whose nouns may be any: `tears up the contract`, `staggers against the wall`. */
function readOpen(words: readonly string[], start: number): boolean {
  let at = start
  const isLeftOut = /^(?:not|without|never|still|always|already|while|now|only|all|both)$/i.test(words[at] ?? '')
  if (isLeftOut && formAny(words[at + 1]) === 'ing') return readOpen(words, at + 1) || readAction(words, at + 1)
  if (
    /^(?:speaking|talking|continuing|singing|whispering|swearing|cursing|replying|speaks|continues|answers)$/i.test(
      words[at] ?? '',
    )
  ) {
    const next = words[at + 1] === 'in' ? at + 2 : at + 1
    if (words.length > next && words.slice(next).every((word) => has(lists.languages, word))) return true
  }
  if (readCaption(words, start)) return true
  // Maria laughs.
  if (
    /^\p{Lu}\p{L}+$/u.test(words[at]!) &&
    at + 1 < words.length &&
    !formAny(words[at]) &&
    !has(lists.grammatical, words[at])
  ) {
    const form = formOf(lists.expressive, words[at + 1]!)
    if ((form === 's' || form === 'ing') && readTail(words, at + 2)) return true
  }
  if (/^points? to the .*(?:node|page|file|end|start|fact|entry|element|item|record)$/i.test(words.slice(at).join(' ')))
    return false
  if (/^to$/i.test(words[at]!) && words.length <= at + 3) {
    const named = /^(?:the|his|her|their)$/.test(words[at + 1] ?? '') ? at + 2 : at + 1
    if (
      named === words.length - 1 &&
      has(lists.addressees, words[named]) &&
      (named > at + 1 || /^\p{Lu}/u.test(words[named]!))
    )
      return true
  }
  const ofBody = words.findIndex((word, index) => index > at && /^(?:his|her)$/i.test(word))
  const told = formAny(words[at])
  if (
    (told === 's' || told === 'ing') &&
    ofBody > at &&
    ofBody < at + 7 &&
    ofBody + 1 < words.length &&
    !lasting.test(words[at]!) &&
    !belongings.test(words[ofBody + 1]!)
  )
    return true
  let plural = false
  if (
    has(subjects, words[at]) ||
    (words[at] === 'the' && /^(?:others|two|men|women|children|boys|girls)$/.test(words[at + 1] ?? ''))
  ) {
    plural = /^(?:they|all|both|the)$/i.test(words[at]!)
    at += words[at] === 'the' ? 2 : 1
    while (at < words.length && isAdverb(words[at]!)) at += 1
  }
  const hasSubject = at > start
  const verb = words[at]
  if (verb === undefined) return false
  const isForm = (set: ReadonlySet<string>) => {
    const form = formOf(set, verb)
    return form === 's' || form === 'ing' || (plural && form === 'base')
  }
  const isAlone = at + 1 === words.length || words.slice(at + 1).every(isAdverb)
  if (isAlone) {
    if (hasSubject && plural) return meetings.has(verb) || formOf(lists.expressive, verb) === 'base'
    if (
      /^(?:rises|kneels|enters|exits|embraces|faints|curtsies|crouches|collapses|stumbles|staggers|hesitates|falters|flinches|recoils|cowers|fidgets|squirms|freezes|stiffens|snores|trembles|pacing|kneeling|weeping|squirming|fidgeting|rising|entering|exiting|trailing|seething)$/i.test(
        verb,
      )
    )
      return true
    return hasSubject && (isForm(lists.going) || isForm(lists.expressive))
  }
  // Instructions say so too: `pulling the lever`.
  if (/^(?:pull|push|press|turn|hold)ing$/i.test(verb) && words[at + 1] === 'the') return false
  if (isForm(lists.handling)) {
    if (readHandled(words, at + 1, hasSubject || formOf(lists.handling, verb) === 's')) return true
  }
  if ((isForm(lists.taking) || (isForm(lists.moving) && !lasting.test(verb))) && readProp(words, at + 1, hasSubject))
    return true
  return (
    isForm(lists.going) &&
    readWay(words, at + 1, /^(?:sit|stand|walk|look|turn|point|lie|wave|rush|bounce|skip|shuffle|wander)/i.test(verb))
  )
}

const subjects = new Set(['he', 'she', 'they', 'all', 'both', 'everyone', 'everybody'])
const meetings = new Set(['embrace', 'kiss', 'hug', 'laugh', 'freeze', 'dance', 'exit', 'enter', 'leave', 'applaud'])
const others = /^(?:him|her|them|me|us|you|himself|herself|themselves|myself|yourself|it)$/i

/** Something heard, as captions for the deaf tell it: `engine revving`, `indistinct chatter`. */
function readCaption(words: readonly string[], start: number): boolean {
  // Tires screech, dogs bark.
  if (
    words.length === start + 2 &&
    /^\p{L}{3,}s$/u.test(words[start]!) &&
    /^(?:screech|bark|howl|chirp|ring|creak|rattle|rumble|roar|blare|honk|wail|shatter|hoot|meow|crackle)$/i.test(
      words[start + 1]!,
    )
  )
    return true
  let at = start
  if (/^(?:the|a|an)$/i.test(words[at] ?? '') && words.length > at + 1) at += 1
  const from = at
  while (at < words.length && at - from < 4 && !has(lists.grammatical, words[at])) {
    const form = formOf(lists.sounding, words[at]!)
    if (
      at > from &&
      (form === 'ing' ||
        (form === 's' && (has(lists.stages, words[at - 1]) || has(lists.props, words[at - 1]) || from > start))) &&
      !formAny(words[from]) &&
      readEcho(words, at + 1)
    )
      return true
    if (at > from && has(lists.sounds, words[at]) && words.slice(from, at).every(isHeard) && readEcho(words, at + 1))
      return true
    at += 1
  }
  return false
}

function isHeard(word: string): boolean {
  return (
    isQualifier(word) ||
    /^(?:another|second|third|final|hysterical|indistinct|faint|distant|muffled|approaching|overlapping|loud|police|audience|crowd|inaudible|unintelligible|radio|machine|heavy|continuous|more|rhythmic|eerie|electronic|static|thunderous|wild|canned|party|background)$/i.test(
      word,
    )
  )
}

/** What may follow a sound: how and where it is heard. */
function readEcho(words: readonly string[], start: number): boolean {
  const rest = words.slice(start)
  return (
    rest.every((word) => isAdverb(word) || has(lists.particles, word) || /^(?:open|shut)$/i.test(word)) ||
    /^(?:\p{L}+ly )?(?:in|from|on|over|outside|through|nearby|at|against) (?:(?:the|a) )?(?:\p{L}+ )?\p{L}+$/iu.test(
      rest.join(' '),
    )
  )
}

/** The end of a name for a thing or a person: an article or an owner, then up to three words; -1 where there is none. */
function readThing(words: readonly string[], start: number, isBare: boolean | 'one'): number {
  let at = start
  const isNamed = /^(?:a|an|the|his|her|their|my|your|another|some|this|both|one)$/i.test(words[at] ?? '')
  if (isNamed) at += 1
  else if (/^\p{Lu}\p{Ll}+$/u.test(words[at] ?? '')) return at + 1
  else if (!isBare) return -1
  const first = at
  while (
    at < words.length &&
    at - first < 3 &&
    !has(lists.grammatical, words[at]) &&
    !has(lists.particles, words[at]) &&
    !/^\p{L}{2,}ly$/u.test(words[at]!)
  )
    at += 1
  if (at === first || (!isNamed && isBare === 'one' && at > first + 1)) return -1
  if (words[at] === 'of') return readThing(words, at + 1, true)
  return at
}

/** Whom or what is handled: `him the key`, `up the contract`, `coffee`. */
function readHandled(words: readonly string[], start: number, isBare: boolean): boolean {
  let at = start
  while (has(lists.particles, words[at])) at += 1
  const isWhom =
    others.test(words[at] ?? '') &&
    !(words[at]!.toLowerCase() === 'her' && readThing(words, at, false) === words.length)
  if (isWhom) {
    const after = at + 1
    if (readOpenTail(words, after)) return true
    const end = readThing(words, after, true)
    return end > 0 && readOpenTail(words, end)
  }
  const end = readThing(words, at, isBare || has(lists.props, words[at]) ? 'one' : false)
  return end > 0 && readOpenTail(words, end)
}

/** What is taken, opened or dropped: a prop, or something of somebody. */
function readProp(words: readonly string[], start: number, hasSubject: boolean): boolean {
  let at = start
  while (/^(?:up|down|out|off|away|back|open|aside|over|around)$/i.test(words[at] ?? '')) at += 1
  if (
    others.test(words[at] ?? '') &&
    words[at] !== 'it' &&
    (words[at] !== 'her' || at + 1 === words.length || readOpenTail(words, at + 1))
  )
    return readOpenTail(words, at + 1)
  const isOwned = /^(?:his|her|their|my|your)$/i.test(words[at] ?? '')
  if (
    /^an?$/i.test(words[at] ?? '') &&
    /^(?:open|clos|clear|start|cross|check|follow|fac|set)/i.test(words[start - 1]!)
  )
    return false
  const end = readThing(words, at, false)
  if (end > 0 && (isOwned || hasSubject || has(lists.props, words[end - 1]))) return readOpenTail(words, end)
  return has(lists.props, words[at]) && formAny(words[at - 1]) !== 'ing' && readOpenTail(words, at + 1)
}

/** Where somebody goes or looks. */
function readWay(words: readonly string[], start: number, isCommon: boolean): boolean {
  let at = start
  const isPlace = (index: number) => has(lists.prepositions, words[index]) && has(lists.determiners, words[index + 1])
  while (!isPlace(at) && (has(lists.particles, words[at]) || isAdverb(words[at] ?? ''))) at += 1
  if (at === words.length) return at > start
  if (
    !has(lists.prepositions, words[at]) &&
    !/^(?:next|upon|beneath|onto|past|along|toward|towards)$/i.test(words[at]!)
  )
    return readOpenTail(words, at)
  if (isCommon) {
    const end = readThing(words, /^next to$/i.test(`${words[at]} ${words[at + 1]}`) ? at + 2 : at + 1, false)
    if (
      end > 0 &&
      !has(lists.props, words[end - 1]) &&
      !has(lists.targets, words[end - 1]) &&
      !has(lists.bodies, words[end - 1]) &&
      !/^(?:to|towards?)$/i.test(words[at]!)
    )
      return false
  }
  return readOpenTail(words, at)
}

/** What may follow an open clause: adverbs, places of any name, and another direction after `and` or `while`. */
function readOpenTail(words: readonly string[], start: number): boolean {
  let at = start
  while (at < words.length) {
    const word = words[at]!
    if (/^(?:and|then|but|while|as|before)$/i.test(word)) {
      const next = words[at + 1] === 'then' ? at + 2 : at + 1
      return readClause(words, next) !== undefined
    }
    if (isAdverb(word) || has(lists.particles, word) || has(lists.moods, word)) at += 1
    else if (
      (has(lists.prepositions, word) && word !== 'for') ||
      (/^(?:next|upon|beneath|onto|past|along|toward|towards)$/i.test(word) && word !== 'for')
    ) {
      const noun = word === 'next' ? at + 2 : at + 1
      if (others.test(words[noun] ?? '') && (words[noun] !== 'her' || readThing(words, noun, false) < 0)) at = noun + 1
      else {
        const end = readThing(words, noun, true)
        if (end < 0) return false
        at = end
      }
    } else return at > start && /ing$/.test(word) && (readAction(words, at) || readOpen(words, at))
  }
  return true
}

/** The form of a word that is one of the verbs of directions. */
function formAny(word: string | undefined): Form | undefined {
  if (word === undefined) return undefined
  for (const set of forms.keys()) {
    if (set === lists.played) continue
    const form = formOf(set, word)
    if (form !== undefined) return form
  }
  return undefined
}

function readAction(words: readonly string[], start: number): boolean {
  let at = start
  if (has(lists.persons, words[at])) at += 1
  while (at > start && at < words.length && isAdverb(words[at]!)) at += 1
  const verb = words[at]
  if (verb === undefined) return false
  const expressive = formOf(lists.expressive, verb)
  if (expressive && (expressive !== 'base' || (at + 1 === words.length && has(lists.lone, verb)))) {
    const object = readNoun(words, at + 1, [lists.bodies, sung])
    if (readTail(words, at + 1) || (object > 0 && readTail(words, object))) return true
  }
  const moving = formOf(lists.moving, verb)
  if ((moving === 's' || moving === 'ing') && readComplement(words, at + 1)) return true
  return readAttempt(words, at) || readBody(words, start) || readScene(words, start)
}

/** What a verb of movement needs: where to, or what. */
function readComplement(words: readonly string[], at: number): boolean {
  if (at >= words.length) return false
  const things = [lists.expressions, lists.bodies, lists.voices, lists.targets, lists.persons]
  const isParticle = has(lists.particles, words[at])
  const ends = [
    isParticle || has(lists.moods, words[at]) || isMoodAdverb(words[at]!) ? at + 1 : -1,
    readPhrase(words, at),
    readNoun(words, at, things),
    isParticle ? readNoun(words, at + 1, things) : -1,
  ]
  // Drinking water and walking distance are things.
  const isThing =
    /^(?:drink|walk|runn|sitt|stand|fold|turn|roll|stopp|start|speak|sound|touch|hold|rest|chang|clos|open|cutt|check|sett|hang|fall|play|mov|liv|look|kick|meet|mark|dipp|stepp|swing|stretch)ing$/i.test(
      words[at - 1]!,
    )
  if (isThing && at + 1 === words.length && has(lists.targets, words[at]) && !has(lists.particles, words[at]))
    return false
  return ends.some((end) => end > at && readTail(words, end))
}

/** `trying not to laugh`, `starts to cry`, `about to burst into tears`. */
function readAttempt(words: readonly string[], at: number): boolean {
  if (
    !/^(?:try|trying|tries|struggl(?:es|ing)|start(?:s|ing)|begin(?:s|ning)|pretend(?:s|ing)|fail(?:s|ing)|about|pausing|pauses)$/i.test(
      words[at]!,
    )
  )
    return false
  let next = at + 1
  if (words[next] === 'not') next += 1
  if (words[next] !== 'to') return false
  const verb = words[next + 1]
  if (verb === undefined) return false
  if (
    formOf(lists.expressive, verb) === 'base' ||
    /^(?:rise|speak|stand|leave|move|answer|protest|interrupt|escape|explain)$/.test(verb)
  )
    return readTail(words, next + 2)
  return formOf(lists.moving, verb) === 'base' && readComplement(words, next + 2)
}

/** `voice trembling`, `her eyes widen`, `arms crossed`, `hands on hips`. */
function readBody(words: readonly string[], start: number): boolean {
  let at = start
  if (has(lists.determiners, words[at])) at += 1
  if (!has(lists.bodies, words[at]) && !has(lists.voices, words[at])) return false
  at += 1
  while (at < words.length && isAdverb(words[at]!)) at += 1
  const next = words[at]
  if (next === undefined) return false
  const states = [lists.happenings, lists.moods, lists.manners, lists.particles]
  const isState = formOf(lists.expressive, next) || formOf(lists.moving, next) || states.some((set) => has(set, next))
  if ((isState || /[^e]ed$/.test(next)) && readTail(words, at + 1)) return true
  const end = readPhrase(words, at)
  return end > 0 && readTail(words, end)
}

/** `door slams`, `the crowd cheers`, `music plays softly`. */
function readScene(words: readonly string[], start: number): boolean {
  const at = readNoun(words, start, [lists.stages])
  if (at > 0 && /^(?:go|goes|come|comes|turn|turns) (?:out|up|down|on|off)$/.test(words.slice(at).join(' ')))
    return true
  return at > 0 && at < words.length && has(lists.happenings, words[at]) && readTail(words, at + 1)
}

function readManner(words: readonly string[], start: number): boolean {
  const first = words[start]!.toLowerCase()
  const feelings = [lists.voices, lists.expressions]
  const ends: number[] = []
  if (/^(?:in|with|under|through|without)$/.test(first)) {
    ends.push(readNoun(words, start + 1, first === 'with' ? [...feelings, lists.attitudes] : feelings))
    // A part of the body needs a word about it: `with open arms`, `through gritted teeth`.
    if (/^(?:with|through)$/.test(first) && words.length > start + 2)
      ends.push(readNoun(words, start + 1, [lists.bodies]))
  }
  if (first === 'to')
    ends.push(
      readNoun(words, start + 1, [
        new Set([
          'himself',
          'herself',
          'themselves',
          'myself',
          'self',
          'audience',
          'camera',
          'crowd',
          'mic',
          'room',
          'others',
          'everyone',
        ]),
      ]),
    )
  if (/^(?:after|following)$/.test(first))
    ends.push(readNoun(words, start + 1, [new Set(['moment', 'beat', 'pause', 'silence'])]))
  if (
    /^(?:(?:on|down on) (?:his|her|their) knees|out of breath|on the (?:verge|brink|edge) of (?:tears|crying|laughter)|(?:close to|near|in) tears|(?:deep|lost) in thought|fade (?:in|out|to black)|cut to black|(?:end|new) (?:of )?scene|silence (?:falls|follows)|(?:enter|exit|exits|enters|aside to) \p{Lu}\p{Ll}+|sounds? of (?:thunder|footsteps|rain|wind|applause|laughter|glass|an? \p{Ll}+))$/iu.test(
      words.slice(start).join(' '),
    )
  )
    return true
  const noun = readNoun(words, start, feelings)
  if (noun > 0 && !vague.test(words[noun - 1]!) && formOf(lists.expressive, words[start]!) !== 'ing') ends.push(noun)
  if (noun > start + 1 && formOf(lists.expressive, words[start]!) !== 'ing') ends.push(noun)
  // Trembling voice, but not a crying shame.
  if (readNoun(words, start, [lists.voices]) > start + 1) ends.push(readNoun(words, start, [lists.voices]))
  // Raised eyebrow, clenched fists; ominous music.
  if (formOf(lists.moving, words[start]!) === 'ed') ends.push(readNoun(words, start + 1, [lists.bodies]))
  if (isQualifier(words[start]!))
    ends.push(readNoun(words, start, [new Set(['music', 'noise', 'noises', 'sounds', 'breathing'])]))
  let at =
    /^(?:mock|faux|fake)$/.test(first) || (has(lists.manners, words[start]) && words[start + 1] === 'and')
      ? start + 1
      : start
  if (at > start && words[at] === 'and') at += 1
  while (
    has(lists.moods, words[at]) ||
    (at > start && /^(?:and|but|yet)$/.test(words[at] ?? '') && has(lists.moods, words[at + 1])) ||
    (at > start && /^(?:but|yet)$/.test(words[at - 1] ?? '') && has(lists.manners, words[at])) ||
    (at > start && /^(?:but|yet)$/.test(words[at] ?? '') && has(lists.manners, words[at + 1])) ||
    (at > start && /^(?:and|but|yet)$/.test(words[at] ?? '') && isMoodAdverb(words[at + 1] ?? '')) ||
    (at > start && isAdverb(words[at] ?? 'x'))
  )
    at += 1
  if (at === words.length) return !(words.length === start + 1 && has(lists.ambiguous, words[start]))
  if (
    /^(?:sounding|sounds|looking|looks|getting|feeling|becoming|growing|grows|more|being|seems|seemingly)$/.test(
      first,
    ) &&
    words.length > start + 1
  )
    return readClause(words, start + 1) === 'manner'
  return ends.some((end) => end > start && readTail(words, end))
}

/** What may follow: adverbs, where to, at whom, and with `and` or `while` another direction. */
function readTail(words: readonly string[], start: number): boolean {
  let at = start
  while (at < words.length) {
    const word = words[at]!
    const end = readPhrase(words, at)
    if (end > 0) at = end
    else if (isAdverb(word) || has(lists.particles, word) || has(lists.moods, word)) at += 1
    else if (word === 'and' && has(lists.particles, words[at + 1])) at += 2
    else if (/^(?:and|but|while|then|as|before)$/i.test(word)) {
      if (formOf(lists.expressive, words[at + 1] ?? '') === 'base') return false
      return readClause(words, at + 1) !== undefined
    } else if (word === 'to' && formOf(lists.expressive, words[at + 1] ?? '') === 'base') at += 2
    else return /ing$/.test(word) && readAction(words, at)
  }
  return true
}

/** A preposition and what it governs; -1 where there is none. */
function readPhrase(words: readonly string[], at: number): number {
  if (!has(lists.prepositions, words[at])) return -1
  const next = words[at + 1]
  if (
    next !== undefined &&
    /^(?:to|at|with|towards?|for|from|like|of|behind|beside|near)$/i.test(words[at]!) &&
    /^\p{Lu}\p{Ll}+$/u.test(next)
  )
    return at + 2
  return readNoun(words, at + 1, [
    lists.voices,
    lists.expressions,
    lists.bodies,
    lists.targets,
    lists.persons,
    lists.stages,
  ])
}

/** An article, words about it, and one of these nouns, with `of` another; gives where it ends, -1 where it does not. */
function readNoun(words: readonly string[], start: number, heads: readonly ReadonlySet<string>[]): number {
  const isHead = (word: string | undefined) => heads.some((set) => has(set, word))
  let at = start
  while (has(lists.determiners, words[at])) at += 1
  while (
    at < words.length &&
    (isQualifier(words[at]!) || /^(?:and|almost)$/.test(words[at]!)) &&
    !(isHead(words[at]) && !isHead(words[at + 1]) && !isQualifier(words[at + 1] ?? ''))
  )
    at += 1
  if (!isHead(words[at])) return -1
  while (isHead(words[at + 1])) at += 1
  if (words[at + 1] === 'of') {
    const end = readNoun(words, at + 2, [lists.expressions, lists.bodies, lists.targets, lists.voices])
    return end
  }
  return at + 1
}

function isQualifier(word: string): boolean {
  return (
    has(lists.moods, word) ||
    has(lists.manners, word) ||
    isAdverb(word) ||
    formOf(lists.expressive, word) === 'ing' ||
    /^(?:ed|ing)$/.test(formOf(lists.moving, word) ?? '')
  )
}

function isAdverb(word: string): boolean {
  if (
    /^(?:easily|daily|weekly|monthly|yearly|annually|only|family|apply|reply|supply|likely|early|jelly|belly|italy)$/i.test(
      word,
    ) &&
    !has(lists.intensifiers, word)
  )
    return false
  return has(lists.intensifiers, word) || /^[a-z]{3,}ly$/i.test(word)
}

const moodAdverbs = new Set([...lists.moods, ...lists.manners].map(adverbOf))

function isMoodAdverb(word: string): boolean {
  return has(moodAdverbs, word)
}

function adverbOf(adjective: string): string {
  if (/[^aeiou]le$/.test(adjective)) return adjective.replace(/e$/, 'y')
  if (/^(?:shy|sly|wry|dry)$/.test(adjective)) return `${adjective}ly`
  if (/ic$/.test(adjective)) return `${adjective}ally`
  return `${adjective.replace(/([^aeiou])y$/, '$1i')}ly`
}

const forms = new Map(
  [lists.expressive, lists.moving, lists.handling, lists.taking, lists.going, lists.sounding, lists.played].map(
    (set) => [set, conjugate(set)],
  ),
)

function formOf(set: ReadonlySet<string>, word: string): Form | undefined {
  return forms.get(set)?.get(word.toLowerCase())
}

function conjugate(set: ReadonlySet<string>): ReadonlyMap<string, Form> {
  const all = new Map<string, Form>()
  for (const verb of set) {
    const stem = verb.replace(/([^e])e$/, '$1')
    const soft = verb.replace(/([^aeiou])y$/, '$1i')
    all.set(`${soft}${/(?:s|sh|ch|x|z|i|o)$/.test(soft) ? 'es' : 's'}`, 's')
    // `nod` doubles its consonant, `open` and `shake` do not.
    const doubled = /^[^aeiou]*[aeiou][bdgmnprtv]$/.test(verb) ? `${verb}${verb.at(-1)}` : undefined
    all.set(`${doubled ?? stem}ing`, 'ing')
    all.set(`${doubled ?? soft.replace(/e$/, '')}ed`, 'ed')
    if (verb.endsWith('c')) all.set(`${verb}king`, 'ing')
  }
  for (const verb of set) all.set(verb, 'base')
  return all
}
