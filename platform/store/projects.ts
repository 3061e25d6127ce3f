import { and, asc, eq, sql } from 'drizzle-orm';
import { type ProjectSettings, projectSettings } from '../project-settings.ts';
import type { Executor } from './database.ts';
import { organizations, projects } from './schema/organizations.ts';

export type Project = Omit<typeof projects.$inferSelect, 'settings'> & { settings: ProjectSettings };

/** Settings are parsed by their schema, so an older row gets the defaults of new settings. */
function toProject(row: typeof projects.$inferSelect): Project {
  return { ...row, settings: projectSettings.parse(row.settings) };
}

export async function getProject(db: Executor, projectId: string): Promise<Project | undefined> {
  const [row] = await db.select().from(projects).where(eq(projects.id, projectId));
  return row && toProject(row);
}

/** The organization's project of that domain. */
export async function findProjectByDomain(
  db: Executor,
  { organizationId, domain }: { organizationId: string; domain: string },
): Promise<Project | undefined> {
  const [row] = await db
    .select()
    .from(projects)
    .where(and(eq(projects.organizationId, organizationId), eq(projects.domain, domain)));
  return row && toProject(row);
}

type NewProject = Pick<Project, 'id' | 'organizationId' | 'domain' | 'origin' | 'repository' | 'ref' | 'settings'>;

/** Undefined if the id, or the domain within the organization, is taken. */
export async function insertProject(db: Executor, project: NewProject): Promise<Project | undefined> {
  const [row] = await db.insert(projects).values(project).onConflictDoNothing().returning();
  return row && toProject(row);
}

/** Omitted fields stay unchanged. */
type ProjectChange = {
  [Column in 'domain' | 'origin' | 'repository' | 'ref' | 'settings']?: Project[Column] | undefined;
};

/** Undefined if there is no such project. Throws if the domain is another project's. */
export async function updateProject(
  db: Executor,
  projectId: string,
  change: ProjectChange,
): Promise<Project | undefined> {
  const [row] = await db
    .update(projects)
    .set({ ...change, updatedAt: sql`now()` })
    .where(eq(projects.id, projectId))
    .returning();
  return row && toProject(row);
}

/** Projects with their organization's name, by organization and domain. */
export async function listProjectRows(
  db: Executor,
  { organization, projectId }: { organization?: string | undefined; projectId?: string } = {},
): Promise<{ project: Project; organization: string }[]> {
  const rows = await db
    .select({ project: projects, organization: organizations.name })
    .from(projects)
    .innerJoin(organizations, eq(organizations.id, projects.organizationId))
    .where(
      and(
        organization === undefined ? undefined : eq(organizations.name, organization),
        projectId === undefined ? undefined : eq(projects.id, projectId),
      ),
    )
    .orderBy(asc(organizations.name), asc(projects.domain));
  return rows.map((row) => ({ project: toProject(row.project), organization: row.organization }));
}

/** An organization's projects, by domain. */
export async function listOrganizationProjects(db: Executor, organizationId: string): Promise<Project[]> {
  const rows = await db
    .select()
    .from(projects)
    .where(eq(projects.organizationId, organizationId))
    .orderBy(asc(projects.domain));
  return rows.map(toProject);
}

/** Whether there was such a project. Throws if a job or a pull request refers to it. */
export async function deleteProject(db: Executor, projectId: string): Promise<boolean> {
  const rows = await db.delete(projects).where(eq(projects.id, projectId)).returning({ id: projects.id });
  return rows.length > 0;
}
