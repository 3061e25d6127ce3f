import type { SiteState } from '../../contract/site-state.ts';
import { useSites } from './use-sites.ts';

const { startSite } = useSites('dev-server');

const summary = ({ exports, actions }: SiteState): unknown => ({
  exports: exports.map(({ number, trigger, author, outcome }) => [number, trigger, author, outcome]),
  actions: actions.map(({ actor, action, detail }) => [actor, action, detail]),
});

describe('a site', () => {
  it('lists its exports and the actions of operators, with their authors', async () => {
    const site = await startSite();
    await site.publish({ id: 'first' });
    const first = await site.until('live', ({ phase }) => phase === 'live');
    expect(first.deliveries).toMatchObject([{ id: 'first', title: 'A page', exportNumber: 1 }]);
    expect(first.exports).toMatchObject([
      { number: 1, jobId: first.jobId, version: first.version, publishCount: 1, writtenAt: expect.any(String) },
    ]);

    const { handle } = site;
    await handle.executeUpdate('exportNow', { args: [{ actor: 'ada' }] });
    const second = await site.until('live again', ({ phase, exports }) => phase === 'live' && exports.length === 2);
    await handle.executeUpdate('refreshNow', { args: [{ actor: 'ada' }] });
    const brief = await handle.executeUpdate('pause', { args: [{ actor: 'ada' }] });
    expect(brief).toMatchObject({ phase: 'paused', exports: [], refreshes: [], actions: [] });
    await handle.executeUpdate('resume');
    // As Temporal's own tools send it.
    await handle.executeUpdate('rollback', { args: [first.version] });
    await handle.executeUpdate('rollback', { args: [second.jobId, { actor: 'grace' }] });
    await expect(handle.executeUpdate('rollback', { args: ['v99', { actor: 'grace' }] })).rejects.toThrow();
    for (const options of [{ actor: '' }, { actor: 'x'.repeat(201) }, { actor: 1 }, 'ada']) {
      await expect(handle.executeUpdate('pause', { args: [options] })).rejects.toThrow();
    }
    const before = await site.state();
    expect(summary(before)).toEqual({
      exports: [
        [2, 'request', 'ada', 'written'],
        [1, 'publish', null, 'written'],
      ],
      actions: [
        ['grace', 'rollback', 'v99'],
        ['grace', 'rollback', second.jobId],
        ['unknown', 'rollback', first.version],
        ['unknown', 'resume', null],
        ['ada', 'pause', null],
        ['ada', 'refresh', null],
        ['ada', 'export', null],
      ],
    });
    expect(before.actions[0]?.error).toContain('no version or job v99');
    expect(before.refreshes).toMatchObject([{ version: second.version, error: null, expiresAt: expect.any(String) }]);

    expect(await handle.query('state', { brief: true })).toMatchObject({
      exports: [],
      actions: [],
      version: second.version,
    });
  });
});
