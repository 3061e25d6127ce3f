import type { AskModel } from '../../../../../../platform/activities/agent/runners/model/ask-model.ts';
import { converse } from '../../../../../../platform/activities/agent/runners/model/converse.ts';

const { signal } = new AbortController();

/** An endpoint whose model first calls a tool so many times at once, and then is done. */
function calling(count: number) {
  const results: string[] = [];
  const ask: AskModel = async (messages) => {
    for (const message of messages) if (message.role === 'tool') results.push(String(message.content));
    const calls = Array.from({ length: count }, (_, index) => ({
      id: `call-${index}`,
      type: 'function' as const,
      function: { name: 'read_file', arguments: '{}' },
    }));
    const isFirst = messages.length === 2;
    const content = isFirst ? null : 'Done.';
    const message = { role: 'assistant' as const, content, refusal: null, ...(isFirst && { tool_calls: calls }) };
    return { message, tokens: 1 };
  };
  return { ask, results };
}

describe('a conversation with a model', () => {
  it('answers every tool that is called at once, and runs no more than 64 of them', async () => {
    let runs = 0;
    const call = async () => {
      runs += 1;
      return 'text';
    };
    const { ask, results } = calling(100);
    const limits = { maxSteps: 5, maxTokens: 1_000 };
    await converse({ prompt: 'Read', ask, tools: { definitions: [], call }, limits, signal, say: () => undefined });
    expect([runs, results.length]).toEqual([64, 100]);
    expect(results.slice(62, 65)).toEqual(['text', 'text', expect.stringContaining('at most 64')]);
  });
});
