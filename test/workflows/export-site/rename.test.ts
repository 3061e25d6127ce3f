import { movedDeployments, nextFence } from '../../../workflows/export-site/deployments.ts';
import { deploymentOf, has, linkOf, siteOf } from './build-state.ts';

const fence = { epoch: 5, sequence: 3, takeover: null };

/** A deployment of the site `handbook` after a rename. */
function movedOf(changes: Parameters<typeof has>[1]) {
  const state = siteOf(1, { docs: has(1, changes) });
  const before = structuredClone(state);
  const deployments = movedDeployments(state, 'handbook');
  // If the new name is taken, the old one goes on with its own.
  expect(state).toEqual(before);
  return { state, moved: deploymentOf({ ...state, deployments }) };
}

describe('a deployment of a renamed site', () => {
  it('keeps what is known of it, and its next write replaces the last one of the old name', () => {
    const { state, moved } = movedOf({ fence, pin: 'v1' });
    expect({ ...moved, fence }).toEqual(deploymentOf(state));
    expect(nextFence(moved)).toEqual({ epoch: 5, sequence: 4, takeover: { site: 'handbook', epoch: 5, sequence: 3 } });
  });

  it('goes on with a takeover that has not happened yet', () => {
    const takeover = { site: 'manual', epoch: 2, sequence: 9 };
    expect(nextFence(movedOf({ fence: { ...fence, takeover } }).moved)).toMatchObject({ takeover });
  });

  it('forgets the open pull request, whose branch has the old name', () => {
    const job = { jobId: 'j1', version: 'v1', url: 'https://git.example.com/1', link: linkOf() };
    expect(movedOf({ fence, proposed: { ...job, epoch: 5, sequence: 3 } }).moved.proposed).toBeNull();
  });
});
