/** The shapes of the API, derived from the operations: types alone, nothing of the core is in the page. */
import type { listAdaptations, showState } from '../../operations/adaptation.ts'
import type { systemInfo, whoAmI } from '../../operations/auth.ts'
import type { listKeys } from '../../operations/keys.ts'
import type { OutputOf } from '../../operations/operation.ts'
import type { listRequests, showLoad } from '../../operations/requests.ts'
import type { serviceStatus } from '../../operations/service.ts'
import type { showSpeechHealth } from '../../operations/speech.ts'

export type SystemInfo = OutputOf<typeof systemInfo>
export type Me = OutputOf<typeof whoAmI>
export type Key = OutputOf<typeof listKeys>['keys'][number]
export type PersonaState = OutputOf<typeof showState>
export type AdaptationRecord = OutputOf<typeof listAdaptations>['records'][number]
export type FollowedRequest = OutputOf<typeof listRequests>['requests'][number]
export type Load = OutputOf<typeof showLoad>
export type Status = OutputOf<typeof serviceStatus>
export type SpeechServer = OutputOf<typeof showSpeechHealth>['servers'][number]
