import Mustache from 'mustache';
import { wrapText } from '../../../contract/wrap-text.ts';

/** A mail's content without its layout. All texts are plain, never templates or HTML. */
export type MailContent = {
  /** What mail programs show beside the subject. */
  preview: string;
  heading: string;
  lead: string;
  /** The subject's title and page; null if there is none. */
  action: { title: string; url: string; label: string } | null;
  facts: { label: string; value: string; href: string | null }[];
  /** Lines shown verbatim, such as a program's last output. */
  output: readonly string[];
  paragraphs: string[];
  footer: string;
  stop: { label: string; url: string } | null;
};

/**
 * Inline styles, because several mail programs drop style sheets; the sheet only adds dark mode. Nothing is loaded, so
 * opening a mail is not reported to anyone.
 */
const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>{{heading}}</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #15181c !important; color: #e6e8eb !important; }
  .card { background: #1e2329 !important; border-color: #39414b !important; }
  .quiet, .quiet a { color: #a3adb8 !important; }
  .link { color: #8ab8ff !important; }
  .button { background: #2f6fdf !important; }
  .output { background: #14171b !important; }
}
@media (max-width: 480px) {
  .card { padding: 20px !important; }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f4f6;color:#1c2126;">
<div style="display:none;max-height:0;overflow:hidden;">{{preview}}</div>
<div class="page" role="article" aria-label="{{heading}}" lang="en" style="background:#f3f4f6;color:#1c2126;padding:24px 12px;font:16px/1.5 -apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;">
<div class="card" style="max-width:560px;margin:0 auto;padding:28px;background:#ffffff;border:1px solid #dcdfe4;border-radius:8px;">
<h1 style="margin:0 0 8px;font-size:20px;line-height:1.3;font-weight:600;">{{heading}}</h1>
<p style="margin:0 0 20px;">{{lead}}</p>
{{#action}}
<p dir="auto" style="margin:0 0 16px;font-size:18px;line-height:1.35;font-weight:600;overflow-wrap:anywhere;">{{title}}</p>
<p style="margin:0 0 8px;"><a class="button" href="{{url}}" style="display:inline-block;padding:10px 18px;background:#1f5fd0;color:#ffffff;border-radius:6px;font-weight:600;text-decoration:none;">{{label}}</a></p>
<p class="quiet" style="margin:0 0 24px;font-size:13px;color:#5b6570;overflow-wrap:anywhere;"><a href="{{url}}" style="color:#5b6570;">{{url}}</a></p>
{{/action}}
{{#facts}}
<p style="margin:0 0 10px;"><span class="quiet" style="display:block;font-size:13px;color:#5b6570;">{{label}}</span>{{#href}}<a class="link" href="{{href}}" style="color:#1f5fd0;overflow-wrap:anywhere;"><bdi>{{value}}</bdi></a>{{/href}}{{^href}}<bdi style="overflow-wrap:anywhere;">{{value}}</bdi>{{/href}}</p>
{{/facts}}
{{#hasOutput}}
<div class="output" dir="auto" style="margin:16px 0 0;padding:12px;background:#f3f4f6;border-radius:6px;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere;">{{outputText}}</div>
{{/hasOutput}}
{{#paragraphs}}
<p style="margin:16px 0 0;">{{.}}</p>
{{/paragraphs}}
</div>
<div class="quiet" style="max-width:560px;margin:16px auto 0;padding:0 28px;font-size:13px;color:#5b6570;">
<p style="margin:0;">{{footer}}{{#stop}} <a href="{{url}}" style="color:#5b6570;">{{label}}</a>.{{/stop}}</p>
</div>
</div>
</body>
</html>
`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Mustache's own escape also escapes "/" and "=", which isn't needed in quoted attributes and hides URLs from mail
 * filters.
 */
function escapeHtml(text: unknown): string {
  return String(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** The HTML part. Values are escaped. */
export function renderHtml(content: MailContent): string {
  const { output } = content;
  const view = { ...content, hasOutput: output.length > 0, outputText: output.join('\n') };
  return Mustache.render(HTML, view, {}, { escape: escapeHtml });
}

/** The usual width of plain mail, with room for the ">" of replies. */
const TEXT_COLUMNS = 72;

function wrap(text: string, first?: string, rest?: string): string {
  return wrapText(text, TEXT_COLUMNS, first, rest);
}

/** The plain-text part: the same words in the same order. */
export function renderText({ heading, lead, action, facts, output, paragraphs, footer, stop }: MailContent): string {
  const blocks = [
    wrap(heading),
    wrap(lead),
    action && [wrap(action.title, '  '), `  ${action.url}`].join('\n'),
    facts.map(factText).join('\n'),
    output.map((line) => `  ${line}`).join('\n'),
    ...paragraphs.map((paragraph) => wrap(paragraph)),
    ['-- ', wrap(footer), stop && `${stop.label}:\n${stop.url}`].filter(Boolean).join('\n'),
  ];
  return `${blocks.filter(Boolean).join('\n\n')}\n`;
}

function factText({ label, value, href }: MailContent['facts'][number]): string {
  const text = wrap(`${label}: ${value}`, '', '  ');
  return href === null || href === value ? text : `${text}\n  ${href}`;
}
