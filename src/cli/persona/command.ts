import { InvalidArgumentError, Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { parseTime, unless } from '../terminal/parsers.ts'

/** `aichat persona …`: characters with a model, settings and a memory. */
export function addPersonaCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const persona = program
    .command('persona')
    .description('manage personas, their memories and their adaptation')
    .example('aichat persona create --name Ada -m openai:gpt-4.1-mini --memory', 'aichat persona list')

  persona
    .command('list')
    .description('list your personas')
    .example('aichat persona list')
    .action(run((personas) => personas.list))

  persona
    .command('show [id]')
    .description('show a persona, by its id or its name; without one, choose it at a terminal')
    .example('aichat persona show Ada')
    .action(run((personas) => personas.show))

  withSettings(
    persona
      .command('create [name]')
      .description('create a persona')
      .field('--name <name>', 'its name, in place of the argument')
      .field('-m, --model <model>', 'its model, or plugin:model; by default the one that answers `aichat chat`'),
  )
    .example(
      'aichat persona create Ada',
      'aichat persona create --name Ada -m openai:gpt-4.1-mini --prompt "You are a patient tutor." --memory',
    )
    .action(run((personas) => personas.create))

  withSettings(
    persona
      .command('update <id>')
      .description('change the given settings of a persona')
      .field('--name <name>', 'its name')
      .field('-m, --model <model>', 'its model, or plugin:model'),
  )
    .example('aichat persona update Ada --retention-days 365', 'aichat persona update Ada --parameter temperature=0.3')
    .action(run((personas) => personas.update))

  persona
    .command('remove <id...>')
    .alias('rm')
    .description('remove personas and their memories')
    .example('aichat persona remove Ada')
    .action(run((personas) => personas.remove))

  addMemoryCommands(persona, cli)
  addProfileCommands(persona, cli)
  addAdaptationCommands(persona, cli)
  addPackageCommands(persona, cli)
}

