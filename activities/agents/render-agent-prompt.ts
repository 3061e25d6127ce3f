import type { SiteConfig } from '../../contract/galley-config.ts';
import { checkPromptTemplate } from '../../contract/prompt-template.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import { notConfigured } from '../not-configured.ts';
import { renderPrompt } from './render-prompt.ts';

export type RenderAgentPromptInput = {
  site: string;
  rule: string;
  /** Oldest first. */
  events: PublishEvent[];
  /** How many events there were, those included that are not in `events`. */
  eventCount: number;
};

/**
 * What is sent to the Admin API: which project, and the text to the character. A prompt has at most 100,000 characters,
 * so its JSON is at most 600 kB.
 */
export type AgentPrompt = { projectId: string; prompt: string };

export type ReadSite = (site: string) => SiteConfig | undefined | Promise<SiteConfig | undefined>;

/**
 * Renders a rule's prompt. Throws `Rejected` if its site has no project or the prompt is empty, and `NotConfigured`
 * (not-configured.ts).
 */
export function createRenderAgentPrompt(readSite: ReadSite) {
  return async function renderAgentPrompt(input: RenderAgentPromptInput): Promise<AgentPrompt> {
    const where = `the rule ${input.rule} of the site ${input.site}`;
    const { site, rule } = await readRule(readSite, input);
    const { projectId } = site;
    if (projectId === undefined) throw finalFailure('Rejected', `${where} needs the site's projectId`, null);
    const problem = checkPromptTemplate(rule.prompt);
    if (problem !== null) throw finalFailure('Rejected', `the prompt of ${where}: ${problem}`, null);
    const prompt = renderPrompt(rule.prompt, input.events, input.eventCount);
    if (prompt.trim() === '') throw finalFailure('Rejected', `the prompt of ${where} is empty for this event`, null);
    return { projectId, prompt };
  };
}

async function readRule(
  readSite: ReadSite,
  names: { site: string; rule: string },
): Promise<{ site: SiteConfig; rule: SiteConfig['agent'][number] }> {
  const site = await readSite(names.site);
  const rule = site?.agent.find(({ name }) => name === names.rule);
  if (site !== undefined && rule !== undefined) return { site, rule };
  throw notConfigured(`the rule ${names.rule} of the site ${names.site}`);
}
