import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { Decrypter, Encrypter } from 'age-encryption'
import type { AgeFailure, AgeTask } from './age-file.ts'

// A process of its own, started by age-file.ts: does the one task it is told, says how it went, and ends. It also ends
// when the one that asked is gone.
process.once('message', (task: AgeTask) => void perform(task).then((failure) => process.send?.({ failure }, leave)))
process.once('disconnect', () => process.kill(process.pid))

function leave(): void {
  process.removeAllListeners('disconnect')
  process.disconnect()
}

async function perform(task: AgeTask): Promise<AgeFailure | undefined> {
  try {
    const from = Readable.toWeb(createReadStream(task.from)) as ReadableStream<Uint8Array>
    const to = Writable.toWeb(createWriteStream(task.to, { flags: 'wx', mode: 0o600 })) as WritableStream<Uint8Array>
    const result = await (task.deed === 'encrypt' ? encrypted(from, task) : decrypted(from, task))
    await result.pipeTo(to)
    return undefined
  } catch (reason) {
    // Half a file is nobody's; one that was there before is not ours to remove.
    const code = (reason as { code?: string }).code ?? ''
    if (code !== 'EEXIST') rmSync(task.to, { force: true })
    return { message: String(reason), ...(/^E[A-Z]+$/.test(code) && { code }) }
  }
}

function encrypted(from: ReadableStream<Uint8Array>, task: AgeTask): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter()
  encrypter.setPassphrase(task.passphrase)
  encrypter.setScryptWorkFactor(task.workFactor)
  return encrypter.encrypt(from)
}

function decrypted(from: ReadableStream<Uint8Array>, task: AgeTask): Promise<ReadableStream<Uint8Array>> {
  const decrypter = new Decrypter()
  decrypter.addPassphrase(task.passphrase)
  return decrypter.decrypt(from)
}
