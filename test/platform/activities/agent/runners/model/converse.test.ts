import type { AskModel } from '../../../../../../platform/activities/agent/runners/model/ask-model.ts';
import { converse } from '../../../../../../platform/activities/agent/runners/model/converse.ts';

const { signal } = new AbortController();

/** A model that calls a tool `count` times in its first response, and then is done. */
function modelCalling(count: number) {
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
  it('returns a result for each of the parallel tool calls, but runs at most 64 of them', async () => {
    let runs = 0;
    const call = async () => {
      runs += 1;
      return 'text';
    };
    const { ask, results } = modelCalling(100);
    const limits = { maxSteps: 5, maxTokens: 1_000 };
    await converse({ prompt: 'Read', ask, tools: { definitions: [], call }, limits, signal, say: () => undefined });
    expect([runs, results.length]).toEqual([64, 100]);
    expect(results.slice(62, 65)).toEqual(['text', 'text', expect.stringContaining('at most 64')]);
  });

  it.each([
    ['has no arguments', { name: 'read_file' }, ['read_file', '']],
    [
      'has arguments that are an object',
      { name: 'read_file', arguments: { file: 'a' } },
      ['read_file', '{"file":"a"}'],
    ],
    ['has no name', { arguments: '{}' }, ['(without a name)', '{}']],
    ['names no function at all', undefined, ['(without a name)', '']],
  ])('continues if a call %s', async (_what, called, expected) => {
    // Parsed from JSON, since an endpoint may not follow the types.
    const toolCall = JSON.stringify({ id: 'call-0', type: 'function', function: called });
    const ask: AskModel = async (messages) => {
      const calls = messages.length === 2 ? { tool_calls: [JSON.parse(toolCall)] } : {};
      return { message: { role: 'assistant', content: null, refusal: null, ...calls }, tokens: 1 };
    };
    const toolRuns: string[][] = [];
    const call = async (name: string, written: string) => {
      toolRuns.push([name, written]);
      return 'text';
    };
    const limits = { maxSteps: 5, maxTokens: 1_000 };
    await converse({ prompt: 'Read', ask, tools: { definitions: [], call }, limits, signal, say: () => undefined });
    expect(toolRuns).toEqual([expected]);
  });
});
