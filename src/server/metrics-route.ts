import { AppError } from '../errors.ts'
import { hostRange } from '../http/http.ts'
import type { Identify } from './identity.ts'
import type { Metrics } from './metrics.ts'
import type { Route } from './routes.ts'

/** For administrators, and for a collector on this machine without a proxy or token, unless there are no logins. */
export function metricsRoute(metrics: Metrics, identify?: Identify): Route {
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (context) => {
      const { request, response } = context
      const direct = request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined
      if (!direct || hostRange(request.socket.remoteAddress ?? '') !== 'loopback') {
        if (!identify)
          throw new AppError('forbidden', 'Metrics are read on the machine that serves', {
            details: ['Administrators read them from elsewhere at the API, with a token'],
          })
        await identify(context, { access: 'admin' })
      }
      const { type, body } = await metrics.text()
      response.setHeader('content-type', type)
      response.end(body)
    },
  }
}
