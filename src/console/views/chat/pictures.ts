import type { Picture } from './chat-message.ts'

/** Reads a picture of the person's machine: as data for the API, and with an address of this page for showing it. */
export function readPicture(file: File): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () =>
      resolve({ name: file.name, data: String(reader.result), address: URL.createObjectURL(file) }),
    )
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read`)))
    reader.readAsDataURL(file)
  })
}
