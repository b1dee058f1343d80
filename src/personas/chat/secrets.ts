/**
 * Whether a text holds a secret in a form that is known for one: a private key, a token of a known service, a password that is
 * named as such, the number of a payment card, a bank account or a person. The keys of the plugins are known by value, see `Keys.redact`.
 */
export function holdsSecret(text: string): boolean {
  if (patterns.some((pattern) => pattern.test(text)) || holdsCardNumber(text) || holdsIban(text)) return true
  return !network.test(text) && passwords.some((pattern) => pattern.test(text))
}

/** A wireless network: its password is given to guests, and so no secret. */
const network =
  /(?<![\p{L}])(?:wi-?fi|wlan|wireless|guest network|hotspot|вай-?фай|无线|ワイファイ|와이파이)(?![\p{L}])/iu

const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|PuTTY-User-Key-File|AGE-SECRET-KEY-1/,
  // Prefixes that the services document for their tokens: OpenAI, Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, Groq,
  // Hugging Face, npm, PyPI, SendGrid, DigitalOcean, and aichat itself.
  /(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16,}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|gsk_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_[0-9a-f]{40,}|aic_[A-Za-z0-9]{20,})/,
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
  // A social security number of the United States, with its dashes or by its name.
  /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/,
  /(?<!\p{L})(?:ssn|social security)(?!\p{L})[^\n\d]{0,30}\d{3}[ -]?\d{2}[ -]?\d{4}(?!\d)/iu,
  /\bBearer\s+[\w.~+/-]{20}/i,
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]+:[^\s/@]{3,}@/i,
]

const passwords: readonly RegExp[] = [
  // A PIN without a sign or verb: "pincode 4471", "PIN 4471", "4471 is my PIN".
  /(?<!\p{L})(?:pin[ -]?(?:codes?|kode|kodu?|nummer|number)|пин-?код|пін-?код)(?!\p{L})[^\n.\d]{0,30}\d{4,8}(?!\d)/iu,
  /(?<!\p{L})PIN\s?\d{4,8}(?!\d)/u,
  /(?<!\d)\d{4,8} (?:is|ist|est|es|è|é) [^\n.\d]{0,20}(?<!\p{L})pin(?:[ -]?code)?(?!\p{L})/iu,
  /(?:暗証番号|비밀번호|密码|密碼)[^\n.\d]{0,5}\d{4,8}(?!\d)/u,

  // "Password: x", "my PIN is 1234" and the like: the word, a sign or verb, and the secret.
  /(?<![\p{L}])(?:passwords?|passphrase|passwort|kennwort|mot de passe|contraseña|clave|password|parola d['’]ordine|senha|palavra-passe|wachtwoord|hasło|пароль|lösenord|adgangskode|passord|parola|şifre|secret key|api[- ]?key|access token)(?![\p{L}])[^\n.,;:=]{0,30}?(?:\s*[:=：]\s*|\s+(?:is|ist|lautet|est|es|è|é|to|это|är|er)\s+)["'`]?(?=\S{0,100}(?:[\d_]|[^\p{L}\s.,;:!?)'"]\S))[^\s"'`]{4}/iu,
  /(?<![\p{L}])(?:password|passwort|mot de passe|contraseña|senha|wachtwoord|hasło|пароль)\s*[:=]\s*\S{3}/iu,
  /(?:密码|密碼|口令|パスワード|비밀번호)\s*(?:是|为|は|는|은|[:：=])\s*[\x21-\x7e]{4}/u,
  /(?<![\p{L}])(?:pin|pin code|pin-code|geheimzahl|cvv|cvc)(?![\p{L}])[^\n.\d:=]{0,30}(?:[:=]|\s(?:is|ist|lautet|est|es|è|é|to|je|är|er))\s*\d{3,8}(?!\d)/iu,
]

/** A number of 13 to 19 digits with a correct check digit (ISO/IEC 7812-1), in groups or without. */
function holdsCardNumber(text: string): boolean {
  for (const [number] of text.matchAll(/(?<![\d.,])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\d.,]\d|\d)/g)) {
    const digits = number.replace(/\D/g, '')
    if (digits.length >= 13 && digits.length <= 19 && isChecked(digits)) return true
  }
  return false
}

/** An international bank account number, in groups or without: ISO 13616, its check digits by ISO/IEC 7064, MOD 97-10. */
function holdsIban(text: string): boolean {
  for (const { index } of text.matchAll(/(?<![A-Z0-9])[A-Z]{2}\d{2}(?=[ -]?[A-Z0-9])/gi)) {
    let number = ''
    // The longest has 34 characters, in groups of four.
    for (const group of text.slice(index, index + 44).match(/^[A-Z0-9]+|[ -][A-Z0-9]+/gi) ?? []) {
      number += group.replace(/[ -]/, '').toUpperCase()
      if (number.length >= 15 && number.length <= 34 && number.replace(/\D/g, '').length >= 8 && isIban(number))
        return true
    }
  }
  return false
}

function isIban(number: string): boolean {
  const turned = number.slice(4) + number.slice(0, 4)
  let rest = 0
  for (const digit of turned.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55)))
    rest = (rest * 10 + Number(digit)) % 97
  return rest === 1
}

/** Luhn's formula. */
function isChecked(digits: string): boolean {
  let sum = 0
  ;[...digits].reverse().forEach((digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    sum += value > 9 ? value - 9 : value
  })
  return sum % 10 === 0
}
