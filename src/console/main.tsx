/**
 * The web console, a page of Preact: `views/` over `components/` over `page/` (route, session, formats) over `wire/` (the API).
 * Uses: the HTTP API; of the core it imports types alone. `bin/bundle.mjs` bundles it, `server/console-*.ts` serve it.
 * Begin with: `app.tsx`, `shell/views.tsx`, `wire/`.
 */
import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme } from './page/theme.ts'
import '@fontsource-variable/geist'
import '@fontsource-variable/geist-mono'
import 'uplot/dist/uPlot.min.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/tables.css'
import './styles/plots.css'
import './styles/memories.css'
import './styles/chat.css'
import './styles/markdown.css'
import './styles/documents.css'

applyTheme()
render(<App />, document.getElementById('console')!)
