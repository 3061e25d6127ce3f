import { defaultPayloadConverter } from '@temporalio/common';
import { renderPrompt } from '../../../activities/agents/render-prompt.ts';
import { createPayloadEncryption } from '../../../programs/temporal/payload-encryption.ts';
import { newState, restoreState } from '../../../workflows/agent-change/state.ts';
import { addNote } from '../../../workflows/agent-change/transitions.ts';
import { MAX_EVENTS } from '../../../workflows/agent-rule/transitions.ts';
import { MAX_INPUT_BYTES } from '../../../workflows/entity/continue-as-new.ts';
import { RULE_SETTINGS } from '../../helpers/rule-settings.ts';

const at = '2026-11-21T08:00:00.000Z';
const event = { source: 's', topic: 't', action: 'publish', id: '1', title: 'A', url: '', author: '', at } as const;

describe('the continue-as-new input of a change', () => {
  it('is restored unchanged', () => {
    const state = newState({ events: [event], eventCount: 7, settings: RULE_SETTINGS }, 1_000);
    state.phase = 'in-review';
    state.earlyNews = [{ deliveryId: 'd', url: 'u', state: 'open', mergeCommitSha: null, at }];
    expect(restoreState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  });

  it('is small with fifty reviewers and the maximum number of reminders', () => {
    const state = newState({ events: [event], eventCount: 1, settings: RULE_SETTINGS }, 1_000);
    const address = (index: number): string => `${index}${'a'.repeat(60)}@${'b'.repeat(30)}.example.com`;
    for (let reminder = 0; reminder <= 20; reminder++) {
      for (let index = 0; index < 50; index++) {
        const detail = 'd'.repeat(120);
        state.mails.push({ event: `reminder-${reminder}`, to: address(index), outcome: 'refused', detail, at });
      }
    }
    const people = Array.from({ length: 100 }, (_, index) => address(index));
    state.plan = { title: 'T'.repeat(500), mails: people, logins: people, teams: people, unknownLogins: false };
    const refused = people.map((name) => ({ name, reason: 'r'.repeat(200) }));
    state.reviewRequests = { requested: people, refused };
    for (let index = 0; index < 100; index++) addNote(state, `${index} ${'n'.repeat(1_000)}`);
    expect(state.notes).toHaveLength(20);
    expect(Buffer.byteLength(JSON.stringify(restoreState(state)))).toBeLessThan(MAX_INPUT_BYTES);
  });

  it("stays below half of Temporal's limit with the longest prompt, also encrypted", async () => {
    const state = newState({ events: [event], eventCount: MAX_EVENTS, settings: RULE_SETTINGS }, 1_000);
    state.prompt = { projectId: 'prj_docs', prompt: renderPrompt('\x01'.repeat(200_000), [event], 1) };
    const { encode } = createPayloadEncryption(Buffer.alloc(32, 7));
    const [payload] = await encode([defaultPayloadConverter.toPayload(restoreState(state))]);
    expect(payload?.data?.byteLength).toBeGreaterThan(500_000);
    expect(payload?.data?.byteLength).toBeLessThan(1_000_000);
  });

  it('is rejected if it is invalid, so that no change starts over by mistake', () => {
    const state = newState({ events: [event], eventCount: MAX_EVENTS, settings: RULE_SETTINGS }, 1_000);
    expect(() => restoreState({ ...state, format: 2 })).toThrow();
    expect(() => restoreState({ ...state, phase: 'sleeping' })).toThrow();
    expect(() => restoreState('hello')).toThrow();
  });
});
