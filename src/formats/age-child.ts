import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { Decrypter, Encrypter } from 'age-encryption'
import { serveTask } from '../process/process.ts'
import type { AgeTask } from './age-file.ts'

// Runs in a process of its own: see process/run-in-child.ts.
serveTask(async (task: AgeTask): Promise<null> => {
  try {
    const from = Readable.toWeb(createReadStream(task.from)) as ReadableStream<Uint8Array>
    const to = Writable.toWeb(createWriteStream(task.to, { flags: 'wx', mode: 0o600 })) as WritableStream<Uint8Array>
    const result = await (task.action === 'encrypt' ? encrypted(from, task) : decrypted(from, task))
    await result.pipeTo(to)
    return null
  } catch (reason) {
    // Removes a partial file, not one that existed before.
    if ((reason as { code?: string }).code !== 'EEXIST') rmSync(task.to, { force: true })
    throw reason
  }
})

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
