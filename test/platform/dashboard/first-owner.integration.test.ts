import { listProjects } from '../../../platform/admin/projects.ts';
import { listOrganizations } from '../../../platform/store/organizations.ts';
import { type DashboardFixture, startDashboard } from './dashboard-fixture.ts';

describe('the first owner', () => {
  let fixture: DashboardFixture;

  beforeEach(async () => {
    fixture = await startDashboard();
  });
  afterEach(() => fixture.stop());

  it('gets the organization that there is, which the name on the form renames', async () => {
    const { db } = fixture.platform;
    const { organization, project, domain } = await fixture.platform.addCustomer();
    const owner = await fixture.setUp('ada@example.com', 'Acme Docs');
    expect((await listOrganizations(db)).map(({ name }) => name)).toEqual(['Acme Docs']);
    expect((await listProjects(db, {})).map((each) => [each.project, each.organization])).toEqual([
      [project, 'Acme Docs'],
    ]);
    expect((await owner.get('/ui/projects')).text).toContain(domain);
    expect(organization).not.toBe('Acme Docs');
  });

  it('may choose one of several by its name', async () => {
    const { db } = fixture.platform;
    const [first, second] = [await fixture.platform.addCustomer(), await fixture.platform.addCustomer()];
    const owner = await fixture.setUp('ada@example.com', second.organization);
    expect((await listOrganizations(db)).map(({ name }) => name)).toEqual([first.organization, second.organization]);
    const { text } = await owner.get('/ui/projects');
    expect([text.includes(first.domain), text.includes(second.domain)]).toEqual([false, true]);
  });
});
