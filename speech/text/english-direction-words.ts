/** The words that English stage directions are made of, by the part they play in one. */

/** Verbs of voice and face, which say enough by themselves: `laughs`, `sighing`. */
export const expressive: ReadonlySet<string> = words(`
  laugh chuckle giggle snicker snigger cackle guffaw titter smirk smile grin beam sigh gasp groan moan grunt growl
  snarl hiss cough sob cry weep whimper wail sniff sniffle sneeze snort yawn whisper murmur mutter mumble shout yell
  scream shriek sing hum whistle nod shrug frown wink blink blush pout scowl grimace wince glare sneer scoff gulp
  swallow pause hesitate inhale exhale pant wheeze hiccup burp shiver shudder tremble bow curtsy applaud clap cheer
  stammer stutter drawl whine plead beg squeal squeak purr giggle-snort tut tsk kneel faint swoon cringe gag choke
  sulk fidget salute wave gesture gesticulate ponder think muse exclaim squint smack whoop gush croak rasp bellow
  roar bark snap tease mock half-laugh half-smile facepalm exit enter exeunt fume seethe chant recite improvise
  breathe faintly-laugh rant ramble babble sleepwalk swear curse
`)

/** Verbs of movement, which need to be told where or what: `leans closer`, `rolls her eyes`. */
export const moving: ReadonlySet<string> = words(`
  lean look turn step glance stare gaze peer point sit stand get walk move pace roll raise lower shake wipe clear
  cross fold take catch hold bite lick tap rub scratch adjust hang tilt cock clutch slam drop throw cover close open
  wring crack burst break trail jump fight lift drum run touch straighten furrow narrow widen flip put place pick
  kneel spin back reach grab pull push press clench grit purse flutter bat dab blow draw let fake force regain lose
  calm compose gather stretch settle rise start stop come go fall storm rush sink slump tug twirl nudge pat poke hug
  kiss embrace face bury hide fan fiddle play shift shuffle avert search scan listen speak talk speed slow quicken
  deepen soften rest set clasp snap give flash suppress stifle stomp tiptoe drift change switch return continue
  resume sound become grow try struggle begin pretend chew sip drink swirl sniff smell brush toss breathe drip feign
  check cut deliver knock keep leave lie wag wiggle march skip dance saunter strut stumble stagger scurry collapse
  crouch duck freeze stiffen tense relax brighten swoop circle approach follow
`)

/** Moods. They may stand alone, and as adverbs too. */
export const moods: ReadonlySet<string> = words(`
  excited angry sad happy nervous anxious scared afraid frightened terrified worried calm serious sarcastic ironic
  cheerful annoyed irritated frustrated confused puzzled bewildered surprised shocked stunned amazed astonished
  embarrassed ashamed shy proud smug bored tired sleepy exhausted breathless tearful furious enraged outraged
  indignant bitter playful flirty flirtatious seductive mischievous teasing mocking gentle tender warm cold icy
  stern strict firm harsh dramatic solemn grave gloomy melancholy melancholic wistful nostalgic dreamy hopeful
  hopeless desperate hesitant reluctant uncertain unsure doubtful suspicious curious intrigued thoughtful pensive
  contemplative amused delighted overjoyed ecstatic elated thrilled joyful jubilant triumphant relieved grateful
  content satisfied disappointed dejected crestfallen heartbroken disgusted contemptuous disdainful dismissive
  scornful condescending impatient agitated flustered frantic hysterical panicked panicky alarmed startled tense
  apologetic sincere earnest sympathetic compassionate soothing reassuring encouraging enthusiastic energetic eager
  passionate determined confident defiant stubborn menacing threatening sinister ominous conspiratorial mysterious
  innocent sheepish sly wry deadpan monotone emotionless expressionless stoic stone-faced weary drowsy drunk slurred
  hoarse raspy giddy dreamlike awestruck speechless quiet soft loud hushed muffled pleading authoritative commanding
  urgent matter-of-fact lighthearted light-hearted upbeat bubbly sassy snarky grumpy sulky moody jealous envious
  guilty remorseful resigned defeated dazed incredulous skeptical sceptical whiny shaky choked-up offended hurt
  wounded lonely loving affectionate fond cautious careful guarded distracted absent-minded blank deliberate louder
  softer quieter faster slower calmer sombre somber rueful bemused sardonic caustic vehement forceful emphatic
  insistent apprehensive timid meek bashful coy cheeky gleeful merry wicked vicious cruel fierce intense concerned
  troubled distraught inconsolable miserable sorrowful tragic sullen bitter-sweet bittersweet awed reverent
  respectful formal casual nonchalant indifferent unimpressed smirking hyped pumped flabbergasted dumbfounded
  perplexed exasperated infuriated livid aghast appalled petrified shaken tongue-tied winded feverish delirious
  tipsy intoxicated
`)

