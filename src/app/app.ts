/**
 * The composition root: connects each area to the edge it needs, and hands every face one value, the `App`.
 * Uses: the areas and the edge. Each area has a file here that opens it on first use.
 * Begin with: `compose.ts`, then the file named after the area.
 */
export { installationSecrets } from './accounts.ts'
export { backupPassphrase } from './backups.ts'
export { type App, composeApp, openApp } from './compose.ts'
export { type Crew, type WorkerState, workerState } from './crew.ts'
export { type CheckControl, checkDatabase } from './database.ts'
export { databaseState, instanceName } from './instance.ts'
export { type Logins, openLogins, type SavedLogin, type TokenStorage } from './logins.ts'
export { packageFolder } from './package-folder.ts'
export { createReloader, type Reloaded } from './reload.ts'
export { openServiceRecord, runningServices, type ServiceRecord, serviceRecord } from './service-record.ts'
export { getSetting, listSettings, setSetting, settingNotes, settingsPaths, unsetSetting } from './settings-file.ts'
export { speechPlaces } from './speech-places.ts'
export { openStoredKeys, type StoredKeys } from './stored-keys.ts'
export { isElsewhere, openToolServers, type ToolServers } from './tool-servers.ts'
