import { firstLine } from '../../first-line.ts';
import { plainText } from './run-log.ts';

const TITLE_CHARACTERS = 72;
/** Forges take about 65,000 characters. */
const PROMPTS_CHARACTERS = 40_000;
const UNTITLED = 'Change by an agent';

/**
 * Prevents mentions and references: an invisible space breaks `@name` and `#12`, which would make forges notify people
 * and close issues.
 */
function quietened(text: string): string {
  return text.replaceAll(/@(?=[\p{L}\p{N}_-])/gu, '@\u200b').replaceAll(/#(?=\d)/g, '#\u200b');
}

/** The pull request's title and the commit's first line: the prompt's first line, shortened and without mentions. */
export function titleOf(prompt: string): string {
  const line = firstLine(plainText(Buffer.from(prompt).toString()), TITLE_CHARACTERS);
  return line === '' ? UNTITLED : quietened(line);
}

/** The trailer that marks a commit as the job's. */
export function commitMessage({ prompt, jobId }: { prompt: string; jobId: string }): string {
  return `${titleOf(prompt)}\n\nGalley-Job: ${jobId}\n`;
}

type PullRequestOrigin = { jobId: string; model: string; prompts: readonly string[] };

/**
 * A pull request's description: the prompts verbatim in code blocks, where forges ignore markup, mentions and
 * references, and which a prompt can't close.
 */
export function descriptionOf({ jobId, model, prompts }: PullRequestOrigin): string {
  const share = Math.floor(PROMPTS_CHARACTERS / Math.max(1, prompts.length));
  const quotes = prompts.map((prompt, index) => {
    const heading = index === 0 ? 'An agent made this change on request:' : 'Then it was asked:';
    return `${heading}\n\n${quoted(prompt, share)}`;
  });
  return [...quotes, `Job \`${jobId}\`, by \`${plainText(model).replaceAll(/[`\n]/g, ' ')}\`.`].join('\n\n');
}

function quoted(prompt: string, maxCharacters: number): string {
  const text = quietened(plainText(Buffer.from(prompt).toString()));
  const characters = [...text];
  const left = characters.length - maxCharacters;
  const shown = left <= 0 ? text : `${characters.slice(0, maxCharacters).join('')}\n[… ${left} characters more]`;
  const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown.trimEnd()}\n${fence}`;
}
