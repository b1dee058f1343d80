import type { Command } from 'commander'
import { type Cli, parseNumber } from '../terminal/cli.ts'
import type { CloneOptions, DesignOptions, SpeakOptions } from './run.ts'

/** `aichat tts`: text in, a WAV file out. */
export function addSpeechCommands(program: Command, cli: Cli): void {
  const tts = withAudioFlags(
    withTextFlags(program.command('tts [text...]'))
      .description('speak a text: the words given, a file, or what is piped in')
      .option('--voice <voice>', 'the voice: a name or alias of `tts voices`, or a path of the model hub')
      .option('--cfg-coef <number>', 'how closely voxb-tts-1.6b follows the voice (2)', parseNumber),
  ).action(async (words: readonly string[], options: SpeakOptions) => {
    const { runSpeak } = await import('./run.ts')
    await runSpeak(cli, words.join(' '), options)
  })

  tts
    .command('voices')
    .description('list the voices of the speech servers')
    .option('--model <server>', 'only those of one server')
    .action(async (_options: object, command: Command) => {
      const { runVoices } = await import('./run.ts')
      await runVoices(cli, flagsOf<{ model?: string }>(command).model)
    })

  tts
    .command('health')
    .description('show how each speech server is and which engine speaks for it')
    .action(async () => {
      const { runHealth } = await import('./run.ts')
      await runHealth(cli)
    })

  withAudioFlags(
    withTextFlags(tts.command('clone [text...]'))
      .description('speak with the voice of a recording')
      .requiredOption('--ref <file>', 'a WAV recording of one person speaking, 3 seconds or longer')
      .option('--ref-text <text>', 'what is said in the recording'),
  ).action(async (words: readonly string[], _options: object, command: Command) => {
    const { runClone } = await import('./run.ts')
    await runClone(cli, words.join(' '), flagsOf<CloneOptions>(command))
  })

  withAudioFlags(
    withTextFlags(tts.command('design [text...]'))
      .description('speak with a voice made from its description')
      .requiredOption('--description <text>', 'such as "a calm old man with a deep voice"'),
  ).action(async (words: readonly string[], _options: object, command: Command) => {
    const { runDesign } = await import('./run.ts')
    await runDesign(cli, words.join(' '), flagsOf<DesignOptions>(command))
  })
}

/** The flags of a command below `tts`; those that `tts` has too are read by it wherever they stand. */
function flagsOf<T extends object>(command: Command): T {
  return { ...command.parent?.opts<object>(), ...command.opts<T>() }
}

function withTextFlags(command: Command): Command {
  return command
    .option('-i, --input <file>', 'read the text from a file, or stdin with -')
    .option('--model <model>', 'the speech server or one of its models')
    .option('--language <language>', 'the language of the text, where it is not to be detected')
    .option('--instruct <text>', 'how to speak, such as "slowly and sadly" (voxa-tts)')
}

function withAudioFlags(command: Command): Command {
  return command
    .option('-o, --output <file>', 'write the WAV file here, whole or not at all')
    .option('--force', 'replace a file that exists')
    .option('--stream', 'write audio as it is made')
    .option('--raw', 'write bare samples (16-bit little-endian, mono) without the WAV header')
    .option('--play', 'play it')
}
