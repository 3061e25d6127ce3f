/** The names of the secrets that occur in a text, as they are or encoded as base64. */
export function findSecrets(text: string, secrets: Readonly<Record<string, string>>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    [secret, ...base64FormsOf(secret)].some((form) => text.includes(form)) ? [name] : [],
  );
}

/** What base64 makes of a secret inside a longer text: it depends on where in a group of three bytes it begins. */
function base64FormsOf(secret: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(' '.repeat(before) + secret).toString('base64');
    const bits = 8 * (before + Buffer.byteLength(secret));
    // Characters at both ends also depend on what is around the secret.
    return encoded.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
  });
}
