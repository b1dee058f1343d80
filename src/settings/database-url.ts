export interface DatabasePlace {
  /** With its password: for the driver alone. */
  readonly url: string
  /** Without password and parameters, such as `postgres://aichat@db.example:5432/aichat`. */
  readonly name: string
}

/** Reads `postgres://USER:PASSWORD@HOST:PORT/NAME`; returns a sentence for a text that is none, which never repeats it. */
export function parseDatabaseUrl(text: string): DatabasePlace | string {
  if (!/^postgres(?:ql)?:\/\//.test(text))
    return 'must begin with postgres://, as in postgres://USER:PASSWORD@HOST:PORT/NAME'
  if (/\s|%(?![0-9a-f]{2})/i.test(text) || !URL.canParse(text))
    return 'must be postgres://USER:PASSWORD@HOST:PORT/NAME, with each special character of the password as %XX (/ is %2F, # is %23, @ is %40)'
  const { hash, pathname, hostname, searchParams } = new URL(text)
  if (hash !== '') return 'holds a #: write it as %23'
  if (hostname === '' && !searchParams.has('host'))
    return 'must name a host, as in postgres://USER:PASSWORD@HOST:PORT/NAME'
  if (!/^\/[^/]+$/.test(pathname))
    return 'must end with the name of one database, as in postgres://USER:PASSWORD@HOST:PORT/NAME'
  return { url: text, name: databaseName(text) }
}

/** A database as it is shown: its URL without password and parameters. */
export function databaseName(url: string): string {
  const { protocol, username, host, pathname, searchParams } = new URL(url)
  return `${protocol}//${username ? `${username}@` : ''}${host || (searchParams.get('host') ?? '')}${pathname}`
}
