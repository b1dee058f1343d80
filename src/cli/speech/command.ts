import type { Command } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat tts`: text in, a WAV file out. */
export function addSpeechCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const tts = withAudioOptions(
    withTextOptions(program.command('tts [text...]'))
      .description('read text aloud: the words given, a file, or piped input')
      .field('--voice <voice>', 'the voice: a name or alias of `tts voices`, or a path on the model hub')
      .field(
        '--speakers <voices>',
        'voices of a script, such as alba,marius: [S1] and [S2] begin their turns',
        'speakers',
        (text) => text.split(','),
      )
      .field('--cfg-coef <number>', 'how closely voxb-tts-1.6b follows the voice (2)')
      .option('--say', 'print the words that would be spoken'),
  )
    .example(
      'aichat tts "Hello. I can speak." -o hello.wav',
      'echo "Hello." | aichat tts | aplay',
      'aichat tts -i chapter.txt -o chapter.mp3 --voice javert',
      'aichat tts "It rose 3.2% in the 1990s." --say',
    )
    .action(run((speech) => speech.speak))

  tts
    .command('voices')
    .description('list the voices of the speech servers')
    .field('--model <server>', 'only the voices of this server')
    .example('aichat tts voices', 'aichat tts voices --model voxb-tts')
    .action((_options: object, command: Command) => run((speech) => speech.voices)(optionsOf(command)))

  tts
    .command('health')
    .description('show the state and the engine of each speech server')
    .example('aichat tts health')
    .action(run((speech) => speech.health))

  withAudioOptions(
    withTextOptions(tts.command('clone [text...]'))
      .description('speak with the voice of a recording')
      .requiredOption('--ref <file>', 'a WAV recording of one person speaking, 3 seconds or longer (required)')
      .field('--ref-text <text>', 'the words of the recording', 'reference_text'),
  )
    .example('aichat tts clone "Good evening." --ref me.wav -o evening.wav')
    .action((words: readonly string[], _options: object, command: Command) =>
      run((speech) => speech.clone)(words, optionsOf(command)),
    )

  withAudioOptions(
    withTextOptions(tts.command('design [text...]'))
      .description('speak with a voice made from its description')
      .requiredField(
        '--description <text>',
        'the description of the voice, such as "a calm old man with a deep voice" (required)',
        'voice_description',
      ),
  )
    .example('aichat tts design "Good evening." --description "a calm old man with a deep voice" -o evening.wav')
    .action((words: readonly string[], _options: object, command: Command) =>
      run((speech) => speech.design)(words, optionsOf(command)),
    )
}

/** The options of a command below `tts`; commander gives `tts` itself those that both declare. */
function optionsOf<T extends object>(command: Command): T {
  return { ...command.parent?.opts<object>(), ...command.opts<T>() }
}

function withTextOptions(command: CliCommand): CliCommand {
  return command
    .option('-i, --input <file>', 'read the text from a file, or stdin with -')
    .field('--model <model>', 'the speech server or one of its models')
    .field('--language <language>', 'the language of the text; detected by default')
    .field('--instruct <text>', 'how to speak, such as "slowly and sadly" (voxa-tts)')
    .field('--speed <number>', 'how fast, at the same pitch: 0.25 to 4 (1)')
    .field('--keep-directions', 'read stage directions such as (laughs) aloud')
    .field('--seed <number>', 'an equal number and text sound equal, where a model chooses at random')
    .fields({ input: 'TEXT' })
}

function withAudioOptions(command: CliCommand): CliCommand {
  return command
    .option(
      '-o, --output <file>',
      'write this file: .mp3, .opus, .ogg, .flac, else WAV; complete or not at all, and a long text can go on after a break',
    )
    .option('--force', 'replace the file')
    .option('--stream', 'write audio as it is made')
    .option('--raw', 'write samples (16-bit little-endian, mono) without the WAV header')
    .option('--play', 'play it')
}
