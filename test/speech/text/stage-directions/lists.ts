/** Directions and asides in parentheses, from chat models and scripts: the rules were written with the first half of each list in sight. */
const split = (text: string): readonly string[] =>
  text
    .split('|')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')

export const directions = split(`
  in a low voice | excited | takes a deep breath | laughs nervously | sighs | pauses | whispering | to himself | beat |
  clears throat | clears his throat | smiling | with a smile | under her breath | rolls eyes | rolling her eyes | softly |
  in a whisper | angrily | shouting | long pause | a beat | nods | shaking his head | leans in | leaning closer | looks away |
  looking down | voice breaking | voice trembling | her voice cracks | sarcastically | sarcastic | nervous laughter |
  laughing | chuckles softly | crying | tearfully | through tears | through gritted teeth | with a sigh | wiping away tears |
  in a mocking tone | mockingly | in a thick French accent | singing | hums quietly | applause | crowd cheers |
  music plays softly | door slams | phone rings | off-screen | voice-over | aside | to the audience | to camera |
  raises an eyebrow | shrugs | winks | claps hands | jumping up and down | very excited | slightly annoyed | confused |
  thinking | after a moment | dramatic pause | deadpan | catching her breath | gasps in horror | trying not to laugh
`)

export const heldOutDirections = split(`
  quietly | in a hushed tone | hesitantly | swallows hard | takes a sip of coffee | stares into the distance | grinning |
  with a smirk | excitedly | exhales slowly | deep breath | exhausted | laughing out loud | snorts | bursts into laughter |
  bursting into tears | sobbing uncontrollably | furious | pleading | whispers to Anna | muttering to herself |
  leans back in his chair | crosses her arms | arms crossed | hands on hips | taps the microphone | coughs | clearing throat |
  turning to the crowd | bows | waves | blushing | embarrassed | shyly | proudly | in disbelief | with tears in her eyes |
  voice rising | lowering his voice | raising her voice | speaking slowly | in a robotic voice | cheerful tone | serious |
  seriously now, leaning forward | short pause | silence | thunder rumbles | footsteps approach | lights dim | exits |
  enters from the left | sits down | stands up | gets up | frowning | pouting | giggles | half-laughing | out of breath |
  panting | yawning | sniffling | teasing | playful | calm and reassuring | warmly | gently, almost whispering | sings
`)

export const asides = split(`
  see page 4 | in 1998 | or so I thought | about 3 km | both of them | excited states of atoms | a friend of mine |
  the one in Paris | for example | e.g. apples and pears | i.e. never | which I had forgotten | if you ask me | born 1950 |
  and rightly so | at least in theory | not to mention the cost | formerly Burma | including tax | plus shipping |
  it was only a joke | he laughs a lot | because she was crying | with one exception | in a way | in a nutshell |
  in the long run | on Mondays | until noon | only July | pause the video first | see below | optional | again |
  my brother | his wife | the red one | more or less | sort of | as usual | no pun intended | thank God | just kidding |
  around noon | by the way | to be honest | to my surprise | to the left of the door | to some extent | at the end |
  or rather the opposite | that is, the music | music and dance | silence is golden | a short pause is normal |
  the singing bird | crying babies included | a whisper campaign | voice recognition | takes about an hour |
  works on Windows too | costs five dollars | starts at nine | World Health Organization | WHO | mostly | usually | roughly |
  early | family only | daily | Italy | obviously | technically speaking | in the voice of the people | with a friend |
  with milk and sugar | under construction | under the bridge | nodes | head office | hand-made | tone deaf people | left | right
`)

export const heldOutAsides = split(`
  as of 2020 | see chapter 3 | the second largest | not his real name | for the time being | in my opinion |
  unless it rains | at that time | two of which failed | a type of cheese | pronounced like "bee" | up to ten people |
  from the Greek word for star | like most cats | who was only six | which is why he left | and her sister | or vice versa |
  except on Sundays | no later than Friday | almost always | hardly ever | supposedly | probably | locally sourced |
  highly recommended | freely available | a deep lake | low in fat | high in fibre | heavy rain | light rain | soft drinks |
  quiet rooms available | loud music prohibited | nervous system | angry customers | happy hour | serious injuries |
  exhausted batteries | with a capital A | with or without sugar | in a low-income area | in a small town |
  in high season | in short supply | in surprise attacks | on the phone | over the phone | the sound of music | a smile costs nothing |
  looks like rain | turns out he was right | takes two to tango | sits on a hill | stands for "Not a Number" | breaks easily |
  runs on batteries | waves and particles | beats per minute | bow ties | claps of thunder | tears and sweat |
  breathing problems | standing room only | seating for forty | leaning tower of Pisa | rising prices | raising taxes |
  speaking of which | turning point | thinking ahead | trying times | sound familiar? | his favourite colour | her words, not mine
`)