/** What else a voice, a pause or a smile can be. */
export const manners: ReadonlySet<string> = words(`
  low high deep thick thin heavy long short brief big small little slight faint broad wide huge great awkward
  uncomfortable pregnant evil wicked robotic squeaky gruff gravelly husky booming thunderous singsong sing-song
  high-pitched low-pitched nasal whispery whispering trembling quavering shaking breaking cracking strained forced
  fake mock exaggerated theatrical heavily british english french german russian italian spanish irish scottish
  american southern australian transatlantic posh normal natural different funny silly strange weird childlike
  childish baby old-timey radio announcer movie-trailer pirate dead complete total sudden single knowing toothy
  crooked lopsided half sharp shallow slow quick fast steady flat even neutral friendly kind sweet sugary honeyed
  sickly bright clear mournful lilting rich raised lowered hearty hollow dry nervous gritted clenched watery misty
  closed open bated gathered light distant muted canned scattered polite rapturous dramatic scary spooky creepy dark
  angelic stage cheery growing mounting feigned barely-contained barely-concealed thinly-veiled comical comic faux
  background ominous tense romantic jazzy orchestral epic
`)

/** The nouns for how something sounds. */
export const voices: ReadonlySet<string> = words(`
  voice voices tone tones whisper whispers accent accents murmur growl mumble drawl lisp manner pitch falsetto
  monotone singsong register volume timbre
`)

/** Faces, sounds and feelings. */
export const expressions: ReadonlySet<string> = words(`
  smile grin smirk sigh laugh laughs laughter chuckle giggle giggles frown shrug nod wink gasp gasps sob sobs groan
  moan cough pause pauses beat silence breath breaths tears glance look gesture flourish bow sneer scowl grimace
  shudder shiver snort yawn gulp sniff sniffle disbelief horror awe surprise shock delight amazement astonishment
  fear terror frustration excitement joy anger rage fury pain sorrow sadness despair disgust contempt confusion
  relief embarrassment shame exasperation annoyance irritation amusement admiration agony anguish panic anticipation
  sarcasm irony emotion enthusiasm passion pride resignation determination desperation bewilderment mockery
  indignation applause cheers cheering clapping crying sobbing whimpering chorus unison hysterics ecstasy triumph
  mock-horror sympathy affection gratitude reverence gravitas gusto venom conviction suspicion hesitation curiosity
  indifference sincerity melancholy nostalgia sniffles hiccup hiccups eyeroll eye-roll eye-rolls
`)

/** What a body has that moves. */
export const bodies: ReadonlySet<string> = words(`
  eye eyes head hand hands arm arms shoulder shoulders throat lip lips brow brows eyebrow eyebrows face chin hair
  fist fists finger fingers tear tears breath chest hip hips nose cheek cheeks knee knees foot feet forehead teeth
  tongue mouth jaw voice glasses sleeve lap back heart collar tie hat neck ear ears stomach gaze composure nails
  temple temples bottom fingertips palm palms posture handkerchief nerves knuckles
`)

/** What is heard or seen around the speaker. */
export const stages: ReadonlySet<string> = words(`
  music door doors phone telephone bell bells doorbell crowd audience thunder footsteps lights light curtain
  curtains wind rain siren sirens gunshot gunshots explosion clock engine glass dog orchestra drums drumroll piano
  violin alarm knock scene spotlight radio static phone-line theme song organ trumpet fanfare laugh-track record
  everyone baby
`)

