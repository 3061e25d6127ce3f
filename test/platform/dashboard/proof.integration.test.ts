import { exportReport } from '../../../contract/admin-api.ts';
import { createKey } from '../../../platform/admin/api-keys.ts';
import { addProject } from '../../../platform/admin/projects.ts';
import { insertExportJob } from '../../../platform/store/export-jobs.ts';
import { getProject } from '../../../platform/store/projects.ts';
import type { Browser } from './browser.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

describe('the proof of an export', () => {
  let fixture: DashboardFixture;
  let ada: Browser;
  let jobId: string;

  beforeAll(async () => {
    fixture = await startDashboard();
    ada = await fixture.setUp('ada@example.com', 'Handbook');
    const { db, complete } = fixture.platform;
    await addProject(db, { organization: 'Handbook', project: 'prj_proved', domain: 'docs.example.com' });
    const { organizationId = '' } = (await getProject(db, 'prj_proved')) ?? {};
    const row = { organizationId, projectId: 'prj_proved', domain: 'docs.example.com', version: null, paths: null };
    jobId = (await db.transaction((tx) => insertExportJob(tx, { ...row, at: new Date() }))).id;
    await complete(jobId);
    // Its changes need a real bundle.
    const { objects } = fixture.platform;
    for await (const key of objects.list('bundles/')) await objects.delete([key]);
  });
  afterAll(() => fixture?.stop());

  const pathOf = (form: string) => `/ui/exports/${jobId}/proof.${form}`;

  it('is 404 if there is none', async () => {
    for (const form of ['html', 'json']) expect((await ada.get(pathOf(form))).status).toBe(404);
    const page = await ada.get(`/ui/exports/${jobId}`);
    expect([page.status, page.text]).toEqual([200, expect.not.stringContaining(pathOf('html'))]);
  });

  it('is linked by the report and on its page, and opens without scripts', async () => {
    const { db, objects, baseUrl } = fixture.platform;
    const put = (key: string, value: object) =>
      objects.put(key, Buffer.from(JSON.stringify(value)), { contentType: 'application/json' });
    const html = '<!doctype html><title>Proof</title>';
    await put(`reports/${jobId}/proof.json`, { proof: { status: 'failed', pages: [] }, html });
    const report = JSON.parse(String(await objects.read(`reports/${jobId}.json`)));
    const counts = { pagesInBundle: 9, pages: 3, templates: 1, equal: 1, different: 2, unknown: 0 };
    const pages = [{ url: 'https://docs.example.com/a', status: 'different', text: 'text: cut' }];
    const proof = { status: 'failed', reason: null, counts, pages, html: null, json: null };
    await put(`reports/${jobId}.json`, { ...report, proof });

    const { key } = await createKey(db, { organization: 'Handbook', name: 'CI' });
    const answer = await fetch(`${baseUrl}/v1/static-export/jobs/${jobId}/report`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(exportReport.parse(await answer.json()).proof).toEqual({
      ...proof,
      html: baseUrl + pathOf('html'),
      json: baseUrl + pathOf('json'),
    });

    const page = await ada.get(`/ui/exports/${jobId}`);
    for (const text of ['1 equal, 2 different, 0 unknown', 'text: cut', `href="${pathOf('html')}"`, pathOf('json')])
      expect(page.text).toContain(text);
    const opened = await ada.get(pathOf('html'));
    expect([opened.status, opened.text]).toEqual([200, html]);
    expect(opened.headers.get('content-type')).toContain('text/html');
    expect(opened.headers.get('content-security-policy')).toMatch(/^default-src 'none'.*sandbox$/);
    const json = await ada.get(pathOf('json'));
    expect([json.status, JSON.parse(json.text)]).toEqual([200, { status: 'failed', pages: [] }]);
    expect(json.headers.get('content-type')).toContain('application/json');
    expect((await fixture.browser().get(pathOf('html'))).status).toBe(303);
  });

  it('is for as many pages as the form names', async () => {
    const page = '/ui/projects/prj_proved';
    const choices = { external: 'bundle', scripts: 'auto', render: 'http', discover: 'http', robots: 'respect' };
    const made = { sourceMaps: 'omit', search: 'off', markdown: 'keep', incremental: 'true' };
    const form = { domain: 'docs.example.com', ...choices, ...made };
    const proved = async () => (await getProject(fixture.platform.db, 'prj_proved'))?.settings.prove;
    expect((await ada.submit(page, page, { ...form, prove: '12' })).status).toBe(303);
    expect(await proved()).toBe(12);
    for (const prove of ['-1', '1.5', 'many']) {
      const refused = await ada.submit(page, page, { ...form, prove });
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining('id="field-prove-error">expected a number of pages'),
      ]);
    }
    expect((await ada.submit(page, page, form)).status).toBe(303);
    expect(await proved()).toBe(12);
  });
});
