import type { Row } from './aims.ts'
import { openClock, openCompanions } from './companion-daemon.ts'
import { live, readScenes, type Scene } from './scenes.ts'

interface Forgetting extends Pick<Scene, 'id' | 'language' | 'said' | 'ask'> {
  /** Words of the memories that are to be gone, and of no others; none where the turn asks to forget nothing. */
  readonly gone: readonly string[]
}

/** Requests to forget, and turns that only speak of forgetting. The client says yes to what is named, by removing it. */
export async function forgettingRow(): Promise<Row> {
  using clock = openClock()
  await using companions = await openCompanions()
  const { scenes } = readScenes<{ scenes: readonly Forgetting[] }>('forgetting')
  const judged: { readonly scene: Forgetting; readonly faults: readonly string[] }[] = []
  for (const scene of scenes) {
    const companion = await companions.companion()
    await live(companion, clock, scene)
    const contents = async () => (await companion.memories()).map(({ content }) => content)
    const before = await contents()
    const { forget } = await companion.say(scene.ask)
    for (const id of forget ?? []) await companion.remove(id)
    const after = await contents()
    const isMeant = (content: string) => scene.gone.some((words) => content.includes(words))
    const asks = scene.gone.length > 0
    judged.push({
      scene,
      faults: [
        ...(asks !== (forget !== undefined) ? [`taken for ${forget ? 'a' : 'no'} request to forget`] : []),
        ...(asks && after.includes(scene.ask) ? ['the turn is stored'] : []),
        ...(asks && !before.some(isMeant) ? ['there was nothing to forget'] : []),
        ...after.filter(isMeant).map((content) => `still there: ${content}`),
        ...before
          .filter((content) => !isMeant(content) && !after.includes(content))
          .map((content) => `gone: ${content}`),
      ],
    })
  }
  const asking = judged.filter(({ scene }) => scene.gone.length > 0)
  const others = judged.filter(({ scene }) => scene.gone.length === 0)
  const right = (some: typeof judged) => some.filter(({ faults }) => faults.length === 0).length
  return {
    what: `forgetting in words (${asking.length}), and turns that must forget nothing (${others.length})`,
    figure: `${right(asking)}, ${right(others)}`,
    aim: 'all',
    missed: judged
      .filter(({ faults }) => faults.length > 0)
      .map(({ scene, faults }) => `${scene.id}, ${scene.ask} → ${faults.join('; ')}`),
  }
}
