/**
 * Formats that belong to nobody here: JSON with limits and exact numbers (`json/`), JSON Schema, ZIP, CSV, PNG text, age, the text of
 * PDFs and pages (in children), file names, terminal text.
 * Uses: `process` for the children.
 * Begin with: `json/json.ts`; every other file stands alone.
 */
export { decryptFile, encryptFile } from './age-file.ts'
export { boundedRecord } from './bounded-record.ts'
export { counted, waitText } from './counted.ts'
export { csvLine } from './csv.ts'
export { dataUrl, parseDataUrl } from './data-url.ts'
export { displayName } from './display-name.ts'
export { damaged, FileError, unsupported } from './file-error.ts'
export { ageIntro, type FileKind, fileKindOf, formatNameOf } from './file-kind.ts'
export { signatureMismatch } from './file-signature.ts'
export { readSpan, type Span } from './file-span.ts'
export { createFile, type FileWriter } from './file-writer.ts'
export { imageSize } from './image-size.ts'
export { isoTime } from './iso-time.ts'
export { joinInTurns, readBytes } from './join-bytes.ts'
export {
  canonicalize,
  defaultJsonLimits,
  parseStrictJson,
  parseStrictJsonBytes,
  wellFormed,
} from './json/canonical.ts'
export { parseHandWritten, parseJson, parseMetered } from './json/json.ts'
export { createJsonMeter, requestBounds } from './json/meter.ts'
export { fileChunks, itemSpans, jsonItems, memberSpans, textLines } from './json/spans.ts'
export { parseInTurns } from './json/turns.ts'
export { heavyRequest, heavyValue, nextStage, weightOf, writeJson } from './json/writer.ts'
export { mostProblems, openSchemaCheck } from './json-schema.ts'
export { createLineSplitter } from './lines.ts'
export { isUnusablePath, makeFolder, whyNoFolder } from './make-folder.ts'
export { nearestName, suggestion } from './nearest-name.ts'
export { plainPng, readPngTexts, writePngTexts } from './png-text.ts'
export { validate } from './schema-problems.ts'
export { escapedJson, isPrintableLine, printableLine, stripControls } from './terminal-text.ts'
export { charsetOfPage, textOfBytes } from './text-bytes.ts'
export { foreignShape, openZip, unpackedSize, type ZipFile, zipLimits } from './zip.ts'
