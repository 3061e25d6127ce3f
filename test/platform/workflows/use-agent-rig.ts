import type { AgentDeps } from '../../../platform/activities/agent/agent-deps.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import { type AgentRig, startAgentRig } from '../../helpers/agent-rig.ts';
import { createDatabase } from '../../helpers/test-database.ts';

/**
 * Gives the tests of the calling file one rig with a worker, and each of them a repository of its own. None may leave
 * anything in the work folder.
 */
export function useAgentRig(
  take: (given: { rig: AgentRig; repository: AgentRepository }) => void,
  change: Partial<AgentDeps> = {},
): void {
  let rig: AgentRig;
  let repository: AgentRepository;

  beforeAll(async () => {
    rig = await startAgentRig(await createDatabase());
    await rig.startWorker(change);
  });
  beforeEach(async () => {
    repository = await createAgentRepository();
    take({ rig, repository });
  });
  afterEach(async () => {
    expect(await rig.leftovers()).toEqual([]);
    await repository.remove();
  });
  afterAll(async () => {
    await rig?.stop();
  });
}
