import * as assert from 'uvu/assert'
import { noticeFeedback } from '../../../src/personas/adaptation/feedback.ts'
import { suite } from '../../helpers/suite.ts'

const feedback = suite('feedback on answers')

/** Sentences about answers, by the traits that they move and their direction. */
const real: Readonly<Record<string, string>> = {
  'directness +': `
    Get to the point. | Please just answer the question. | I prefer more direct answers. | Be more direct with me. |
    I need you to be more direct. | Just get to the point. | Be blunt with me.`,
  'emoji_use +': `
    You can use more emojis if you like.`,
  'emoji_use -': `
    No emojis, please. | Stop using emojis. | Please use fewer emojis from now on. | You use too many emojis. |
    Please don't use emojis. | Can you stop using so many emojis? | Enough with the emojis, use fewer emojis. |
    Please, no more emojis in your replies. | Drop the emojis. | I would prefer that you use fewer emojis.`,
  'formality +': `
    I'd like you to be more formal. | Please be more professional in your answers. |
    Your tone is less formal than I like, be more formal. | I want you to be more formal with me.`,
  'formality -': `
    You are too formal. | Don't be so formal with me. | Be more casual. | A little less formal, please. |
    You write too formally, be less stiff. | Not so formal, please. | Your messages are too stiff. |
    Why are you so formal? | Please talk to me more casually. | You sound too formal, we are friends. |
    You don't have to be so formal. | I'd prefer a less formal tone. | Please write less formally. |
    Talk less formally to me. | Stop being so formal. | You can be more casual, we know each other.`,
  'humour +': `
    I wish you were funnier. | More jokes please! | I would like more humour. | Tell more jokes! |
    Can you be a bit funnier? | I like it when you use more humour. | You're way too serious. |
    Please be funnier, Ada! | More humor, less seriousness.`,
  'humour -': `
    No more jokes. | Be serious. | Your jokes are nice, but be more serious about my health. |
    Please be more serious, this matters to me. | Stop making so many jokes. | Skip the jokes.`,
  'structure +': `
    Use bullet points. | I prefer answers with bullet points. | Next time use more bullet points. |
    Can you structure that with bullet points? | Could you use bullet points in your answers?`,
  'structure -': `
    Please answer without bullet points. | No lists please, write in full sentences. |
    Too many bullet points in your answers. | Please write without headings. | Please avoid bullet points. |
    I'd rather have no bullet points. | I hate bullet points, please write without lists.`,
  'technical_depth +, verbosity +': `
    This was too simple, go deeper.`,
  'technical_depth +': `
    That explanation was too simple, I am an engineer. | You can be more technical with me. |
    You can skip the basics, be more technical. | I know the basics, so be more technical. |
    Your last explanation was not technical enough.`,
  'technical_depth -': `
    Please explain more simply. | This is too complicated. | Your explanation was too technical for me. |
    Less technical, please. | Could you say that in simple terms? | Explain it in plain words, I'm not a doctor. |
    Make it simpler. | Simpler please, I don't understand. | Too complicated for me. |
    I didn't get that. Too complicated. | Your explanation of the contract was too complicated. |
    Could you use simpler words? | Use simpler language please. | That went over my head, explain it more simply. |
    Can you explain that in simple terms? | Explain quantum computing in simple terms. |
    Please explain it like I'm five. | Hey, that was too complicated! | Sorry, too technical for me. |
    Explain that again but simpler. | You explain things too technically. | Speak more plainly. |
    The response was too complicated for me. | Reply in simpler words. | It's too technical.`,
  'verbosity +': `
    Your answers are too short, I need more details. | More details, please. | I want more detail. |
    Please give me more details. | Please elaborate. | That was too short. | I like longer answers. |
    Your replies could be longer. | Go deeper, please. | Your last reply was too short. | The answer was too short. |
    I need longer answers from you. | Could you go into more detail? | I'd love a more detailed answer. |
    That was not detailed enough. | Your explanation wasn't detailed enough. | This explanation needs more details. |
    Longer answers, please. | You're being too brief. | These answers are too short. |
    From now on answer with more details. | Your reply about the visa was too short. | more detail on that please |
    Could you explain this in more detail? | Please be more thorough. | Make your answers longer. |
    Your description of the painting was too short. | Not detailed enough. | Go into more depth, please. |
    As I said: longer answers please.`,
  'verbosity -': `
    Be shorter. | Your answer was too long. | That was too long. | You're too verbose for me. | Shorter, please! |
    Could you be a bit more concise? | Can you keep it short next time? | Too long. | Hm, that's too long, sorry. |
    Thanks, but that was way too long. | I find your answers too long to read on the phone. | Fewer words, please. |
    Ada, be brief. | Be brief, I'm at work. | Answer more briefly, be more concise. | Write shorter answers. |
    Give me shorter answers from now on. | Could your answers be less verbose? |
    Tell me about Rome, but keep it short. | It was too long, I stopped reading halfway. |
    Please keep your answers short. | Can you be briefer? | That's a bit too detailed for me. |
    You write way too much. | Way too long! | Please answer in fewer words. |
    Your answers are always so long, be concise. | Keep it brief please | tl;dr, shorter please |
    Stop beating around the bush. | Your last message was far too long, Ada. | Next time please be shorter. |
    In future, please be less verbose. | Way too many words. | ok but shorter | Don't be so verbose. |
    I asked for a short answer, that was too long. | Could you please be less wordy? | Less detail, please. |
    I'd appreciate shorter answers. | Your answers need to be shorter. |
    Keep your replies under control, they are too long. | Give me the short version, you are too wordy. |
    I like your answers but they are too long. | Next time: shorter answers. | Hey, a bit shorter please? |
    This is too long for me. | Your sentences are too long.`,
  'warmth +': `
    You could be friendlier. | Be kinder to me, today was hard. | Warmer, please, you sound like a machine. |
    Please be a little warmer. | You are too cold. | You sound too cold. | Try to be friendlier. |
    You are too distant. | Please be nicer to me.`,
}