function addMemoryCommands(persona: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./memory.ts'))
  const memory = persona
    .command('memory')
    .description('add, list, search, edit and wipe the memories of a persona')
    .example('aichat persona memory search Ada "what frightens my pet?"')

  memory
    .command('add <id> [text...]')
    .description('store a memory: the text, or stdin with -')
    .field('--importance <number>', 'its importance, from 0 to 1', 'importance_score')
    .field('--category <name>', 'its category, by which memories are listed and wiped', 'metadata.category')
    .field('--speaker <name>', 'the person whose words it holds', 'metadata.speaker')
    .field(
      '--conversation <name>',
      'its conversation: memories of one give each other context in search',
      'metadata.conversation',
    )
    .field('--pin', 'keep it when old memories are removed', 'metadata.pinned')
    .field('--timestamp <when>', 'the time it speaks of, such as 2024-05-08T17:30, if not now', 'timestamp', parseTime)
    .field('--valid-from <when>', 'the time from which it holds', 'metadata.valid_from', parseTime)
    .field('--valid-to <when>', 'the time up to which it holds', 'metadata.valid_to', parseTime)
    .fields({ content: 'TEXT' })
    .example(
      'aichat persona memory add Ada "My cat is afraid of thunder"',
      'aichat persona memory add Ada - --category work < notes.txt',
    )
    .action(run((memories) => memories.add))

  memory
    .command('show <id> <memory>')
    .description('show a memory, by its id or the beginning of it')
    .example('aichat persona memory show Ada 6f9a2c1e')
    .action(run((memories) => memories.show))

  memory
    .command('edit <id> <memory>')
    .description('change the given fields of a memory; without any, edit its text in $VISUAL or $EDITOR')
    .field('--content <text>', 'its text, or - to read stdin')
    .field('--importance <number>', 'its importance, from 0 to 1', 'importance_score')
    .field('--category <name>', 'its category; "" for none', 'metadata.category', unless(''))
    .field('--speaker <name>', 'the person whose words it holds; "" for none', 'metadata.speaker', unless(''))
    .field('--conversation <name>', 'its conversation; "" for none', 'metadata.conversation', unless(''))
    .field('--timestamp <when>', 'the time it speaks of, such as 2024-05-08T17:30', 'timestamp', parseTime)
    .field(
      '--valid-from <when>',
      'the time from which it holds; "" for none',
      'metadata.valid_from',
      unless('', parseTime),
    )
    .field(
      '--valid-to <when>',
      'the time up to which it holds; "" for none',
      'metadata.valid_to',
      unless('', parseTime),
    )
    .example(
      'aichat persona memory edit Ada 6f9a2c1e --content "My cat is afraid of fireworks"',
      'aichat persona memory edit Ada 6f9a2c1e --category pets --importance 0.9',
    )
    .action(run((memories) => memories.edit))

  memory
    .command('pin <id> <memory...>')
    .description('keep memories when old ones are removed')
    .example('aichat persona memory pin Ada 6f9a2c1e')
    .action(run((memories) => memories.pin))

  memory
    .command('unpin <id> <memory...>')
    .description('let memories go when old ones are removed')
    .example('aichat persona memory unpin Ada 6f9a2c1e')
    .action(run((memories) => memories.unpin))

  memory
    .command('remove <id> <memory...>')
    .alias('rm')
    .description('delete memories for good')
    .example('aichat persona memory remove Ada 6f9a2c1e')
    .action(run((memories) => memories.remove))

  withFilter(memory.command('list <id>').description('list memories, newest first'))
    .fieldOption(new Option('-n, --limit <count>', 'list at most this many').default(20))
    .fieldOption(new Option('--offset <count>', 'skip this many').default(0))
    .example('aichat persona memory list Ada -n 50', 'aichat persona memory list Ada --speaker Ada --after 7d')
    .action(run((memories) => memories.list))

  withFilter(memory.command('search <id> <query...>').description('find memories by words and by meaning'))
    .fieldOption(new Option('-n, --limit <count>', 'list at most this many').default(10))
    .field('--min-score <number>', 'only memories with at least this score')
    .field('--as-of <when>', 'search what was said up to this time and held then, such as 2026-03-01 or "last year"')
    .example(
      'aichat persona memory search Ada "what frightens my pet?" -n 3',
      'aichat persona memory search Ada "what did I plant in March?"',
      'aichat persona memory search Ada "where do I work?" --as-of 2025-06-30',
      'aichat persona memory search Ada tea --category drinks --after 2024-05-01 --before 2024-06-01',
    )
    .action(run((memories) => memories.search))

  memory
    .command('evictions <id>')
    .description('list the memories that made room for others, and why they went first')
    .fieldOption(new Option('-n, --limit <count>', 'list at most this many').default(20))
    .example('aichat persona memory evictions Ada')
    .action(run((memories) => memories.evictions))

  memory
    .command('forget <id> <wish...>')
    .description('delete for good what your words mean, memories and lines of the profile, after naming them')
    .example(
      'aichat persona memory forget Ada "my birthday"',
      'aichat persona memory forget Ada "what I said about Anna" --yes',
    )
    .action(run((memories) => memories.forget))

  memory
    .command('wipe <id>')
    .description('delete memories for good: all of them, or some categories')
    .option('--category <name...>', 'only these categories; "" for memories without one')
    .option('--before <date>', 'only memories older than this, such as 2026-01-31', parseTime)
    .example('aichat persona memory wipe Ada --category work', 'aichat persona memory wipe Ada --before 2026-01-31')
    .action(run((memories) => memories.wipe))
}

/** `aichat persona profile …`: what always holds for the user of a persona. */
function addProfileCommands(persona: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./profile.ts'))
  const slots = ['address', 'language', 'manner', 'allergy', 'diet', 'faith', 'health', 'people', 'note']
  const profile = persona
    .command('profile')
    .description('show and change what a persona always has in view of you: name, manner of answers, limits, family')
    .example('aichat persona profile show Ada', 'aichat persona profile add Ada "I am allergic to nuts"')

  profile
    .command('show [id]', { isDefault: true })
    .description('list the lines of the profile, also without the word `show`')
    .field('--history', 'with the lines whose place others took')
    .example('aichat persona profile show Ada --history')
    .action(run((lines) => lines.show))

  profile
    .command('add <id> <text...>')
    .description('add a line; it takes the place of an earlier one on the same subject')
    .fieldOption(new Option('--slot <slot>', 'its subject; without it told by its words').choices(slots))
    .fields({ text: 'TEXT' })
    .example('aichat persona profile add Ada "Call me Jo"')
    .action(run((lines) => lines.add))

  profile
    .command('edit <id> <line> [text...]')
    .description('change a line, by its id or the beginning of it; the earlier text goes to the history')
    .fieldOption(new Option('--slot <slot>', 'its subject').choices(slots))
    .fields({ text: 'TEXT' })
    .example('aichat persona profile edit Ada 6f9a2c1e "Call me Jo Ann"')
    .action(run((lines) => lines.edit))

  profile
    .command('remove <id> <line...>')
    .alias('rm')
    .description('delete lines for good')
    .example('aichat persona profile remove Ada 6f9a2c1e')
    .action(run((lines) => lines.remove))
}

