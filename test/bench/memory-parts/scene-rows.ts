import type { Row } from './aims.ts'
import { openClock, openCompanions } from './companion-daemon.ts'
import { judge, live, readScenes, type Scene } from './scenes.ts'

type Judgement = ReturnType<typeof judge> & { readonly scene: Scene }

/** Plays each scene with a persona of its own, among trivial lines. */
async function play(name: string): Promise<readonly Judgement[]> {
  using clock = openClock()
  await using companions = await openCompanions()
  const judged: Judgement[] = []
  for (const scene of readScenes<{ scenes: readonly Scene[] }>(name).scenes) {
    const companion = await companions.companion()
    await live(companion, clock, scene)
    const { prompt } = await companion.say(scene.ask)
    judged.push({ ...judge(prompt, scene), scene })
  }
  return judged
}

function missedOf(judged: readonly Judgement[], isRight: (judgement: Judgement) => boolean): string[] {
  return judged
    .filter((judgement) => !isRight(judgement))
    .map(({ scene, isIn }) => `${isIn ? 'behind another' : 'not in'}: ${scene.id}, ${scene.ask}`)
}

/** Facts that hold for every answer, and questions that share no word with them. */
export async function standingRow(): Promise<Row> {
  const judged = await play('standing')
  return {
    what: `standing facts present where they matter (${judged.length} scenes)`,
    figure: `${judged.filter(({ isIn }) => isIn).length}`,
    aim: '≥ 18',
    missed: missedOf(judged, ({ isIn }) => isIn),
  }
}

/** Statements that a later one ends or changes. */
export async function changesRow(name: string, words: string, aim: string): Promise<Row> {
  const judged = await play(name)
  const alone = judged.filter(({ isAlone }) => isAlone).length
  return {
    what: `present fact before or in place of the outdated one (${judged.length} changes, ${words})`,
    figure: `${judged.filter(({ isFirst }) => isFirst).length} (in its place: ${alone})`,
    aim,
    missed: missedOf(judged, ({ isFirst }) => isFirst),
  }
}

/** One of several like events, told by its time. */
export async function timesRow(): Promise<Row> {
  const judged = await play('times')
  const alone = judged.filter(({ isAlone }) => isAlone).length
  return {
    what: `times beside other words (${judged.length})`,
    figure: `${judged.filter(({ isFirst }) => isFirst).length} first (alone: ${alone})`,
    aim: '≥ 15',
    missed: missedOf(judged, ({ isFirst }) => isFirst),
  }
}

/** What was said of a name, asked by kinship, or the other way round. */
export async function kinRow(): Promise<Row> {
  const judged = await play('kin')
  return {
    what: `kin and names (${judged.length})`,
    figure: `${judged.filter(({ isFirst }) => isFirst).length}`,
    aim: '≥ 3',
    missed: missedOf(judged, ({ isFirst }) => isFirst),
  }
}
