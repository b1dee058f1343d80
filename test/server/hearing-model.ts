import type { DialectId } from '../helpers/program/client-libraries.ts'
import type { Answer } from '../helpers/providers/fake-provider.ts'
import { calling, heard, speaking } from '../helpers/speech/speaking-model.ts'

/**
 * A provider of a dialect with a model that repeats its messages: `heard 3: One | … | Two`, whole or streamed as asked;
 * offered a tool, it calls that first.
 */
export function hearing(api: DialectId = 'openai-chat'): Answer {
  return speaking(api, (request) => {
    const calls = request.tools?.length && request.messages.at(-1)?.role !== 'tool'
    return calls ? calling('weather', { city: 'Bern' }, 'call_1') : { content: heard(request) }
  })
}