/** The conditions of a list or search of memories. */
function withFilter(command: CliCommand): CliCommand {
  return command
    .field('--category <name>', 'only memories of this category; "" for those without one')
    .field('--speaker <name>', 'only what this person said; "" for memories without a speaker')
    .field('--conversation <name>', 'only memories of this conversation; "" for those without one')
    .field(
      '--after <when>',
      'only memories from this time on, such as 2026-01-31, 7d for the last seven days, or "last week" in your language',
    )
    .field('--before <when>', 'only memories before this time')
    .field('--pinned', 'only pinned memories')
}

function addAdaptationCommands(persona: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./adaptation.ts'))

  persona
    .command('state <id>')
    .description('show the learned state of a persona, or with --log its adaptation records')
    .option('--log', 'list the records instead, newest first')
    .fieldOption(new Option('-n, --limit <count>', 'list at most this many records').default(20))
    .example('aichat persona state Ada', 'aichat persona state Ada --log -n 5')
    .action(run((adaptations) => adaptations.state))

  persona
    .command('adapt <id>')
    .description('adapt a persona, or answer its proposal')
    .requiredField(
      '--type <type>',
      'the adaptation: weight_adjusted, preference_set, trait_pinned, state_reset, … (required)',
      'adaptation_type',
    )
    .requiredField(
      '--trigger <event>',
      'its reason: explicit_instruction, feedback_positive, … (required)',
      'trigger_event',
    )
    .requiredOption(
      '--changes <json>',
      '[{"trait":…,"target":-1…1}], [{"preference":…,"value":…}], or - for stdin (required)',
    )
    .field('--key <key>', 'an idempotency key: the same key twice makes one record', 'idempotency_key')
    .example(
      'aichat persona adapt Ada --type weight_adjusted --trigger explicit_instruction --changes \'[{"trait":"verbosity","target":-0.5}]\'',
    )
    .action(run((adaptations) => adaptations.adapt))

  persona
    .command('undo <id> <record>')
    .description('undo one adaptation record; later ones stay')
    .example('aichat persona undo Ada 6f9a2c1e-8a52-4d5f-9a44-0f6f8e1b7c3d')
    .action(run((adaptations) => adaptations.undo))
}

/** `aichat persona backup|restore|export|import|verify`: packages of whole personas. */
function addPackageCommands(persona: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./package.ts'))

  persona
    .command('backup <id>')
    .description('back up a persona, or list its backups')
    .option('--list', 'list the backups, newest first')
    .example('aichat persona backup Ada', 'aichat persona backup Ada --list')
    .action(run((packages) => packages.backup))

  persona
    .command('restore <id> [backup]')
    .description('restore a persona from a backup, or the newest; its current state is backed up first')
    .example('aichat persona restore Ada')
    .action(run((packages) => packages.restore))

  persona
    .command('export <id>')
    .description('write a persona as a package, as a character card, or its memories as JSON lines')
    .option('-o, --output <file>', 'write to a file; a card to a .png becomes an image')
    .addOption(
      new Option(
        '--format <format>',
        'the file format; container is the smaller one for large personas, jsonl its memories',
      )
        .choices(['json', 'container', 'card', 'jsonl'])
        .default('json'),
    )
    .option('--encrypt', 'encrypt it with a passphrase, to be decrypted by `age -d` too')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .field('--no-embeddings', 'leave out the vectors', 'include_embeddings')
    .option('--force', 'replace the file')
    .example('aichat persona export Ada -o ada.json', 'aichat persona export Ada --format card -o ada.png')
    .action(run((packages) => packages.exportPackage))

  persona
    .command('import <file>')
    .description(
      "import a package, a character card, a Letta agent file, an export of ChatGPT's or Claude's conversations, or memories as JSON lines, from a file or stdin with -",
    )
    .fieldOption(
      new Option(
        '--mode <mode>',
        'create a persona, or merge into or replace one (default: merge with --into)',
      ).choices(['create', 'merge', 'replace']),
    )
    .field('--into <id>', 'the persona to merge into or to replace', 'persona')
    .field('-m, --model <model>', 'the chat model of a new persona whose file names none')
    .field('--name <name>', 'the name of a new persona; not for packages')
    .field('--after <time>', 'leave out older conversations and memories; not for packages', 'after', parseTime)
    .field('--with-answers', "take the assistant's answers of exported conversations, too")
    .field('--dry-run', 'show the changes, and write nothing')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .example(
      'aichat persona import ada.json --dry-run',
      'aichat persona import ada.json --mode merge --into Ada',
      'aichat persona import chatgpt.zip --into Ada --after 2024-01-01',
    )
    .action(run((packages) => packages.importPackage))

  persona
    .command('verify <source>')
    .description('check a package in a file or from stdin (-), or the stored persona of that id')
    .option('--passphrase-stdin', 'read the passphrase from stdin')
    .example('aichat persona verify ada.json', 'aichat persona verify Ada')
    .action(lazyActions(cli, () => import('./verify.ts'))((packages) => packages.verify))
}

