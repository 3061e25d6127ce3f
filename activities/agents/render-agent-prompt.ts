import { checkPromptTemplate } from '../../contract/prompt-template.ts';
import type { PublishEvent } from '../../contract/publish-event.ts';
import { finalFailure } from '../admin-api/outcomes.ts';
import { findRule, type ReadSite } from '../sites/read-site.ts';
import { renderPrompt } from './render-prompt.ts';

export type RenderAgentPromptInput = {
  site: string;
  rule: string;
  /** Oldest first. */
  events: PublishEvent[];
  /** How many events there were, including those missing from `events`. */
  eventCount: number;
};

/** What is sent to the Admin API. A prompt has at most 100,000 characters, so its JSON is at most 600 kB. */
export type AgentPrompt = { projectId: string; prompt: string };

/**
 * Renders a rule's prompt. Throws `Rejected` if its site has no project or the prompt is empty, and `NotConfigured`
 * (not-configured.ts).
 */
export function createRenderAgentPrompt(readSite: ReadSite) {
  return async function renderAgentPrompt(input: RenderAgentPromptInput): Promise<AgentPrompt> {
    const where = `the rule ${input.rule} of the site ${input.site}`;
    const { site, rule } = await findRule(readSite, input);
    const { projectId } = site;
    if (projectId === undefined) throw finalFailure('Rejected', `${where} needs the site's projectId`, null);
    const problem = checkPromptTemplate(rule.prompt);
    if (problem !== null) throw finalFailure('Rejected', `the prompt of ${where}: ${problem}`, null);
    const prompt = renderPrompt(rule.prompt, input.events, input.eventCount);
    if (prompt.trim() === '') throw finalFailure('Rejected', `the prompt of ${where} is empty for this event`, null);
    return { projectId, prompt };
  };
}
