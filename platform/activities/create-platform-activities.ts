import type { AgentDeps } from './agent/agent-deps.ts';
import { createAgentActivities } from './agent/create-agent-activities.ts';
import { createExportActivities, type ExportActivityDeps } from './export.ts';

export type PlatformActivityDeps = ExportActivityDeps & {
  /** What agent jobs need; without it they fail with a clear error. */
  agents?: AgentDeps;
};

/** The activities of the platform's workflows, over the given database and object store. */
export function createPlatformActivities(deps: PlatformActivityDeps) {
  return { ...createExportActivities(deps), ...createAgentActivities(deps) };
}

export type PlatformActivities = ReturnType<typeof createPlatformActivities>;
