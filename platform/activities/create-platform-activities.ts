import { type AgentActivityDeps, createAgentActivities } from './agent/create-agent-activities.ts';
import { createGarbageActivities, type GarbageActivityDeps } from './collect-garbage.ts';
import { createExportActivities, type ExportActivityDeps } from './export.ts';

export type PlatformActivityDeps = ExportActivityDeps & AgentActivityDeps & GarbageActivityDeps;

/** The activities of the platform's workflows, over the given database and object store. */
export function createPlatformActivities(deps: PlatformActivityDeps) {
  return { ...createExportActivities(deps), ...createAgentActivities(deps), ...createGarbageActivities(deps) };
}

export type PlatformActivities = ReturnType<typeof createPlatformActivities>;
