import { loadExchanges } from '../helpers/chat/exchanges.ts'
import { testData } from '../helpers/data.ts'
import { exchangeSuite } from './exchange-suite.ts'

const folder = testData('cassettes')

exchangeSuite('recorded traffic of the providers', folder === undefined ? undefined : loadExchanges(folder)).run()