/** What it does. */
export const happenings: ReadonlySet<string> = words(`
  plays playing slams slamming slam rings ringing ring rumbles rumbling approach approaches approaching dim dims
  dimming fade fades fading rises rising swells swelling creaks creaking knocks knocking ticks ticking howls howling
  barks barking shatters shattering stops opens opening closes closing erupts erupting falls falling blares blaring
  crackles beeps beeping buzzes buzzing roars cheers cheering applauds applauding laughs laughing gasps gasping
  claps clapping boos booing starts begins ends intensifies scratch scratches cries crying murmurs murmuring cuts
  tolls chimes
`)

/** What a speaker turns to, and what hands are busy with. */
export const targets: ReadonlySet<string> = words(`
  audience camera crowd room others floor ceiling sky window ground distance air table desk door mirror wall horizon
  space microphone mic stage mid-air center centre sunset watch phone chair seat book page paper notes coffee tea
  water wine drink glass cup sip gulp bite pen screen clipboard papers laughter song tears giggles attention self
  position side left right way heel heels toes spot joy effect emphasis feet wings corner moment subject words
  sentence world tune goodbye hello melody note glasses
`)

/** Articles and possessives. */
export const determiners: ReadonlySet<string> = words(`
  a an the his her their my your its some another one this that both all each own every
`)

/** Pronouns. */
export const persons: ReadonlySet<string> = words(`
  he she they it everyone everybody someone somebody him them me us himself herself themselves myself yourself
  itself each other one another
`)

/** Where a movement goes, and other short adverbs. */
export const particles: ReadonlySet<string> = words(`
  away down up back forward backward forwards backwards closer close in out off over around aside together again
  hard loud still apart nearer near left right along by past outside inside upward upwards downward downwards
  sideways aloud silent quiet towards toward across about first once twice awake heavenward skyward off-key faster
  slower louder softer quieter goodbye
`)

/** How much. */
export const intensifiers: ReadonlySet<string> = words(`
  very slightly bit little rather quite still almost more too somewhat increasingly barely suddenly now then so even
  just clearly visibly audibly extremely really super mildly genuinely obviously utterly completely half partly
  deeply
`)

/** Prepositions. */
export const prepositions: ReadonlySet<string> = words(`
  with in at under through into on over between from behind against without for to towards toward around across
  after before near beside onto out by as
`)

/** Whole directions that no rule makes. */
export const fixed: ReadonlySet<string> = words(`
  off-screen offscreen off-camera offstage off-stage onscreen on-screen voice-over voiceover voice over vo v.o o.s
  o.c cont'd contd continued aside asides sotto deadpan inaudible unintelligible crosstalk cross-talk beat pause
  silence applause blackout curtain exits exeunt laughter music thunder footsteps throat-clearing facepalm mic-drop
  drumroll bleep wince ahem monologue singing chanting cheering clapping sfx crickets fade-out fade-in eye-roll
  eyeroll
`)

/** Adverbs that comment on a sentence more often than they tell how it is said: alone they are an aside. */
export const comments: ReadonlySet<string> = words(`
  seriously hopefully curiously gratefully ironically-speaking thickly thinly highly deeply greatly shortly briefly
  slightly totally completely evenly normally naturally differently strangely funnily weirdly richly lightly hardly
  kindly nearly mostly clearly suddenly quickly cleanly formally casually deliberately generally intensely
`)

/** Moods that describe things as well, and so are no direction alone: `the soup (cold)`. */
export const ambiguous: ReadonlySet<string> = words(`
  cold warm icy content blank firm hurt fond strict grave mysterious innocent guilty dramatic tense intense formal casual
  comic tragic careful hopeless uncertain confident
`)

/** Verbs that stand alone in their plain form: `sigh`, `pause`. */
export const lone: ReadonlySet<string> = words(`
  laugh chuckle giggle sigh gasp groan cough sob cry sniff sniffle snort yawn whisper shrug nod wink smile grin smirk pause
  gulp frown whistle hum scream shout yell snicker blush facepalm cackle growl moan
`)

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter((word) => word !== ''))
}
