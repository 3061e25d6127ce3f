/** Titles and messages come from outside: the Temporal UI is to show them, not to read them as Markdown. */
export function asText(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+!|]/g, '\\$&').replace(/\s+/g, ' ');
}
