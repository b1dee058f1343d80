import { fileURLToPath } from 'node:url'
import { loadExchanges } from '../../helpers/chat/exchanges.ts'
import { exchangeSuite } from '../exchange-suite.ts'

const folder = fileURLToPath(new URL('./test/fixtures/dialects/', import.meta.resolve('#package')))

exchangeSuite('exchanges written by hand from the wire facts', loadExchanges(folder)).run()
