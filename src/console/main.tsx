import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme } from './page/theme.ts'
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
