import { join } from 'node:path';
import { createBrokenLinks } from '../../../exporter/assemble/broken-links.ts';
import { createReport } from '../../../exporter/assemble/report.ts';
import { createMemoryCrawlStore } from '../../../exporter/store/memory-crawl-store.ts';
import { createSpill } from '../../../exporter/store/spill.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { exportSettings } from './export-settings.ts';

const folder = temporaryFolder();

describe('the report of an export', () => {
  it.each([
    [10_000, false],
    [10_001, true],
  ])('with %d documents that the bundle leaves unread is truncated: %s', async (count, truncated) => {
    const spill = createSpill(join(folder, `spill-${count}`));
    const store = createMemoryCrawlStore({ spill });
    const { jobId } = exportSettings;
    await store.openCrawl({
      ...{ jobId, projectId: 'prj_0000000000000000', settingsJson: '{}', reuseKey: '' },
      ...{ takes: false, keep: false },
    });
    const unread = Array.from({ length: count }, (_, index) => ({
      url: `https://docs.example.com/${index}`,
      reason: 'it nests too deep',
    }));
    const { report } = await createReport(store, exportSettings, {
      ...{
        skippedCount: 0,
        broken: createBrokenLinks(),
        brokenAnchors: { count: 0, listed: [] },
        unread,
        originUrls: [],
      },
    });
    expect(report.unread).toHaveLength(10_000);
    expect(report.truncated).toBe(truncated);
    await spill.close();
  });
});
