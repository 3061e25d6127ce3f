import type { PlatformApiDeps } from '../../../platform/api/platform-api-deps.ts';
import { createSetupUrl } from '../../../platform/dashboard/first-administrator.ts';
import type { Role } from '../../../platform/store/members.ts';
import { startTestPlatform, type TestPlatform } from '../../helpers/platform-api.ts';
import { createDatabase, type TestDatabase } from '../../helpers/test-database.ts';
import { type Browser, openBrowser } from './browser.ts';

export const PASSWORD = 'correct horse battery';

export type DashboardFixture = {
  database: TestDatabase;
  platform: TestPlatform;
  /** A browser of nobody. */
  browser(): Browser;
  /** A browser in which this person is signed in as the owner of a new organization. */
  setUp(email: string, organization: string): Promise<Browser>;
  /** A browser in which this person accepted an invitation of the owner. */
  invite(owner: Browser, email: string, role: Role): Promise<Browser>;
  stop(): Promise<void>;
};

export async function startDashboard(deps: Partial<PlatformApiDeps> = {}): Promise<DashboardFixture> {
  const database = await createDatabase();
  const platform = await startTestPlatform(database, deps);
  const browser = () => openBrowser(platform.baseUrl);

  async function setUp(email: string, organization: string): Promise<Browser> {
    const url = await createSetupUrl(platform.db, platform.baseUrl);
    if (url === undefined) throw new Error('There are members already');
    const own = browser();
    const path = url.slice(platform.baseUrl.length);
    const done = await own.submit(path, '/ui/setup', { organization, email, name: 'Ada', password: PASSWORD });
    expect([done.status, done.location]).toEqual([303, '/?done=welcome']);
    return own;
  }

  async function invite(owner: Browser, email: string, role: Role): Promise<Browser> {
    const invited = await owner.submit('/ui/settings/members', '/ui/settings/members', { email, role });
    expect(invited.location).toBe('/ui/settings/members?done=invited');
    const { text } = await owner.get('/ui/settings/members');
    const id = /\/ui\/invitations\/([\w-]+)/.exec(text)?.[1] ?? '';
    const own = browser();
    const path = `/ui/invitations/${id}`;
    const joined = await own.submit(path, path, { name: email.split('@')[0] ?? email, password: PASSWORD });
    expect([joined.status, joined.location]).toEqual([303, '/?done=welcome']);
    return own;
  }

  return {
    ...{ database, platform, browser, setUp, invite },
    async stop() {
      await platform.stop();
      await database.stop();
    },
  };
}
