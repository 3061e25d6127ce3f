import { describeForge } from './forge-suite.ts';
import { startGitHubRig } from './github-rig.ts';

describeForge('GitHub', startGitHubRig);
