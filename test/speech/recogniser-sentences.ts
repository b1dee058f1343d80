/** The sentences that measure flite's voices: `npm run bench -- speech` has every preset speak all of them. */
export const recogniserSentences: readonly string[] = [
  'The quick brown fox jumps over the lazy dog near the river bank.',
  'She told them that the weather would change before the end of the week.',
  'People all over the world listen to music when they travel to work.',
  'My brother wants to buy a new house with a large garden and a red door.',
  'We have been waiting for the train since seven in the morning.',
  'Please remember to close the window before you leave the room.',
  'The children played in the park until it was too dark to see.',
  'He found an old letter from his mother in the kitchen drawer.',
  'A cup of hot coffee is the best way to start a cold winter day.',
  'Scientists have discovered water under the surface of the planet.',
]
