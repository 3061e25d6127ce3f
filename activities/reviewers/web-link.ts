/** The URL if it is http(s); null otherwise, so that callers show it as text or not at all. */
export function webLink(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}
