import { GARBAGE_SCHEDULE } from '../../../contract/names.ts';
import { ensureSchedule, GARBAGE_COLLECTION } from '../../../programs/temporal/schedules.ts';
import { type ExportRig, startExportRig } from '../../helpers/export-rig.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { createDatabase } from '../../helpers/test-database.ts';

describe('the schedule galley-gc', () => {
  let rig: ExportRig;
  beforeAll(async () => {
    rig = await startExportRig(await createDatabase());
    await rig.startWorker();
  });
  afterAll(() => rig.stop());

  it('deletes what is no longer kept as soon as it is made, and reports how much', async () => {
    const { client } = rig.temporal;
    await rig.db.execute(`insert into setup_links values ('old', now() - interval '1 hour')`);
    await ensureSchedule(client, GARBAGE_COLLECTION);
    const { recentActions } = await waitFor(
      async () => {
        const { info } = await client.schedule.getHandle(GARBAGE_SCHEDULE).describe();
        return info.recentActions.length > 0 && info;
      },
      { describe: 'started a run' },
    );
    const workflowId = recentActions[0]?.action.workflow.workflowId ?? '';
    expect(await client.workflow.getHandle(workflowId).result()).toMatchObject({ sessions: 1, exports: 0 });
    expect((await rig.db.execute('select 1 from setup_links')).rows).toEqual([]);
  });
});
