import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** The datagram socket of a supervisor, as systemd has it: a small Python program, since Node has no such sockets. */
export interface NotifyReceiver {
  readonly path: string
  /** The messages so far, each as its fields. */
  readonly messages: readonly Readonly<Record<string, string>>[]
  /** Resolves with the next message, from the first one on, that has this field. */
  next(field: string): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}

/** Prints each datagram as a line of JSON and closes the descriptors received with it: BARRIER=1 waits for that. */
const program = `
import array, json, os, socket, sys
place = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
place.bind(sys.argv[1])
print(json.dumps("bound"), flush=True)
while True:
    data, control, flags, _ = place.recvmsg(65536, socket.CMSG_SPACE(64))
    for level, kind, content in control:
        for fd in array.array("i", content[: len(content) - len(content) % 4]):
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS: os.close(fd)
    print(json.dumps(data.decode()), flush=True)
`

export async function openNotifyReceiver(path: string): Promise<NotifyReceiver> {
  const child: ChildProcess = spawn('python3', ['-c', program, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const messages: Record<string, string>[] = []
  let told = () => {}
  let seen = 0
  const lines = createInterface(child.stdout!)
  const bound = once(lines, 'line')
  await bound
  lines.on('line', (line) => {
    const text = JSON.parse(line) as string
    messages.push(
      Object.fromEntries(
        text.split('\n').map((field) => [field.split('=', 1)[0]!, field.slice(field.indexOf('=') + 1)]),
      ),
    )
    told()
  })
  return {
    path,
    messages,
    async next(field) {
      for (;;) {
        for (; seen < messages.length; seen++) if (field in messages[seen]!) return messages[seen++]!
        await new Promise<void>((resolve) => {
          told = resolve
        })
      }
    },
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
