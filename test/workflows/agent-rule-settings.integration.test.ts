import { ApplicationFailure } from '@temporalio/common';
import type { RuleSettings } from '../../contract/settings.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { HOUR_MS, useAgents } from './use-agents.ts';

// Uses the dev server, because a run that ends during a call stops the time-skipping server from skipping.
const { startAgents } = useAgents('dev-server');

const why = expect.stringContaining('not configured on the worker that was asked');

describe('a rule that the worker no longer knows', () => {
  it('keeps its last settings and reports that, and ends only when it is removed', async () => {
    const agents = await startAgents({ remindAfterMs: [1_000] });
    await agents.publish({ id: 'first' });
    await agents.change('first').until('in review', ({ phase }) => phase === 'in-review');
    agents.outside.settings = null;
    await agents.publish({ id: 'second' });
    await waitFor(() => agents.jobs.length === 2, { describe: 'prompted with the last settings' });
    expect(await agents.ruleState()).toMatchObject({ phase: 'unconfigured', error: why });
    expect(await agents.rule.executeUpdate('remove')).toMatchObject({ phase: 'unconfigured' });
    await expect(agents.rule.result()).resolves.toBeUndefined();
    await waitFor(() => agents.mails.includes('reminder-1 ada@example.com'), { describe: 'reminded' });
    expect(await agents.change('first').state()).toMatchObject({ phase: 'in-review' });
  });
});

describe('a rule that no worker knows', () => {
  it('keeps what it collects until a worker knows it', async () => {
    const agents = await startAgents();
    const { settings } = agents.outside;
    agents.outside.settings = null;
    await agents.publish({ id: 'early' });
    const waiting = await agents.untilRule('unknown', ({ phase }) => phase === 'unconfigured');
    expect(waiting).toMatchObject({ pendingCount: 1, error: why });
    agents.outside.settings = settings;
    await waitFor(() => agents.jobs.length === 1, { describe: 'prompted' });
    expect(await agents.untilRule('known', ({ phase }) => phase === 'idle')).toMatchObject({ error: null });
  });

  it('sends the operators an email if it persists, and another when it is resolved', async () => {
    const agents = await startAgents({ quietPeriodMs: HOUR_MS, tellAfterMs: 1_000 });
    await agents.publish();
    await agents.untilRule('read its settings', ({ dueAt }) => dueAt !== null);
    const { settings } = agents.outside;
    agents.outside.settings = null;
    await agents.rule.signal('configChanged');
    await waitFor(() => agents.mails.length === 1, { describe: 'mailed the problem' });
    agents.outside.settings = settings;
    await waitFor(() => agents.mails.length === 2, { describe: 'mailed its end' });
    expect(agents.mails).toEqual(['rule-trouble ops@example.com', 'rule-recovered ops@example.com']);
  });

  it('reports each problem to every operator whose mail server takes mail, also across runs', async () => {
    const operators = ['full@example.com', 'ada@example.com', 'grace@example.com'];
    const agents = await startAgents({ quietPeriodMs: HOUR_MS, tellAfterMs: 1_000, operators });
    const { settings, onMail } = agents.outside;
    const defers = (deferred: string) => {
      agents.outside.onMail = (mail) => {
        if (!mail.to.startsWith(deferred)) return { outcome: 'sent', detail: null };
        throw ApplicationFailure.create({ type: 'MailDeferred', message: '452 full', nextRetryDelay: '1h' });
      };
    };
    const mailsTo = (name: string) => agents.mails.filter((mail) => mail.endsWith(` ${name}@example.com`));
    const until = async (...counts: Record<string, number>[]) => {
      for (const [name, count] of counts.flatMap(Object.entries)) {
        await waitFor(() => mailsTo(name).length === count, { describe: `mailed ${name} ${count} time(s)` });
      }
    };
    const read = async (known: RuleSettings | null): Promise<void> => {
      agents.outside.settings = known;
      await agents.rule.signal('configChanged');
    };
    await agents.publish();
    await agents.untilRule('read its settings', ({ dueAt }) => dueAt !== null);

    defers('full');
    await read(null);
    await until({ ada: 1, grace: 1 });
    defers('ada');
    await read(settings);
    await until({ grace: 2 });
    await read(null);
    await until({ grace: 3, full: 1 });
    defers('nobody');
    await agents.newBuild('two');
    await read(settings);
    await until({ grace: 4, full: 2, ada: 2 });
    agents.outside.onMail = onMail;
    const [trouble, recovered] = ['rule-trouble', 'rule-recovered'];
    const named = (events: string[], name: string) => events.map((event) => `${event} ${name}@example.com`);
    expect(mailsTo('grace')).toEqual(named([trouble, recovered, trouble, recovered], 'grace'));
    expect(mailsTo('full')).toEqual(named([trouble, recovered], 'full'));
    // That the first problem was over was not true any more, and the second one was over too before a mail got through.
    expect(mailsTo('ada')).toEqual(named([trouble, recovered], 'ada'));
  });
});

describe('a rule that was removed', () => {
  it('keeps its unsubscribed addresses, and drops its collected events', async () => {
    const agents = await startAgents({ quietPeriodMs: HOUR_MS });
    await agents.publish({ id: 'before' });
    await agents.rule.signal('unsubscribed', { address: 'Ada@example.com' });
    await agents.rule.signal('unsubscribed', 'malformed');
    await agents.untilRule(
      'collecting',
      ({ phase, unsubscribed }) => phase === 'collecting' && unsubscribed.length > 0,
    );
    expect(await agents.rule.executeUpdate('remove')).toMatchObject({ phase: 'collecting', pendingCount: 1 });
    await agents.untilRule('dropped its events', ({ pendingCount }) => pendingCount === 0);
    agents.configure({ quietPeriodMs: 200 });
    await agents.publish({ id: 'after' });
    await waitFor(() => agents.jobs.length === 1, { describe: 'prompted' });
    expect(agents.jobs.map(({ eventCount }) => eventCount)).toEqual([1]);
    expect((await agents.ruleState()).unsubscribed).toEqual(['ada@example.com']);
  });
});
