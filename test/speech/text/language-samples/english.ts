/** English that detectors take for something else: names, loan words, places, titles, addresses and notes. */
export const hardEnglish: readonly string[] = `
  My name is Jürgen.
  Dr. Kowalczyk, please call room 12.
  Pablo Neruda was born in Chile.
  Buongiorno means good morning in Italian.
  The word Schadenfreude has no English translation.
  Ask Nguyễn about the phở.
  Lech Wałęsa led Solidarność.
  He sang Für Elise and Ave Maria.
  Visit Córdoba, Granada, Málaga and Cádiz.
  Zlatan Ibrahimović scored twice.
  I love tapas, paella and sangria.
  Meet me at the Champs-Élysées.
  It was written by Émile Zola.
  Dvořák, Janáček and Smetana
  Recep Tayyip Erdoğan spoke first.
  Las Vegas, Nevada
  Rio de Janeiro is hot.
  Ludwig van Beethoven died in Vienna.
  Leonardo da Vinci painted it.
  Vincent van Gogh cut off his ear.
  Charles de Gaulle airport is closed.
  Ursula von der Leyen visited Kyiv.
  Oscar de la Hoya won again.
  Take the A10 towards Bordeaux.
  Hola, my friend!
  C'est la vie, as they say.
  Mamma mia, here we go again.
  No entiendo, said the waiter.
  The Académie française was founded in 1635.
  La Niña brings rain; El Niño brings drought.
  Crème fraîche, jalapeños, açaí and gruyère are on the list.
  Subtotal: $45.90. Tax: $3.20.
  Dear Mr. Sørensen, thank you for your letter.
  Step 1: install Node. Step 2: run npm start.
  Press Ctrl-C to quit.
  Peter and Maria went home.
  Lorem ipsum is dummy text.
  Bayern Munich 3, Borussia Dortmund 1.
  Tom Hanks, Meryl Streep, Al Pacino
  Chicken tikka masala with naan
  Fish and chips
  Her résumé was naïve.
  Please read this aloud.
  The end.
  One two three four five.
  Wait, what?
  Don't panic!
  I can't believe it's not butter.
  Once upon a time there was a king.
  To be or not to be, that is the question.
`
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '')
