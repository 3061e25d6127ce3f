// The Markdown of workflows' current details, which the Temporal UI shows.

/** Joins the lines that apply into Markdown paragraphs. */
export function paragraphs(lines: readonly (string | false | null | undefined | 0)[]): string {
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}

/** A link that the Temporal UI shows; the text alone if the URL is none that a browser may open. */
export function markdownLink(text: string, url: string): string {
  if (!/^https?:\/\//.test(url)) return `${escapeMarkdown(text)} ${escapeMarkdown(url)}`;
  const target = url.replace(/[\s()<>\\]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `[${escapeMarkdown(text)}](${target})`;
}

/** Escapes titles and messages from outside, so that the Temporal UI doesn't read them as Markdown. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#+!|]/g, '\\$&').replace(/\s+/g, ' ');
}
