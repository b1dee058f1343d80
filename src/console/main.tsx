import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme } from './page/theme.ts'
import 'uplot/dist/uPlot.min.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './styles/layout.css'
import './styles/content.css'

applyTheme()
render(<App />, document.getElementById('console')!)