function withSettings(command: CliCommand): CliCommand {
  return command
    .field('--description <text>', 'its description')
    .field('--prompt <text>', 'its system prompt', 'system_prompt')
    .field('--embedding-model <model>', 'the model for memory search; see: aichat models embeddings')
    .field(
      '--parameter <name=value>',
      'a request field, such as temperature=0.3 (repeatable)',
      'parameters',
      parseParameter,
    )
    .field('--memory', 'remember conversations', 'memory_settings.enabled')
    .option('--no-memory', 'neither read nor store memories in chats')
    .field('--max-memories <count>', 'the largest number of memories', 'memory_settings.max_memories')
    .field('--retention-days <days>', 'how many days a memory is kept', 'memory_settings.retention_days')
    .field(
      '--memory-floor <score>',
      'the least score, 0 to 1, with which a memory enters a chat',
      'memory_settings.min_score',
    )
    .fieldOption(
      new Option(
        '--memory-placement <place>',
        'where memories stand in a chat: before the newest message, so that the history before it can be cached, or behind the system prompt',
      ).choices(['end', 'system']),
      'memory_settings.placement',
    )
    .field(
      '--profile-tokens <count>',
      'the most tokens of its profile in a chat; 0 leaves it out',
      'memory_settings.profile_tokens',
    )
    .fieldOption(
      new Option(
        '--forget <rule>',
        'what "forget my birthday" in a chat does: name what it means, or remove it',
      ).choices(['ask', 'at_once']),
      'memory_settings.forget',
    )
    .fieldOption(
      new Option(
        '--extract <rule>',
        'have its model find facts in chats and remember them, a short request for each remembered turn',
      ).choices(['off', 'auto']),
      'memory_settings.extract',
    )
    .field(
      '--extract-confidence <number>',
      'the least confidence, 0 to 1, of facts that --extract auto keeps',
      'memory_settings.extract_min_confidence',
    )
    .field('--auto-cleanup', 'remove memories beyond these limits', 'memory_settings.auto_cleanup')
    .option('--no-auto-cleanup', 'keep old memories, and refuse new ones beyond the limit')
    .addOption(
      new Option('--mutation <sensitivity>', 'the speed of adaptation').choices(['low', 'medium', 'high', 'off']),
    )
    .field('--auto-adapt', 'adapt in chats', 'mutation_settings.auto_adapt')
    .option('--no-auto-adapt', 'adapt only by command')
    .field(
      '--mcp <server>',
      'a server whose tools it may call, see aichat mcp; "" for none (repeatable)',
      'mcp_servers',
      parseServer,
    )
    .fields({ mutation_settings: '--mutation' })
}

/** Collects the names of servers; an empty one stands for none. */
function parseServer(name: string, before: readonly string[] = []): readonly string[] {
  return name === '' ? before : [...before, name]
}

/** Collects `name=value`; a value that parses as JSON is that value, any other is text. */
function parseParameter(text: string, before: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('Use name=value')
  const name = text.slice(0, at)
  const raw = text.slice(at + 1)
  try {
    return { ...before, [name]: JSON.parse(raw) }
  } catch {
    return { ...before, [name]: raw }
  }
}
