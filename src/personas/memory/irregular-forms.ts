/**
 * English words with forms that no suffix rule finds, each group headed by its base form. Forms that are words of their own
 * too (`left`, `saw`, `found`) are listed where the verb is likelier in personal statements; `wound`, `ground` and `lives` are not.
 */
const groups = `
arise arose arisen;awake awoke awoken;beat beaten;become became;begin began begun;bend bent;bind bound;bite bit bitten;
bleed bled;blow blew blown;break broke broken;breed bred;bring brought;build built;burn burnt;buy bought;catch caught;
choose chose chosen;cling clung;come came;creep crept;deal dealt;dig dug;draw drew drawn;dream dreamt;drink drank drunk;
drive drove driven;eat ate eaten;fall fell fallen;feed fed;feel felt;fight fought;find found;flee fled;fling flung;
fly flew flown;forbid forbade forbidden;foresee foresaw foreseen;forget forgot forgotten;forgive forgave forgiven;
freeze froze frozen;get got gotten;give gave given;go went gone;grow grew grown;hang hung;have had has;
hear heard;hide hid hidden;hold held;keep kept;kneel knelt;know knew known;lead led;lean leant;leap leapt;learn learnt;
leave left;lend lent;light lit;lose lost;make made;mean meant;meet met;mistake mistook mistaken;mow mown;
overcome overcame;oversleep overslept;pay paid;prove proven;ride rode ridden;ring rang rung;rise risen;run ran;
say said;see saw seen;seek sought;sell sold;send sent;sew sewn;shake shook shaken;shave shaven;shine shone;
shoot shot;show shown;shrink shrank shrunk;sing sang sung;sink sank sunk;sit sat;sleep slept;slide slid;smell smelt;
sow sown;speak spoke spoken;speed sped;spell spelt;spend spent;spill spilt;spin spun;spit spat;spoil spoilt;
spring sprang sprung;stand stood;steal stole stolen;stick stuck;sting stung;stink stank stunk;stride strode;
strike struck;strive strove striven;swear swore sworn;sweep swept;swell swollen;swim swam swum;swing swung;
take took taken;teach taught;tear tore torn;tell told;think thought;throw threw thrown;tread trod trodden;
understand understood;undertake undertook undertaken;undergo underwent undergone;undo undid undone;wake woke woken;
wear wore worn;weave wove woven;weep wept;win won;withdraw withdrew withdrawn;write wrote written;
child children;man men;woman women;foot feet;tooth teeth;goose geese;mouse mice;louse lice;ox oxen;person people;
die dying;lie lying;tie tying;knife knives;wife wives;loaf loaves;half halves;wolf wolves;
thief thieves;shelf shelves;calf calves;elf elves;scarf scarves;hoof hooves;cactus cacti;fungus fungi;
good better best;bad worse worst;far further furthest farther farthest;diagnosis diagnoses;crisis crises;
analysis analyses;thesis theses;phenomenon phenomena;criterion criteria;bacterium bacteria
`

/** Every irregular form with its base form, lower case. */
export const irregularForms: ReadonlyMap<string, string> = new Map(
  groups
    .replaceAll('\n', '')
    .split(';')
    .flatMap((group) => {
      const [base = '', ...forms] = group.split(' ')
      return forms.map((form): [string, string] => [form, base])
    }),
)
