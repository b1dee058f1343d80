/**
 * Whether a text is code, a configuration, a command or an error message that was pasted: most of its lines are, or its only
 * line is beyond doubt.
 */
export function isPastedCode(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return false
  if (errorMessage.test(text)) return true
  const code = lines.filter(isCodeLine).length
  if (lines.length === 1) return strongLines.some((pattern) => pattern.test(lines[0]!.trim()))
  if (isConfiguration(lines)) return true
  return code * 2 >= lines.length && lines.some((line) => strongLines.some((pattern) => pattern.test(line.trim())))
}

/** The name of an exception with its message, or the trace of a stack. */
const errorMessage =
  /(?:^|[\s"'`(])(?:[A-Z]\w*(?:Error|Exception)|Traceback \(most recent call last\)|panic|error\[E\d+\]|npm ERR!|segmentation fault|fatal error): ?\S|Traceback \(most recent call last\)|^\s+at \S+ \(?\S+:\d+:\d+\)?$/m

function isCodeLine(line: string): boolean {
  const text = line.trim()
  return (
    strongLines.some((pattern) => pattern.test(text)) ||
    /[;{}]$|^[})\]]+[,;]?$|=>|^\s*(?:\/\/|\/\*|\*\s|#\s?\w|--\s)|^\S+\s?[-+*/]?=\s?\S/.test(text) ||
    /^(?:for|while|if|elif|else|with|try|except)\b.*:$|^\w+(?:\.\w+)*\([^()]*\)$/.test(text) ||
    (/^\s{2,}/.test(line) &&
      /^(?:return|if|else|for|while|try|except|catch|elif|case|end|self\.|this\.|"""|@)/.test(text))
  )
}

/** Lines that prose does not have. */
const strongLines: readonly RegExp[] = [
  /^```/,
  /^(?:async )?def \w+\([^)\n]*\).*:$/,
  /^(?:export |public |private |static |async |protected |final )*(?:function|class|interface|struct|enum|fn|func|void|int|string|bool|double)\b[^.!?]*[({:]/,
  /^(?:const|let|var|val|auto) [\w{}[\], ]+(?::\s?[\w<>[\]]+)?\s?=\s?\S/,
  /^(?:import [\w.*{}, ]+(?: from ['"].*)?;?|from [\w.]+ import .+|#include\s?[<"].*|using [\w.]+;|package [\w.]+;|require\(.*\);?)$/,
  /^(?:select|insert\s+into|delete\s+from|create\s+(?:table|index|view|database)|alter\s+table|drop\s+table|update\s+\w+\s+set)\b[\s\S]*(?:\bfrom\b|\bvalues\b|\bset\b|\bwhere\b|\(|;)[\s\S]*;?$/i,
  /^(?:\$ |# |> )?(?:sudo )?(?:git|docker|docker-compose|npm|npx|yarn|pnpm|curl|wget|ssh|scp|rsync|kubectl|helm|pip3?|apt|apt-get|brew|dnf|yum|pacman|systemctl|journalctl|chmod|chown|grep|sed|awk|tar|cargo|rustc|gcc|go|python3?|node|psql|mysql|sqlite3|aws|gcloud|az|terraform|ansible|ffmpeg|make|cmake|ls|cd|cat|rm|cp|mv|mkdir|echo|export)\s+(?:[\w-]+\s+){0,3}(?:-{1,2}[A-Za-z][\w-]*|[~./]\S*\/\S*|"[^"]*"|\w+\/\w[\w./:-]*|\S+\s[|>&]{1,2})/,
  /^(?:[\d*/,-]+\s+){4}[\d*/,a-zA-Z-]+\s+\S*\/\S+/,
  /^<(?:!doctype|\/?[a-z][\w-]*(?:\s[^<>]*)?\/?)>.*/i,
  /^[{[]\s*"[^"]*"\s*:/,
  /^"[\w$-]+"\s*:\s*(?:["[{\d-]|true|false|null)/,
  /^\w+(?:\.\w+)*\([^()]*\)(?:\.\w+\([^()]*\))*;$/,
  /^(?:if|for|while|switch)\s?\(.*\)\s?\{?$/,
  /^#!\//,
  /^@@ -\d+,\d+ \+\d+,\d+ @@|^diff --git /,
]

/** YAML, an INI or ssh configuration: an indented block of keys, or lines of `key = value`. A list of items is none. */
function isConfiguration(lines: readonly string[]): boolean {
  const rest = lines.slice(1)
  const indented = rest.filter((line) => /^(?:\s{2,}|\t)(?:- )?[\w."-]+(?::(?:\s|$)|\s+\S+$)/.test(line))
  const isHeaded = /^[\w.-]+:$|^[\w.-]+ [\w.*-]+$|^\[[\w. -]+\]$/.test(lines[0]!.trim())
  if (isHeaded && rest.length > 0 && indented.length === rest.length) return true
  const assigned = lines.filter(
    (line) => /^\s*(?:export )?[\w.-]+\s?=\s?\S*/.test(line) || /^\[[\w. -]+\]$/.test(line.trim()),
  )
  return assigned.length === lines.length
}
