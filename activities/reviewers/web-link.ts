/** The address, if a browser opens it as a page; null for anything else, which is shown as text or not at all. */
export function webLink(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}
