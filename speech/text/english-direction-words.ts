import { wordSet } from './word-set.ts'

/** The words that English stage directions are made of, by the part they play in one. */

/** Verbs of voice and face, complete by themselves: `laughs`, `sighing`. */
export const expressive: ReadonlySet<string> = wordSet(`
  laugh chuckle giggle snicker snigger cackle guffaw titter smirk smile grin beam sigh gasp groan moan grunt growl
  snarl hiss cough sob cry weep whimper wail sniff sniffle sneeze snort yawn whisper murmur mutter mumble shout yell
  scream shriek sing hum whistle nod shrug frown wink blink blush pout scowl grimace wince glare sneer scoff gulp
  swallow pause hesitate inhale exhale pant wheeze hiccup burp shiver shudder tremble bow curtsy applaud clap cheer
  stammer stutter drawl whine plead beg squeal squeak purr giggle-snort tut tsk kneel faint swoon cringe gag choke
  sulk fidget salute wave gesture gesticulate ponder think muse exclaim squint smack whoop gush croak rasp bellow
  roar bark snap tease mock half-laugh half-smile facepalm exit enter exeunt fume seethe chant recite improvise
  breathe faintly-laugh rant ramble babble sleepwalk swear curse
`)

/** Verbs of movement, which need a place or an object: `leans closer`, `rolls her eyes`. */
export const moving: ReadonlySet<string> = wordSet(`
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
export const moods: ReadonlySet<string> = wordSet(`
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
  tipsy intoxicated absent abashed acerbic acid admiring adoring aggressive aggrieved airy aloof ambivalent amiable
  amorous anguished antsy appreciative approving arch ardent argumentative arrogant assertive astounded bashful
  belligerent beseeching bewitched bitchy blasé bleak blithe blunt boastful boisterous brash breathy breezy brisk
  brusque businesslike candid catty chagrined charmed chastened chatty chilly choked chuffed clipped coaxing
  cold-blooded combative comforted complacent conciliatory confrontational consoling contrite conversational
  cordial courteous crabby crestfallen cross crushed curt cutting cynical dazzled deflated dejected delirious
  demanding demure depressed derisive despairing despondent devastated devious devilish diffident diplomatic
  disapproving disarming disbelieving discouraged discreet disgruntled disheartened dismayed displeased dissatisfied
  distant distressed disturbed dogged doleful dour downcast dry dubious dumbstruck earnest edgy effusive
  embittered emotional enchanted engrossed entranced euphoric evasive exalted exhilarated expectant exultant
  facetious fascinated fawning fearful fed-up feeble fervent fiery flat flattered flippant flummoxed fluttery
  forlorn forthright fretful frigid frosty frustrated fuming genial ghostly glad gleeful glib glum gobsmacked
  goofy gracious grave greedy grim grouchy gruff grudging guarded gushing haggard half-hearted haughty hesitating
  high-spirited horrified hostile humble humbled humiliated humorous hurried hyper hypnotized icy imperious impish
  imploring impressed impulsive inaudible incensed indulgent inebriated inquisitive insecure insolent inspired
  insulting interested introspective irate ironical irked jaded jaunty jittery jocular jolly jovial kind-hearted
  languid lazy lifeless listless loath lofty lost-in-thought lovesick low-voiced lugubrious lustful mad maniacal
  manic maudlin mellow menaced mildly-amused mirthful mirthless mischievous modest mopey morose mortified moved
  mournful mumbling nasty nauseated nervy nonplussed obsequious offhand officious optimistic overcome overwhelmed
  pained paranoid passive-aggressive patient patronizing patronising peevish perky pert pessimistic petulant
  piqued pitying plaintive pleased pompous pouty prim prissy provocative puzzled queasy querulous quizzical
  rapt raucous reassured rebellious reflective regretful repentant repulsed resentful resolute restless reticent
  revolted riled roguish rude ruffled sad-eyed satirical saucy scandalized scathing scolding self-conscious
  self-deprecating self-pitying self-satisfied sentimental sheepish shell-shocked shrill simpering singsong smarmy
  smiling smitten snappish snappy sneering snide snooty sobbing sober solicitous sour sparkling spellbound spiteful
  starry-eyed stoical strained stricken stiff stung subdued suave suggestive surly swaggering sweating tart
  taunting tearstained tentative terrorized testy tetchy throaty tickled tight-lipped tongue-in-cheek tormented
  touched touchy tremulous trembling truculent trusting unamused unconcerned unconvinced uneasy unfazed unhappy
  unnerved unsettled unsteady upset uptight vacant vague vehement vengeful vexed vindictive vivacious wan wary
  watchful wheedling whimsical wide-eyed wild woeful wonderstruck wooden worn-out wrathful yearning zealous
`)

/** Further qualities of a voice, a pause or a smile. */
export const manners: ReadonlySet<string> = wordSet(`
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
export const voices: ReadonlySet<string> = wordSet(`
  voice voices tone tones whisper whispers accent accents murmur growl mumble drawl lisp manner pitch falsetto
  monotone singsong register volume timbre
`)

/** Faces, sounds and feelings. */
export const expressions: ReadonlySet<string> = wordSet(`
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

/** Attitudes behind `with`; no direction by themselves. */
export const attitudes: ReadonlySet<string> = wordSet(`
  dignity composure tenderness warmth bitterness coldness vehemence authority difficulty-breathing haste bravado
  swagger malice glee mirth solemnity finality wonder longing yearning regret remorse guilt hatred hate love desire
  devotion impatience weariness fatigue unease nervousness apprehension dread desperation hope fervor fervour ardor
  ardour intensity fire energy zeal relish ease calm calmness modesty humility arrogance hauteur scorn derision ridicule
  defiance courage innocence candor candour effort restraint politeness courtesy concern pity compassion kindness
  gentleness sweetness charm bemusement puzzlement incredulity trepidation alarm foreboding grief anguish nonchalance
`)

/** Parts of the body that move, and clothes on it. */
export const bodies: ReadonlySet<string> = wordSet(`
  eye eyes head hand hands arm arms shoulder shoulders throat lip lips brow brows eyebrow eyebrows face chin hair
  fist fists finger fingers tear tears breath chest hip hips nose cheek cheeks knee knees foot feet forehead teeth
  tongue mouth jaw voice glasses sleeve lap back heart collar tie hat neck ear ears stomach gaze composure nails
  tail tails wings paw paws claws fur snout muzzle whiskers pulse gut temple temples bottom fingertips palm palms posture handkerchief nerves knuckles
`)

/** Things heard or seen around the speaker. */
export const stages: ReadonlySet<string> = wordSet(`
  music door doors phone telephone bell bells doorbell crowd audience thunder footsteps lights light curtain
  curtains wind rain siren sirens gunshot gunshots explosion clock engine glass dog orchestra drums drumroll piano
  violin alarm knock scene spotlight radio static phone-line theme song organ trumpet fanfare laugh-track record
  everyone baby
`)

/** Verbs of those things: `door slams`. */
export const happenings: ReadonlySet<string> = wordSet(`
  plays playing slams slamming slam rings ringing ring rumbles rumbling approach approaches approaching dim dims
  dimming fade fades fading rises rising swells swelling creaks creaking knocks knocking ticks ticking howls howling
  barks barking shatters shattering stops opens opening closes closing erupts erupting falls falling blares blaring
  crackles beeps beeping buzzes buzzing roars cheers cheering applauds applauding laughs laughing gasps gasping
  claps clapping boos booing starts begins ends intensifies scratch scratches cries crying murmurs murmuring cuts
  tolls chimes
`)

/** Things that a speaker turns to or handles. */
export const targets: ReadonlySet<string> = wordSet(`
  audience camera crowd room others floor ceiling sky window ground distance air table desk door mirror wall horizon
  space microphone mic stage mid-air center centre sunset watch phone chair seat book page paper notes coffee tea
  water wine drink glass cup sip gulp bite pen screen clipboard papers laughter song tears giggles attention self
  position side left right way heel heels toes spot joy effect emphasis feet wings corner moment subject words
  sentence world tune goodbye hello melody note glasses
`)

/** Articles and possessives. */
export const determiners: ReadonlySet<string> = wordSet(`
  a an the his her their my your its some another one this that both all each own every
`)

/** Pronouns. */
export const persons: ReadonlySet<string> = wordSet(`
  he she they it everyone everybody someone somebody him them me us himself herself themselves myself yourself
  itself each other one another
`)

/** Where a movement goes, and other short adverbs. */
export const particles: ReadonlySet<string> = wordSet(`
  away down up back forward backward forwards backwards closer close in out off over around aside together again
  hard loud still apart elsewhere nowhere everywhere nearer near left right along by past outside inside upward upwards downward downwards
  sideways aloud silent quiet towards toward across about first once twice awake heavenward skyward off-key faster
  slower louder softer quieter goodbye
`)

/** How much. */
export const intensifiers: ReadonlySet<string> = wordSet(`
  very slightly bit little rather quite still almost more too somewhat increasingly barely suddenly now then so even
  just clearly visibly audibly extremely really super mildly genuinely obviously utterly completely half partly
  deeply
`)

/** Prepositions. */
export const prepositions: ReadonlySet<string> = wordSet(`
  with in at under through into on over between from behind against without for to towards toward around across
  after before near beside onto out by as
`)

/** Whole directions that no rule makes. */
export const fixed: ReadonlySet<string> = wordSet(`
  off-screen offscreen off-camera offstage off-stage onscreen on-screen voice-over voiceover voice over vo v.o o.s
  o.c cont'd contd continued aside asides sotto deadpan inaudible unintelligible crosstalk cross-talk beat pause
  silence applause blackout curtain exits exeunt laughter music thunder footsteps throat-clearing facepalm mic-drop
  drumroll bleep wince ahem monologue singing chanting cheering clapping sfx crickets fade-out fade-in eye-roll
  eyeroll
`)

/** Adverbs that comment on a sentence more often than they tell how it is said: alone they are an aside. */
export const comments: ReadonlySet<string> = wordSet(`
  seriously hopefully curiously gratefully ironically-speaking thickly thinly highly deeply greatly shortly briefly
  slightly totally completely evenly normally naturally differently strangely funnily weirdly richly lightly hardly
  kindly nearly mostly clearly suddenly quickly cleanly formally casually deliberately absently gladly flatly vaguely patiently optimistically modestly wildly
  distantly madly discreetly impulsively aggressively secretly humorously candidly
  generally intensely
`)

/** Moods that describe things as well, and so are no direction alone: `the soup (cold)`. */
export const ambiguous: ReadonlySet<string> = wordSet(`
  cold warm icy content blank firm hurt fond strict grave mysterious innocent guilty dramatic tense intense formal casual
  absent airy arch bleak blunt brisk candid charmed chilly choked clipped cross crushed cutting cynical demanding
  depressed diplomatic distant disturbed dogged dry dubious edgy feeble fiery flat glad greedy grim guarded hostile
  humorous hurried hyper inaudible inspired insulting interested lazy lofty lost mad manic mellow modest moved nasty
  optimistic patient provocative raucous rebellious reflective restless rude satirical sober sour sparkling eager
  stiff strained subdued suggestive tart touched vacant vague wild wooden worn-out emotional impressed discouraged
  facetious tentative fearful depressing faster slower louder softer quieter monotone
  comic tragic careful hopeless uncertain confident
`)

/** Verbs that stand alone in their plain form: `sigh`, `pause`. */
export const lone: ReadonlySet<string> = wordSet(`
  laugh chuckle giggle sigh gasp groan cough sob cry sniff sniffle snort yawn whisper shrug nod wink smile grin smirk pause
  gulp frown whistle hum scream shout yell snicker blush facepalm cackle growl moan
`)

/** Verbs by which a person handles a thing or another person: their object may be any noun with an article or owner. */
export const handling: ReadonlySet<string> = wordSet(`
  pour sip light hand offer tear rip crumple uncrumple grab snatch toss fling hurl pocket unfold unwrap stroke caress
  kiss hug slap punch kick shove poke pinch tickle nudge squeeze pat wipe dust mop scrub straighten smooth fasten
  unbutton button unzip buckle untie pluck brandish wield sheathe unsheathe scribble munch nibble gulp cradle mimic
  imitate embrace clutch clasp grip lick fondle fiddle shuffle twirl twist tug yank polish unlock spill mouth jab
  thump whack smack swat stab strangle throttle tackle pummel grope snuggle nuzzle ruffle tousle prod clink jingle
  rummage slurp chug swig devour drain swirl stub inhale puff smoke doff don unpin uncork drape rub tap bite
`)

/** Verbs that handle things in directions and in other texts: their object must be a prop or have an owner. */
export const taking: ReadonlySet<string> = wordSet(`
  drop throw pick put lay set place open close shut lock raise lower lift carry hold take bring fetch drag pull push
  slide slip tuck stuff hide show point aim fire load draw read write sign study examine inspect watch eye follow
  chase block lead guide help comfort console greet salute interrupt ignore avoid drink eat chew stir fill refill
  empty feed fold tie cut break smash crush hit strike touch catch turn flip spread brush comb braid adjust search
  find ring dial answer type knock roll spin wave swing cross leave enter approach circle face see notice recognise
  recognize remove wear peel wrap check return stamp stomp drum rock count blow burn sniff smell kill shoot cover
  press switch collect gather pass give pack unpack sweep mount dry wash start finish hang
`)

/** Verbs of a person's movement, to any place. */
export const going: ReadonlySet<string> = wordSet(`
  kneel stagger tiptoe pace crouch stumble hurry dash storm stride crawl limp hobble stroll saunter strut creep sneak
  scramble slump sprawl flop hop skip leap twirl dance prance bow curtsy squat perch snuggle cuddle nestle curl huddle
  cower recoil flinch lean step bounce shuffle scurry scamper swagger stalk trudge sidle lurch slink skulk waltz
  twitch squirm wriggle sway wobble trip whirl pounce lunge gallop bolt barge waddle totter wander sit stand walk rush
  fidget tremble glance gaze stare peer leer gawk blush smile beckon nod whisper shout point wave turn look
`)

/** Props: things held, worn and drunk, and furniture of a stage. */
export const props: ReadonlySet<string> = wordSet(`
  letter letters envelope book newspaper paper papers photo photograph picture portrait coin coins purse wallet bag
  handbag suitcase trunk box basket drawer cupboard wardrobe bottle glass cup mug teacup plate tray knife sword gun
  pistol revolver rifle dagger spear shield staff wand axe candle candles lamp lantern torch match matches cigarette
  cigar pipe lighter tea coffee wine whisky whiskey brandy beer rum cocoa lemonade drink drinks toast apple cake cookie
  sandwich sofa couch armchair chair chairs bench stool bed pillow blanket cushion curtain curtains door doors window
  windows desk piano guitar violin stairs ladder fireplace fire hearth balcony railing gate coat jacket cloak scarf
  glove gloves hat cap shawl veil mask apron dress skirt shirt tie boots shoes shoe slippers glasses spectacles necklace
  bracelet watch umbrella cane crutches rope flower flowers rose bouquet doll toy teddy sleeve handkerchief tissue
  napkin towel mirror phone telephone receiver microphone baby child boy girl woman man puppy servant waiter maid
  guard crown throne goblet tankard ring luggage blinds shutters diary notebook pen pencil ashtray corpse body head
  hand hands eyes cheek cheeks lips forehead shoulder shoulders hair arm arms bell doorbell horn drum applause note
  contract prisoner bill money stove oven cake muffin wheel armrest headset headphones laptop map flask pill pills
  bandage spoon fork bowl pot pan kettle broom bucket tools hammer saddle reins horse lever button mic camera tape
  cellar bedroom hallway doorway corridor grave coffin cross altar statue basin sink counter bar booth podium room stage kitchen
`)

/** The commonest given names and the people of plays, behind `to`: `to Nora`, `to the waiter`. */
export const addressees: ReadonlySet<string> = wordSet(`
  nora anna maria mary john james jim jack tom peter paul george henry harry charles charlie william will bill bob robert
  richard david michael mike daniel dan mark luke matthew andrew andy alex sam samuel ben benjamin joe joseph max leo
  oliver thomas edward eddie ted frank fred albert arthur walter martin simon steven stephen steve kevin brian eric
  adam alan ian neil gary larry tony nick chris tim greg jeff scott ryan jason justin josh jake kyle ethan noah liam
  lucas lewis oscar felix hugo victor ivan boris anton elizabeth liz lizzie jane emma emily sarah sara kate katie
  catherine kathy laura lucy lily rose ruth rachel rebecca becky susan sue julia julie alice amy ellen helen eva eve
  clara claire sophie sophia olivia mia ella grace hannah jessica jenny jennifer linda lisa karen nancy betty margaret
  maggie peggy martha dorothy barbara patricia pat sandra donna carol diane diana angela michelle nicole stephanie
  melissa amanda natalie irene olga masha sonya tanya vera algernon gwendolen cecily hamlet ophelia romeo juliet macbeth
  mother father mom mum dad mama papa grandma grandpa mrs mr miss sir detective officer inspector sergeant captain
  doctor nurse waiter waitress bartender butler maid servant servants driver guard guards king queen prince princess
  priest judge jury boy girl child children baby man woman men women others group crowd class dog cat soldier soldiers
  policeman cop host hostess stranger neighbor neighbour husband wife brother sister son daughter boss secretary
`)

/** Other verbs of a role's actions between asterisks. */
export const played: ReadonlySet<string> = wordSet(`
  perk arch wrinkle flick flare lift slip slide hum prepare offer wait hover float fly summon cast conjure chuckle-snort
  teleport vanish appear disappear transform glow sparkle melt crumble wake sleep nap doze dream cook bake serve type
  text call drive ride pack unpack wear undress dress shower bathe wash dry apply hit dodge parry charge attack defend
  heal growl-purr sneeze bounce wiggle boop nom nuzzle purr mew glomp huff puff facepalm headbutt high-five fistbump
  salute nod-along shake dance-walk think remember realize realise notice recall consider decide hope wish wonder
  agree refuse ignore listen smell taste feel seem become remain stay linger trace brush cup tilt guide press part
  gently-push whisper-shout join meet greet welcome thank introduce present reveal produce retrieve extend outstretch
  hand slouch loosen tighten flex crack pop steel brace ready aim reload holster trot prowl lap lick howl yip yelp
  flap wuff snuffle woof awoo meow bark hiss-laugh preen ruffle mewl chitter chirp trill squee blep dangle doodle
  bare swish flatten twitch pin droop flop sprawl roll stroll slink scoot shift shrink swallow sway drum rap knead
  pinch steady right regard eye survey study inspect assess ask reply answer say tell joke call admit confess
`)

/** Verbs of sound. Before them may stand any noun: `engine revving`, `birds chirp`. */
export const sounding: ReadonlySet<string> = wordSet(`
  rev chirp bark howl meow neigh whinny moo bleat crow hoot caw tweet squawk growl snarl purr hiss buzz hum drone
  rumble roar crash crack crackle creak squeak squeal screech shriek scream wail whine whimper whistle chime clang
  clank clatter clink jingle tinkle rattle rustle patter splash gurgle bubble drip sizzle fizz thud thump bang slam
  shatter smash explode honk beep bleep ping tick toll blare thunder chatter laugh giggle chuckle cheer applaud clap
  boo gasp sigh sob cry cough sneeze snore groan moan grunt murmur mutter whisper shout yell sing chant knock ring
  approach recede clear fade swell intensify gallop flutter tap click stomp shuffle
`)

/** Sounds as nouns, which a word about them makes a caption: `indistinct chatter`, `distant gunfire`. */
export const sounds: ReadonlySet<string> = wordSet(`
  chatter gunfire gunshot gunshots murmur murmurs murmuring conversation conversations shouting screaming laughter
  applause cheering chanting singing barking footsteps thunder music sirens siren explosion explosions static buzzing
  beeping ringing humming clattering rumbling rustling whispering sobbing crying breathing panting thud thump crash bang
  knock knocking scream screams growl growling howl howling whistling birdsong hoofbeats drumming hubbub speech
  dialogue voices noise noises sigh sighs hissing creaking gasps cheers snoring moaning
`)

/** Words that are no part of a noun's name: after them another phrase or clause begins. */
export const grammatical: ReadonlySet<string> = wordSet(`
  a an the his her their my your its our this that these those some any no each every which who whom whose when where
  while because if although though unless until since than as and or but nor not is are was were be been being am has
  have had do does did will would can could shall should may might must i you he she it we they him them me us of in
  on at to for from with by into onto over under about after before between against through without during per via
  there here what why how also only both either neither such more most less least very too
`)

/** Languages, as a caption names them: `speaking Spanish`. */
export const languages: ReadonlySet<string> = wordSet(`
  english french german italian spanish russian portuguese polish dutch swedish danish norwegian finnish greek turkish
  arabic hebrew hindi chinese mandarin cantonese japanese korean vietnamese thai latin elvish klingon gibberish welsh
  irish gaelic ukrainian czech hungarian romanian persian farsi urdu swahili yiddish tongues foreign language
`)

/** Stems of verbs that also tell of lasting states and of work: `leaves his job` is no direction, `shakes his head` is one. */
export const lastingStems: ReadonlySet<string> = wordSet(`
  leav start begin continu los keep find follow fac lead return giv join becom grow go fall fight break rais set hold cut
  change chang slow switch sink lie us writ sign kill cover check finish mark defend attack remain report serv present
  produc consider decid seem wear stay introduc prepar call drive type ignor avoid block collect clos draw show stud watch
  guid help feed deliver speak talk support gather compos approach cross settl resum drop hit pass mov enter rest answer
  interrupt
`)

/** A person's, and yet out of reach: `his career`. */
export const belongings: ReadonlySet<string> = wordSet(`
  place name career debut life job wife husband children son sons daughter daughters family work death title office company
  own first second third last team party country home house degree term reign role retirement record fortune health right
  rights crown throne birth youth age time parents father mother brother sister friend friends student students reader
  readers fans followers army troops successor predecessor novel novels book books film films album albums song songs play
  plays poem poems music art style view views theory idea ideas plan plans claim claims bid case contract sentence
`)

/** Nouns of sound and feeling that say nothing without a word about them. */
export const vagueNouns: ReadonlySet<string> = wordSet(`
  look manner register volume pitch pride panic passion irony emotion voice voices
`)

/** Objects of verbs of voice: sung or said. */
export const utterances: ReadonlySet<string> = wordSet(`
  tune song melody goodbye hello line lines words note lyrics
`)

/** Subjects of a clause. */
export const subjects: ReadonlySet<string> = wordSet('he she they all both everyone everybody')

/** Verbs that several persons do together: `they embrace`. */
export const meetings: ReadonlySet<string> = wordSet(`
  embrace kiss hug laugh freeze dance exit enter leave applaud
`)

/** Pronouns as objects. */
export const objectPronouns: ReadonlySet<string> = wordSet(`
  him her them me us you himself herself themselves myself yourself it
`)

/** Listeners behind `to`: `to the audience`, `to himself`. */
export const listeners: ReadonlySet<string> = wordSet(`
  himself herself themselves myself self audience camera crowd mic room others everyone
`)

/** Pauses behind `after`. */
export const intervals: ReadonlySet<string> = wordSet('moment beat pause silence')

/** Sounds around the speaker that a quality makes a direction: `ominous music`. */
export const ambience: ReadonlySet<string> = wordSet('music noise noises sounds breathing')

/** Verbs of speaking, before a language. */
export const speaking: ReadonlySet<string> = wordSet(`
  speaking talking continuing singing whispering swearing cursing replying speaks continues answers
`)

/** Words before a participle: `still laughing`, `without looking`. */
export const beforeParticiple: ReadonlySet<string> = wordSet(`
  not without never still always already while now only all both
`)

/** Forms that are a direction by themselves. */
export const loneForms: ReadonlySet<string> = wordSet(`
  rises kneels enters exits embraces faints curtsies crouches collapses stumbles staggers hesitates falters flinches
  recoils cowers fidgets squirms freezes stiffens snores trembles pacing kneeling weeping squirming fidgeting rising
  entering exiting trailing seething
`)

/** Participles of instructions too: `pulling the lever`. */
export const instructing: ReadonlySet<string> = wordSet('pulling pushing pressing turning holding')

/** Stems of verbs that need a place within reach: `walks to school` is no direction. */
export const commonGoingStems: ReadonlySet<string> = wordSet(`
  sit stand walk look turn point lie wave rush bounce skip shuffle wander
`)

/** Verbs of several things or animals in captions: `tires screech`. */
export const pluralSounds: ReadonlySet<string> = wordSet(`
  screech bark howl chirp ring creak rattle rumble roar blare honk wail shatter hoot meow crackle
`)

/** Qualities of a sound in a caption. */
export const soundQualities: ReadonlySet<string> = wordSet(`
  another second third final hysterical indistinct faint distant muffled approaching overlapping loud police audience crowd
  inaudible unintelligible radio machine heavy continuous more rhythmic eerie electronic static thunderous wild canned
  party background
`)

/** Short adverbs between a verb and its thing: `puts down the letter`. */
export const separable: ReadonlySet<string> = wordSet('up down out off away back open aside over around')

/** Prepositions of place beside the others. */
export const placePrepositions: ReadonlySet<string> = wordSet('next upon beneath onto past along toward towards')

/** Prepositions before a name: `to Maria`. */
export const beforeName: ReadonlySet<string> = wordSet(`
  to at with toward towards for from like of behind beside near
`)

/** Participles that make things of nouns: `drinking water`, `walking distance`. */
export const thingParticiples: ReadonlySet<string> = wordSet(`
  drinking walking running sitting standing folding turning rolling stopping starting speaking sounding touching holding
  resting changing closing opening cutting checking setting hanging falling playing moving living looking kicking meeting
  marking dipping stepping swinging stretching
`)

/** Verbs before `to` and another verb: `tries not to laugh`. */
export const attempts: ReadonlySet<string> = wordSet(`
  try trying tries struggles struggling starts starting begins beginning pretends pretending fails failing about pausing
  pauses
`)

/** Verbs behind such a `to` that are in no other list. */
export const attempted: ReadonlySet<string> = wordSet(`
  rise speak stand leave move answer protest interrupt escape explain
`)

/** Verbs before a manner: `sounding tired`. */
export const seeming: ReadonlySet<string> = wordSet(`
  sounding sounds looking looks getting feeling becoming growing grows more being seems seemingly
`)

/** Words in -ly that are no adverbs, or none of a manner. */
export const otherThanAdverbs: ReadonlySet<string> = wordSet(`
  easily daily weekly monthly yearly annually only family apply reply supply likely early jelly belly italy
`)

/** Colours and words that may follow a participle between asterisks: `turning red`. */
export const afterParticiple: ReadonlySet<string> = wordSet('you red pale white green pink purple and next')

/** Verbs of state between asterisks, which need a mood: `looks tired`, but not `looks good`. */
export const stateVerbs: ReadonlySet<string> = wordSet('looks feels sounds seems becomes gets grows')

/** Between asterisks: verbs of programs and books, and words that only look like verbs in the third person. */
export const impersonalVerbs: ReadonlySet<string> = wordSet(`
  is was has does this its his as us always perhaps sometimes yes plus minus makes means supports uses includes provides
  requires needs wants allows lets keeps ensures changes contains adds removes returns creates generates handles gets sets
  runs calls takes comes goes works applies disables enables updates deletes replaces overrides defines specifies describes
  represents improves prevents reduces increases causes fixes shows across besides towards unless versus afterwards regards
  upwards downwards news process access success class less business all ignores sends stores implements skips shares drops
  breaks ends matches passes reads writes starts stops exports imports builds parses
`)

/** Articles and owners behind a verb that no list has: `rearranges the items`. */
export const objectOpeners: ReadonlySet<string> = wordSet('his her your my their the you him himself herself a an')
