/** What a user says to a companion, and the question for it: ten kinds, in the manner of chats. Names are invented. */
export const companionFacts: readonly (readonly [fact: string, question: string])[] = [
  // Work
  ['I teach chemistry at the evening school in Tartu.', 'What do I teach?'],
  ['My manager is Ottilie, and she sits in the Lyon office.', 'Who is my manager?'],
  ['Every second Friday I have the late shift at the pharmacy.', 'When do I have the late shift?'],
  ['The client for the bridge project is called Norvane.', 'What is the client of the bridge project called?'],
  ['Our quarterly report is due on the 14th.', 'When is the quarterly report due?'],
  ['I share a desk with Bastien from accounting.', 'With whom do I share a desk?'],
  // Code
  ['The billing service is written in Kotlin and runs on Java 21.', 'What is the billing service written in?'],
  ['We tag releases as vYEAR.WEEK, for example v2026.14.', 'How do we tag releases?'],
  ['The flaky test is called shouldRetryTwice.', 'What is the flaky test called?'],
  ['My editor is Helix, with the theme papercolor.', 'Which editor do I use?'],
  ['`make seed` fills the database with sample data.', 'How do I fill the database with sample data?'],
  ['The feature flag for the new checkout is cart_v3.', 'Which feature flag is for the new checkout?'],
  // Numbers
  ['The code of the bicycle shed is 5083.', 'What is the code of the bicycle shed?'],
  ['I weigh 71.5 kilos.', 'How much do I weigh?'],
  ['Our house number is 118b.', 'What is our house number?'],
  ['The aquarium holds 240 litres.', 'How big is the aquarium?'],
  ['My blood pressure was 128 over 82.', 'What was my blood pressure?'],
  ['I run ten kilometres in 54 minutes.', 'How long do I need for ten kilometres?'],
  // Relative dates
  ['The day before yesterday the washing machine broke.', 'When did the washing machine break?'],
  ['In two weeks my brother arrives from Osaka.', 'When does my brother arrive?'],
  ['My driving test is tomorrow at ten.', 'When is my driving test?'],
  ['Last month I started to learn the cello.', 'When did I start to learn the cello?'],
  ['We have been married for six years next Sunday.', 'How long have we been married?'],
  ['Three days ago I sent the tax return.', 'When did I send the tax return?'],
  // Negations
  ['I do not eat pork.', 'Do I eat pork?'],
  ['We never bought the summer house.', 'Did we buy the summer house?'],
  ['My mother cannot drive any more.', 'Can my mother drive?'],
  ['I am no longer a member of the choir.', 'Am I a member of the choir?'],
  ['There is no lift in our building.', 'Is there a lift in our building?'],
  ['Tilda has not answered my letter.', 'Has Tilda answered my letter?'],
  // Updates
  ['Since May I work at the observatory instead of the museum.', 'Where do I work?'],
  ['We moved the party from Saturday to Sunday.', 'When is the party?'],
  ['My new number plate is KL-OP 90.', 'What is my number plate?'],
  ['I changed my surname to Vasari.', 'What is my surname?'],
  ['The doctor raised my dose to 40 milligrams.', 'What is my dose?'],
  ['Our meeting room is now the blue one.', 'Which is our meeting room?'],
  // Typos
  ['my dougther goes to kindergarden in Lund', 'where does my daughter go to kindergarten'],
  ['i am alergic to penicilin', 'am i allergic to penicillin'],
  ['the plumer comes on thrusday', 'when does the plumber come'],
  ['my favrite restaurant is Casa Lume', 'what is my favourite restaurant'],
  ['we bougth a secondhand piano from the nieghbours', 'from whom did we buy the piano'],
  ['my uncel Rafe has a fishing bote', 'what does my uncle Rafe have'],
  // Other languages, and mixed ones
  ['Mein Hund heißt Krümel und mag keine Katzen.', 'Wie heißt mein Hund?'],
  ['Wir fahren im August nach Dänemark.', 'Wohin fahren wir im August?'],
  ['Ma sœur habite à Nantes avec ses deux enfants.', 'Où habite ma sœur ?'],
  ['Trabajo de noche en el hospital.', '¿Cuándo trabajo en el hospital?'],
  ['Il mio treno parte alle sette e dieci.', 'A che ora parte il mio treno?'],
  ['Mój syn gra w szachy w klubie Wieża.', 'W jakim klubie gra mój syn?'],
  ['Мой брат живёт в Перми.', 'Где живёт мой брат?'],
  ['我每天早上六点起床。', '我每天几点起床？'],
  ['妹の誕生日は九月三日です。', '妹の誕生日はいつですか？'],
  ['Meine Schwester loves karaoke nights in Köln.', 'What does meine Schwester love?'],
  // Short
  ['I have twins.', 'Do I have twins?'],
  ['My bike is orange.', 'What colour is my bike?'],
  ['I hate coriander.', 'What do I hate?'],
  ['My sign is Leo.', 'What is my sign?'],
  ['The cat is deaf.', 'Is the cat deaf?'],
  // Long
  [
    'When the storm took the roof of the barn last winter, my father-in-law Joris came over with his tractor and a ladder, and for three days we nailed tarpaulins in the rain, which is why I owe him a weekend at his vineyard.',
    'Who helped us when the storm took the roof of the barn?',
  ],
  [
    'The architect says that the wall between the kitchen and the hall can go, that we need a steel beam of five metres for it, and that the permit from the town will take about eleven weeks if nobody objects.',
    'How long will the permit from the town take?',
  ],
  [
    'For my thesis I compare how three villages along the river dealt with the floods of 1954 and 2013, and my supervisor, Professor Anselm, wants the chapter on insurance before the end of term.',
    'What is my thesis about?',
  ],
  [
    'Our daughter Pia wants to study marine biology in Bergen, but she still needs a B2 certificate in Norwegian, two letters of recommendation, and proof of her internship at the aquarium.',
    'What does Pia still need to study in Bergen?',
  ],
  [
    'At the flea market I found a camera from the sixties, a Zorin with a leather case, and although the shutter sticks a little, the man in the shop on Mill Lane says he can repair it for thirty euros.',
    'Who can repair the camera?',
  ],
]