/** Sentences with the same words about something else, or about how to deal with it. */
const neutral = `
  My boss said: be more direct. | The manual says: keep it short. | The text on the sign is too small and too long. |
  The sign reads: be brief. | The message from the bank was too technical. |
  The contract needs more details. | The coffee was too simple. | My commute is too long. |
  The film was too long and I fell asleep. | Her speech was too short for the occasion. |
  The new office dress code is more formal than the old one. | I need a simpler recipe for tonight. |
  My boss wants more details by Friday. | The hotel offered friendlier service than last year. |
  He should be more direct with his team. | Should I be more formal in the interview? |
  I want to be funnier at parties. | How can I be more direct with my sister? | My jeans are too short. |
  The manual is too technical for my father. | I'd like shorter hair this summer. |
  Do you know a shorter way to the station? | The exam was too complicated. | Can you make the contract shorter? |
  Write a more formal letter to the landlord. | Add more details to the second chapter. |
  The kids made more jokes than usual. | She told me to be brief. | My teacher always says: be brief. |
  Translate "that was too long" into French. | Which of the two is more formal, Sie or du? |
  Is this skirt too short for work? | The second meeting was less formal. |
  I don't want to wait any longer answers or not. | We had soup without lists of ingredients on the packet. |
  My daughter uses more emojis than words. | I texted him without emojis and he was offended. |
  There should be more jokes in the wedding speech. | Python comes with lists and tuples. |
  The judge asked for more details about the accident. | The tutorial was in simple terms but boring. |
  The winter coat is warmer than the jacket. | It was warmer yesterday. | The soup needs to be warmer. |
  I bought a longer cable. It was too long. | My essay has no headings and the professor complained. |
  The police gave more details this morning. | The train takes too long. |
  Our contract is too complicated, says the lawyer. | I was too direct with my mother yesterday. |
  We were told to dress less formal. | He just answers his phone with a grunt. |
  The plot was too simple. Too simple for me. | The dog needs a shorter leash. |
  Life would be simpler without taxes. | Explain why the contract needs more details. |
  Tell me whether the coffee was too simple. | My cv is too long, what can I cut? |
  The proposal needs to elaborate on costs. | The menu at the new place is more detailed now. |
  Das Meeting war viel zu lang. | Der Vertrag braucht mehr Details. | Le film était trop long. |
  El café era demasiado simple. | O contrato precisa de mais detalhes. | Il discorso era troppo corto. |
  Kaffee war too simple heute im Büro. | I think the wedding was more serious than funny. |
  The doctor was kinder than I expected. | Grandpa gets funnier with age. |
  My phone stopped using emojis after the update. | The report is shorter now, and the client likes it. |
  Give me more details on the Treaty of Versailles. | Last night was too long, I am tired. |
  If the text is too long, the printer jams. | The rules are too complicated for beginners. |
  A more technical bike would suit her. | The days are getting shorter. | I prefer longer walks in autumn. |
  I need more jokes for my stand-up routine. | He thinks I am too formal. | Is it too short notice to call her? |
  I used bullet points in my talk and it went well. | That film was too long. |
  This coffee is too simple for twelve euros. | The apartment is too small and the lease too long. |
  My presentation needs more bullet points. | I have to be more professional at work. |
  The lecture was too technical for the audience. | We want a friendlier tone in the newsletter. |
  The email to the client should be shorter. | That recipe was too complicated. | The show had too many jokes. |
  It was too long a drive. | The sermon was too long, but the music was lovely. |
  Can you make this email more formal? | Write a shorter version of the report. |
  Could you add more details to my cover letter? | Please make the invitation more casual. |
  The customers complained that the manual was too complicated. | My therapist says I should be kinder to myself. |
  I want my blog to be funnier. | This wine is too simple, that one is more elaborate. |
  My answer was too short and the teacher took off points. | The bank's reply was too formal. |
  The explanation in the textbook was too complicated. | I got a longer answer from the landlord. |
  He replied without emojis. | The doctor's explanation was too technical. |
  Her answers were too short in the interview. | I failed because my answers were too long. |
  Our website needs fewer headings and more pictures. | Nobody likes meetings that are too long. |
  Winter is too long here. | We should be more direct about the price. | Could my mother be any colder? |
  I feel like the ending was too simple. | What makes a joke funnier? | How do I make my writing less stiff? |
  What is a simpler word for perspicacious? | Is "hey" too casual for a client? |
  Too long didn't read is an internet slang. | The shortest day is in December. |
  My girlfriend says I am too serious. | People should use more emojis. | Gmail lets you use bullet points. |
  The interview was short and to the point. | The judge was more serious than I thought. |
  The beach was warmer and the people friendlier. | He explained it in simple terms. |
  Nice weather, warmer than yesterday! | I like shorter books. | I prefer more formal restaurants. |
  I'd like a simpler phone. | I need longer sleeves. | Do you like longer books or shorter ones? |
  Was the war too long? | The report is not detailed enough. | My notes have no headings. |
  The steak was too short on the grill. | I love more jokes in films. | Shorter days make me sad. | Simpler times. |
  The line was too long so we left. | Let's make the party less formal. |
  La respuesta del banco fue demasiado corta. | Mein Chef will mehr Details. | The cover letter: too long? |
  The dentist was friendlier this time, and quicker. | Your contract needs more details. |
  Your coffee was too simple. | This soup is too simple. | That answer key is too short. |
  I told my brother to be more direct. | My brother should use more emojis. |
  Should we use more emojis in the campaign? | Is a shorter answer better in exams? | What does "be brief" mean? |
  The song is too short, I want more of it. | I need to get to the point in my talk. |
  We need more details before we sign. | I would like to be less formal at work. |
  Everything was too complicated back then. | Taxes are too complicated for me. |
  Chess is too complicated, checkers is simpler. | Being more direct helped my marriage. |
  No jokes at the funeral, my aunt decided. | No lists in the exam, the teacher warned. |
  The instructions are not detailed enough. | It's too long a story to tell. | Make the curtains shorter. |
  Use fewer words in the headline of the flyer. | Use bullet points for the agenda of the meeting. |
  Give me a longer list of films. | A kinder world would be nice. | Can a contract be too detailed? |
  Keep the cake simple, my mother told me. | The novel has too many words. | My son talks too much. |
  My colleague writes too much. | They should talk less formal. | Find me a simpler recipe. |
  I'm looking for a shorter flight. | Find a friendlier hotel. | Could the letter be more formal? |
  Would a more formal suit be better? | In simple terms the merger failed, he said. |
  The weather gets warmer, so we go out without jackets. | My answers to the survey were too short.`

const linesOf = (text: string) => text.split('|').map((line) => line.trim())

feedback('is noticed, with its trait and direction, in at least 95 % of sentences about an answer', () => {
  const sentences = Object.entries(real).flatMap(([expected, text]) => linesOf(text).map((line) => [expected, line]))
  const missed = sentences.filter(([expected, sentence]) => heard(sentence!) !== expected)
  assert.ok(missed.length <= sentences.length * 0.05, `missed:\n${missed.map(([, line]) => line).join('\n')}`)
})

feedback('is seen in at most 2 % of sentences about other things, whatever words they have', () => {
  const sentences = linesOf(neutral)
  const wrong = sentences.filter((sentence) => heard(sentence) !== '')
  assert.ok(wrong.length <= sentences.length * 0.02, `wrongly taken for feedback:\n${wrong.join('\n')}`)
})

function heard(sentence: string): string {
  const signals = noticeFeedback(sentence)?.signals ?? []
  return signals
    .map((signal) =>
      'trait' in signal ? `${signal.trait} ${'target' in signal && signal.target > 0 ? '+' : '-'}` : '',
    )
    .sort()
    .join(', ')
}

feedback.run()
