/** What a user says to a companion, and the question for it: ten kinds, in the manner of chats. Names are invented. */
export const companionFacts: readonly (readonly [fact: string, question: string])[] = [
  // Work
  ['I work as a nurse at the clinic in Maribor.', 'Where do I work?'],
  ['My boss is called Gerda Holm.', 'What is my boss called?'],
  ['Our team meets every Tuesday at half past nine.', 'When does our team meet?'],
  ['I am writing a report on water pumps for the council.', 'What is my report about?'],
  ['My contract ends in October.', 'When does my contract end?'],
  ['The new intern in our office is Piotr.', 'Who is the new intern?'],
  ['I took over the night shifts from Leyla.', 'Whose night shifts did I take over?'],
  // Code
  ['Our project uses PostgreSQL 16 with the pgvector extension.', 'Which database does our project use?'],
  ['The staging server listens on port 8443.', 'Which port does the staging server listen on?'],
  ['I keep my dotfiles in a repository called nestbox.', 'What is my dotfiles repository called?'],
  ['We deploy with a script named ship-it.', 'What is the name of our deploy script?'],
  ['The parser is written in Rust.', 'In which language is the parser written?'],
  ['Our linter forbids default exports.', 'What does our linter forbid?'],
  // Numbers
  ['My locker at the pool is 217.', 'Which locker is mine at the pool?'],
  ['The boiler holds 160 litres.', 'How many litres does the boiler hold?'],
  ['My shoe size is 43.', 'What is my shoe size?'],
  ['Our flat has 84 square metres.', 'How many square metres does our flat have?'],
  ['My bus is the 71 from the harbour.', 'Which bus do I take from the harbour?'],
  ['The rent is 940 euros a month.', 'How much is the rent?'],
  ['I swim 30 lengths every morning.', 'How many lengths do I swim?'],
  // Relative dates
  ['Yesterday I planted two apple trees.', 'When did I plant the apple trees?'],
  ['My dentist appointment is next Thursday.', 'When is my dentist appointment?'],
  ['Last week we visited my uncle in Trieste.', 'Whom did we visit in Trieste?'],
  ['The exhibition opens in three weeks.', 'When does the exhibition open?'],
  ['I stopped smoking two months ago.', 'When did I stop smoking?'],
  ['Since Monday I have a new bicycle.', 'Since when do I have a new bicycle?'],
  // Negations
  ['I do not drink coffee after noon.', 'Do I drink coffee after noon?'],
  ['I never learned to ride a horse.', 'Can I ride a horse?'],
  ['We have no television at home.', 'Do we have a television?'],
  ['I am not allergic to cats, only to dust.', 'Am I allergic to cats?'],
  ['My brother does not eat mushrooms.', 'Does my brother eat mushrooms?'],
  ['I have not seen the film about the lighthouse.', 'Have I seen the lighthouse film?'],
  // Updates
  ['I moved from Graz to Linz in spring.', 'Where did I move in spring?'],
  ['I switched my phone plan to Brightcall.', 'Which phone plan do I have?'],
  ['We renamed the cat from Mog to Pepper.', 'What is our cat called?'],
  ['My gym is now the one beside the station.', 'Where is my gym?'],
  ['I sold the red car and bought a grey van.', 'What car did I buy?'],
  ['My doctor is Dr. Okafor now.', 'Who is my doctor?'],
  // Typos
  ['my siter Ana livs in Porto', 'where does my sister Ana live'],
  ['i lern the acordion on wendesdays', 'when do i learn the accordion'],
  ['my favorit colour is turqoise', 'what is my favourite colour'],
  ['the garadge door opens with the blue key', 'which key opens the garage door'],
  ['we adopted a dog, hes calld Bruno', 'what is our dog called'],
  ['my neigbour plays the drumms at night', 'what does my neighbour play at night'],
  // Other languages, and mixed ones
  ['Meine Tochter heißt Safiya.', 'Wie heißt meine Tochter?'],
  ['Ich parke immer im Parkhaus am Dom.', 'Wo parke ich immer?'],
  ['Mon anniversaire est le 12 mai.', 'Quand est mon anniversaire ?'],
  ['Mi hermano trabaja en una panadería.', '¿Dónde trabaja mi hermano?'],
  ['La mia bicicletta è verde.', 'Di che colore è la mia bicicletta?'],
  ['Moja babcia mieszka w Krakowie.', 'Gdzie mieszka moja babcia?'],
  ['Моя собака боится грозы.', 'Чего боится моя собака?'],
  ['我的医生姓林。', '我的医生姓什么？'],
  ['My Oma bakes Zwetschkenkuchen on Sundays.', 'What does my Oma bake on Sundays?'],
  // Short
  ['I am left-handed.', 'Am I left-handed or right-handed?'],
  ['My car is blue.', 'What colour is my car?'],
  ['I play chess.', 'Do I play chess?'],
  ['My wife is Norwegian.', 'Where is my wife from?'],
  ['The wifi is called Burrow.', 'What is the wifi called?'],
  // Long
  [
    'We spent the whole of last summer in a small cabin by a lake in Finland, where it rained for nine days, and in the evenings my grandfather taught all of us an old card game that he calls Seven Foxes.',
    'Which card game did my grandfather teach us?',
  ],
  [
    'After a lot of going back and forth, and although the kitchen was rather small, we decided on the apartment on Lindenweg, because it is close to the school and has a balcony for my tomatoes.',
    'Which apartment did we decide on?',
  ],
  [
    'For the wedding of my cousin Mirela I have to prepare a speech, a slide show with old pictures, and a cake with hazelnuts, and I still need somebody who can borrow a projector from the library.',
    'What do I have to prepare for the wedding?',
  ],
  [
    'My physiotherapist says that the pain in my left knee comes from running on asphalt, that I should do the stretches twice a day, and that I may run again from the beginning of June.',
    'When may I run again?',
  ],
]
